"""What a file is: the key that ends in ``_id`` says it."""

from __future__ import annotations

import re
from typing import Any, NamedTuple

from ctxc.model.finding import Severity
from ctxc.parse.problems import Problem, nearest, shown

KEYS = {
    "template_id": "template",
    "fragment_id": "fragment",
    "fragments": "fragment",
    "profile_id": "profile",
    "contract_id": "contract",
    "toolset_id": "toolset",
    "policy_id": "policy",
    "provider_id": "provider",
    "fixture_id": "fixture",
    "conversation_id": "conversation",
}
ID_KEYS = {kind: key for key, kind in KEYS.items() if key != "fragments"}

_WRITTEN = re.compile(
    r"""^[ \t{\[-]*["']?(?P<key>[a-z]+_id)["']?"""
    r"""[ \t]*:[ \t]*["']?(?P<id>[^\s"'#,}\]@]+)""",
    re.M,
)

_INSIDE = re.compile(r"""["']?(?P<key>[a-z]+_id)["']?[ \t]*:""")


class Verdict(NamedTuple):
    """The kind of a value (empty: none of ours), and why it cannot be told where it is one but which is unclear."""

    kind: str = ""
    problem: Problem | None = None


def kind_of(value: Any) -> Verdict:
    """The kind of a parsed file."""
    if isinstance(value, list):
        listed = [v for v in value if isinstance(v, dict)]
        return Verdict("fragment") if listed and any("fragment_id" in v for v in listed) else Verdict()
    if not isinstance(value, dict):
        return Verdict()
    present = [k for k in KEYS if k in value]
    if len(present) > 1:
        second = present[1]
        return Verdict(
            "",
            Problem(
                "ambiguous-file-kind",
                f"the file has the keys {' and '.join(present)}: it can be one thing only",
                "split it, or rename the key that is none (a fixture names its template with `template:`)",
                pointer=f"/{second}",
                on_key=True,
            ),
        )
    if present:
        return Verdict(KEYS[present[0]])
    return Verdict()


def unknown(value: Any, *, data: bool) -> Problem:
    """The problem of a file in a configured folder that is none of ours and that nothing names.

    ``data``: it may be data that lies there for later (JSON), so that this is a note, unless a key was misspelt.
    """
    key, near = _misspelt(value)
    if near:
        return Problem(
            "unknown-file-kind",
            f'no key says what this file is; {shown(key)} is none: did you mean "{near}"?',
            f"known: {', '.join(ID_KEYS.values())}, fragments",
            pointer="/" + key.replace("~", "~0").replace("/", "~1"),
            on_key=True,
            level=Severity.ERROR,
        )
    entry = _listed(value)
    if entry is not None:
        return Problem(
            "unknown-file-kind",
            f"a list with a {KEYS[entry[1]]} in it; expected one a file",
            "put each into a file of its own; only fragments may stand in a list",
            pointer=f"/{entry[0]}/{entry[1]}",
            on_key=True,
            level=Severity.ERROR,
        )
    return Problem(
        "unknown-file-kind",
        "nothing stands in this file" if value in (None, "") else "no key says what this file is, and nothing names it",
        f"add one of {', '.join(k for k in KEYS if k != 'fragments')}, or move the file out of this folder",
        level=Severity.INFO if data else None,
    )


def outline(value: Any) -> Any:
    """What ``unknown`` and ``meant`` need of a file's value, to say the same of it: no more is kept in a cache."""
    entry = _listed(value)
    if entry is not None:
        return [*[None] * entry[0], {entry[1]: None}]
    key, _ = _misspelt(value)
    return {key: None} if key else None if value in (None, "") else {}


def _listed(value: Any) -> tuple[int, str] | None:
    """Number and key of the first entry of a list that says what it is."""
    entries = enumerate(value) if isinstance(value, list) else ()
    return next(((n, k) for n, item in entries if isinstance(item, dict) for k in ID_KEYS.values() if k in item), None)


def _misspelt(value: Any) -> tuple[str, str]:
    """The first key that is nearly one of ours, and that one; both empty where there is none."""
    for key in value if isinstance(value, dict) else ():
        near = (
            nearest(key, ID_KEYS.values()) if key not in KEYS and key.endswith(("_id", "id")) and len(key) > 4 else ""
        )
        if near:
            return key, near
    return "", ""


def meant(value: Any) -> str:
    """The kind of what a list holds, or that a file with a misspelt key was meant to be; empty where it is neither."""
    entry = _listed(value)
    return KEYS[entry[1]] if entry is not None else KEYS.get(_misspelt(value)[1], "")


def mentions(text: str) -> bool:
    """Whether a text holds, as a key or not, one of the words that say what a file is; written with escapes or not."""
    return any(key in text for key in KEYS) or "\\" in text


def guess(text: str) -> tuple[str, str]:
    """Kind and id of a file that cannot be parsed, as far as a line of it says so."""
    match = next((m for m in _WRITTEN.finditer(text) if m["key"] in KEYS), None)
    if match is not None:
        return KEYS[match["key"]], match["id"]
    # On one line with others, where it is not sure whose id stands behind it.
    inside = next((m for m in _INSIDE.finditer(text) if m["key"] in ID_KEYS.values()), None)
    return (KEYS[inside["key"]], "") if inside else ("", "")


def not_in_markdown(kind: str) -> Problem:
    """The problem of front matter that defines something else than a fragment."""
    return Problem(
        "front-matter",
        f"front matter defines a {kind}; only a fragment is written in Markdown",
        "move it into a YAML or JSON file",
        pointer="/" + ID_KEYS[kind],
        on_key=True,
    )
