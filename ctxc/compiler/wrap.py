"""From a section to the text that a model reads: what its body is, and the block around it.

Application text (T0, T1 from the tree) stands as it is written. Everything else is carried as JSON: a text as a JSON
string, structured data as JSON, with everything escaped that could close a block, forge a role or hide. The
user's own turn and the recorded conversation are not wrapped: they are JSON string values of their own messages.
"""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache
from typing import Any

from ctxc.base.escaping import json_string_escape, json_with, unicode_escape
from ctxc.compiler.wrappers import Wrapper
from ctxc.model.fixture import Record
from ctxc.model.section import Authority, Kind, Section, Verification

_HEADER_FIELDS = ("locator", "artifact_ref")
_NATIVE = (Kind.USER, Kind.TOOLS)
_WITH_VERIFICATION = (Kind.EVIDENCE, Kind.HANDOFF)


def is_native(section: Section) -> bool:
    """Whether a section stands in a place of its own in the request, unwrapped."""
    return bool(section.messages) or section.kind in _NATIVE


def is_verbatim(section: Section) -> bool:
    """Whether a section's text is application text that is pasted as it stands in the tree."""
    return section.authority <= Authority.T1 and not section.has_value


def body(section: Section, *, text: str | None = None, value: Any = None, cut: bool = False) -> str:
    """The body of a block. ``text`` or ``value`` replace the section's own content after a cut."""
    record = section.attributes.get("record")
    if is_verbatim(section):
        return section.text if text is None else text
    content: Any
    if cut:
        content = text if text is not None else value
    else:
        content = section.value if section.has_value else section.text
    if isinstance(record, Record):
        content = _envelope(section, record, content, cut)
    if isinstance(content, str):
        return _quoted(content)
    return json_text(content)


def json_text(value: Any) -> str:
    """JSON in the value's own key order, with the escapes of ``json_string_escape`` inside its strings."""
    return json_with(value, _quoted)


# Beside what JSON escapes: brackets of block lines and of bracketed role tokens ([INST], [/TOOL_RESULTS]), MiniMax's
# brackets, the bars and triangles of special tokens, role words and headings that a raw prompt begins a line with, and
# what NFKC turns into one of them.
_ROLES = ("USER", "ASSISTANT", "SYSTEM", "User", "Assistant", "System", "Human")
_COLONS = ":\uff1a\ufe55\ufe13"
_LOOK_ALIKES = "\u25c1\u25b7\u2581\uff5c\uff3b\uff3d\ufe47\ufe48"
_TOKENS = re.compile(
    r"\[(?=/?[A-Za-z_]{1,24}(?:\]| \|))|\[(?=[eE]?~)|\](?=[~!<])"
    rf"|[{_LOOK_ALIKES}]|(?<=\\u003c)\||\|(?=\\u003e)|#(?=##\s[A-Z])|"
    + "|".join(f"(?<={role})[{_COLONS}]" for role in _ROLES)
)
# Begins with the colon, which is looked for several times as fast as any of several words.
_ROLE_COLON = re.compile(":(?:" + "|".join(f"(?<={role}:)" for role in _ROLES) + ")")
_RARE_MARKS = (*_LOOK_ALIKES, *_COLONS[1:])
# What NFKC turns into a letter of a role or into "#": rare enough to normalise a text that holds one, and look again.
_FOLDING = re.compile(
    "[\u00aa-\u00ba\u0132-\u0149\u017f\u01ca-\u01cc\u02b3-\u02b8\u02e2\u1d2c-\u1d64\u1d9c\u1e9a\u2071-\u20a8"
    "\u2100-\u217f\u249c-\u24e8\u3250\u32cc-\u32cf\u3371-\u33ff\ufb01-\ufb06\ufe5f\uff03\uff21-\uff3a\uff41-\uff5a"
    "\U0001d400-\U0001d6a2\U0001f110-\U0001f16c]"
)


