"""Tool definitions: the checks T101 to T119 on one tool, on a set, and against what was approved.

Every match carries a JSON pointer into the definition (for a set, into the list). :func:`compare_tool` in
:mod:`ctxc.detect.tool_changes` adds T117 and T118.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace

from ctxc.base.escaping import visible, without_ignorables
from ctxc.detect.confusables import skeleton
from ctxc.detect.match import Match, in_order
from ctxc.detect.tool_definition import definition_digest, name_of, problem, texts, unwrap
from ctxc.detect.tool_schema import find_in_schemas
from ctxc.detect.tool_texts import find_in_texts
from ctxc.model.finding import Severity

LONG_DESCRIPTION = 1_024
HUGE_DESCRIPTION = 4_096
HUGE_STRING = 8_192
"""Code points. OpenAI refuses descriptions above 1,024; of 289 published tools 29 are above it and 4 above 4,096."""

_ERROR, _WARNING, _INFO = Severity.ERROR, Severity.WARNING, Severity.INFO
_NAME = re.compile(r"[A-Za-z0-9_.\-/]{1,128}")
DESTRUCTIVE = frozenset({
    "delete", "remove", "drop", "destroy", "purge", "wipe", "erase", "truncate", "revoke", "uninstall", "terminate",
    "kill",
})  # fmt: skip
WRITING = frozenset({
    "create", "update", "write", "insert", "send", "post", "put", "edit", "modify", "move", "rename", "push", "merge",
    "upload", "publish", "approve", "pay", "transfer", "execute", "deploy", "install", "append", "replace",
})  # fmt: skip
TRIFECTA = ("private_data", "untrusted_content", "external_communication")


def find_in_tool(
    tool: Mapping[str, object], *, key: bytes, own_names: Collection[str] = (), pointer: str = ""
) -> tuple[Match, ...]:
    """The matches of one definition, in MCP, OpenAI, Anthropic or our own form.

    ``own_names`` are the tools that its description may speak about (its own set's), ``key`` keys digests, ``pointer``
    is put before every pointer.
    """
    names = {name_of(tool), *own_names}
    found = [
        *_name(tool),
        *find_in_texts(tool, key=key, own_names=names),
        *find_in_schemas(tool),
        *_annotations(tool),
        *_sizes(tool),
        *_icons(tool),
    ]
    return in_order(replace(match, pointer=pointer + match.pointer) for match in found)


def find_in_toolset(tools: Sequence[object], *, key: bytes, pointer: str = "") -> tuple[Match, ...]:
    """The matches of a list of definitions: each by itself, and their names against each other (T106, T107)."""
    names = [name_of(tool) if isinstance(tool, Mapping) else "" for tool in tools]
    found: list[Match] = []
    for index, tool in enumerate(tools):
        place = f"{pointer}/{index}"
        if isinstance(tool, Mapping):
            found.extend(find_in_tool(tool, key=key, own_names=names, pointer=place))
        else:
            found.append(problem("T112", _ERROR, "a tool is an object", place))
    found.extend(_clashes(tools, names, pointer))
    return in_order(found)


def _name(tool: Mapping[str, object]) -> Iterator[Match]:
    """T106: the name's grammar."""
    inner, prefix = unwrap(tool)
    name = inner.get("name")
    if not isinstance(name, str) or not name:
        yield problem("T106", _ERROR, "the tool has no name", prefix)
    elif not _NAME.fullmatch(name):
        message = f"the name {visible(name, 60)!r} has other characters than letters, digits and _ . - /"
        yield problem("T106", _ERROR, message, f"{prefix}/name", 0, len(name))


def _clashes(tools: Sequence[object], names: Sequence[str], pointer: str) -> Iterator[Match]:
    """T107: the same name twice. T106: names that differ only in case, space, hidden or look-alike characters."""
    exact: dict[str, int] = {}
    alike: dict[str, int] = {}
    for index, name in enumerate(names):
        if not name:
            continue
        tool = tools[index]
        prefix = unwrap(tool)[1] if isinstance(tool, Mapping) else ""
        place = f"{pointer}/{index}{prefix}/name"
        if name in exact:
            yield problem(
                "T107", _ERROR, f"the name {visible(name, 60)!r} is tool {exact[name]}'s too", place, 0, len(name)
            )
            continue
        exact[name] = index
        folded = skeleton(unicodedata.normalize("NFKC", without_ignorables(name))).casefold()
        folded = re.sub(r"[\s_.\-/]+", "_", folded).strip("_")
        if folded in alike:
            message = f"the name {visible(name, 60)!r} is easily taken for that of tool {alike[folded]}"
            yield problem("T106", _ERROR, message, place, 0, len(name))
        else:
            alike[folded] = index


def words_of(name: str) -> tuple[str, ...]:
    """The words of a tool's name in lower case: ``deleteUser``, ``delete-user`` and ``delete_user`` alike."""
    return tuple(word.lower() for word in re.findall(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])|[0-9]+", name))


def _annotations(tool: Mapping[str, object]) -> Iterator[Match]:
    """T109: hints that contradict the name."""
    inner, prefix = unwrap(tool)
    hints = inner.get("annotations")
    if not isinstance(hints, Mapping):
        return
    words = words_of(name_of(tool))
    destructive = next((word for word in words if word in DESTRUCTIVE and not (word == "drop" and "drag" in words)), "")
    writing = words[0] if words and words[0] in WRITING else ""
    for hint, claimed, word in (
        ("destructiveHint", False, destructive),
        ("readOnlyHint", True, destructive or writing),
    ):
        if hints.get(hint) is claimed and word:
            message = f"{hint} is {str(claimed).lower()} on a tool whose name says {word!r}"
            yield problem("T109", _ERROR, message, f"{prefix}/annotations/{hint}")


def _sizes(tool: Mapping[str, object]) -> Iterator[Match]:
    """T114: long descriptions and strings."""
    for text in texts(tool):
        size = len(text.text)
        if text.role == "description" and size > HUGE_DESCRIPTION:
            message = f"the description has {size:,} characters, at most {HUGE_DESCRIPTION:,} are sensible"
            yield problem("T114", _ERROR, message, text.pointer, 0, size)
        elif size > HUGE_STRING:
            message = f"a string of {size:,} characters, over {HUGE_STRING:,}"
            yield problem("T114", _ERROR, message, text.pointer, 0, size)
        elif text.role == "description" and size > LONG_DESCRIPTION:
            message = f"the description has {size:,} characters, over {LONG_DESCRIPTION:,}"
            yield problem("T114", _INFO, message, text.pointer, 0, size)


def _icons(tool: Mapping[str, object]) -> Iterator[Match]:
    """T116: icons that are fetched from elsewhere, or that can hold a program."""
    inner, prefix = unwrap(tool)
    icons = inner.get("icons")
    for index, icon in enumerate(icons if isinstance(icons, list | tuple) else ()):
        source = icon.get("src") if isinstance(icon, Mapping) else None
        if not isinstance(source, str):
            continue
        place = f"{prefix}/icons/{index}/src"
        if re.match(r"(?i)data:image/(?:png|jpeg|webp|gif)[;,]", source):
            continue
        if re.match(r"(?i)https://", source):
            yield problem("T116", _WARNING, "icon that is fetched from another host", place, 0, len(source))
        else:
            yield problem("T116", _ERROR, f"icon from {visible(source, 60)}", place, 0, len(source))


def find_outside_policy(
    tools: Sequence[Mapping[str, object]],
    *,
    allowed: Mapping[str, str],
    capabilities: Mapping[str, Collection[str]] | None = None,
    pointer: str = "",
) -> tuple[Match, ...]:
    """T119: tools that are not on the allow-list (name to digest, empty: any definition), and a set that can do it all.

    ``capabilities`` says of each tool which of ``private_data``, ``untrusted_content``, ``external_communication`` it
    has; a set that has all three can be made to carry private data away by what it reads.
    """
    found: list[Match] = []
    held: dict[str, str] = {}
    for index, tool in enumerate(tools):
        name = name_of(tool)
        place = f"{pointer}/{index}"
        if name not in allowed:
            found.append(problem("T119", _ERROR, f"the tool {visible(name, 60)!r} is not on the allow-list", place))
        elif allowed[name] and allowed[name] != definition_digest(tool):
            message = f"the definition of {visible(name, 60)!r} is not the one that was allowed"
            found.append(problem("T119", _ERROR, message, place))
        for capability in (capabilities or {}).get(name, ()):
            held.setdefault(capability, name)
    if all(capability in held for capability in TRIFECTA):
        parts = ", ".join(f"{capability} ({visible(held[capability], 40)})" for capability in TRIFECTA)
        found.append(
            problem("T119", _WARNING, f"the set can read private data, be told what to do and send: {parts}", pointer)
        )
    return in_order(found)