_PLAIN = re.compile(r"[A-Za-z0-9_./:@ +=-]*")
"""Ids, paths and times: nothing to escape but a colon after a role, and by far the most common."""


def _quoted(text: str) -> str:
    """A JSON string in which no block line, and no role token of a known family, is written; it decodes to the text."""
    if _PLAIN.fullmatch(text) and not (":" in text and _ROLE_COLON.search(text)):
        return f'"{text}"'
    return _escaped(text)


@lru_cache(maxsize=8)  # one text often comes several times in a row: as id and as source, in every trial of a payload
def _escaped(text: str) -> str:
    quoted = json_string_escape(text)
    if _may_hold_token(quoted):
        quoted = _TOKENS.sub(_escape, quoted)
    if not quoted.isascii() and _FOLDING.search(quoted) and _TOKENS.search(unicodedata.normalize("NFKC", quoted)):
        quoted = _FOLDING.sub(_escape, quoted)
    return quoted


def _may_hold_token(quoted: str) -> bool:
    """False where ``_TOKENS`` finds nothing: what each of them begins with is found many times faster than they are."""
    if "[" in quoted or "]" in quoted or "|" in quoted or "###" in quoted:
        return True
    if ":" in quoted and _ROLE_COLON.search(quoted):
        return True
    return not quoted.isascii() and any(mark in quoted for mark in _RARE_MARKS)


def _escape(match: re.Match[str]) -> str:
    return unicode_escape(match.group())


def _envelope(section: Section, record: Record, content: Any, cut: bool) -> Any:
    """What a record says beside its content: status and call of a tool result, limits of evidence."""
    if section.kind is Kind.TOOL_RESULT:
        fields: dict[str, Any] = {}
        for name, value in (
            ("call_id", record.call_id),
            ("tool", record.tool_name),
            ("status", record.status),
            ("artifact_ref", record.artifact_ref),
        ):
            if value:
                fields[name] = value
        if record.truncated or cut:
            fields["truncated"] = True
        if "error" in record.attributes and record.attributes["error"] is not None:
            fields["error"] = record.attributes["error"]
        if content not in (None, ""):
            fields["data"] = content
        return fields
    if record.limitations:
        return {"content": content, "limitations": list(record.limitations)}
    return content


def header(section: Section) -> tuple[tuple[str, str], ...]:
    """Attributes of a block's first line: id, source, version, and what a reader needs to weigh the content."""
    fields = [("id", section.item_id or section.section_id)]
    if section.source_uri and not section.source_uri.startswith(("fixture:", "template:")):
        fields.append(("source", section.source_uri))
    if section.source_version:
        fields.append(("version", section.source_version))
    record = section.attributes.get("record")
    if isinstance(record, Record):
        fields += [(name, value) for name in _HEADER_FIELDS if (value := getattr(record, name))]
        if record.time:
            fields.append(("time", record.time))
        if section.kind in _WITH_VERIFICATION or section.verification is not Verification.UNVERIFIED:
            fields.append(("verification", str(section.verification)))
    return tuple([(k, _quoted(v)) for k, v in fields])


def block(wrapper: Wrapper, section: Section, content: str) -> str:
    """A whole block."""
    kind = "summary" if section.attributes.get("summary") else str(section.kind)
    return "\n".join((wrapper.open(kind, str(section.trust), header(section)), content, wrapper.close(kind)))


def reference(section: Section) -> dict[str, Any] | None:
    """What stands for a section that is only referred to; None where nothing could be fetched again by it."""
    record = section.attributes.get("record")
    if not isinstance(record, Record):
        return None
    ref = record.artifact_ref or (record.source if record.source and record.locator else "")
    if not ref:
        return None
    found: dict[str, Any] = {"ref": ref, "type": section.kind.value}
    for name, value in (("status", record.status), ("version", record.version), ("locator", record.locator)):
        if value:
            found[name] = value
    summary = record.attributes.get("summary") or record.attributes.get("title")
    if isinstance(summary, str) and summary:
        found["summary"] = summary
    return found
