"""Bidirectional controls: rules U001 to U003, judged a paragraph at a time.

A paragraph ends at LF or U+2029. Controls have a use where text runs from right to left; elsewhere they reorder what a
reader sees against what a model reads (CVE-2021-42574).
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from ctxc.detect import chars
from ctxc.detect.match import Match
from ctxc.model.finding import Severity

_ANY = re.compile("[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]")
_MARKS = "\u061c\u200e\u200f"
_EMBEDDINGS = "\u202a\u202b"
_OVERRIDES = "\u202d\u202e"
_ISOLATES = "\u2066\u2067\u2068"
_POP_EMBEDDING, _POP_ISOLATE = "\u202c", "\u2069"


def find_bidi(text: str) -> Iterator[Match]:
    """The bidi controls of a text that have no business there."""
    position = 0
    while (control := _ANY.search(text, position)) is not None:
        start = max(text.rfind("\n", 0, control.start()), text.rfind("\u2029", 0, control.start())) + 1
        ends = [end for end in (text.find("\n", control.end()), text.find("\u2029", control.end())) if end >= 0]
        position = min(ends, default=len(text))
        yield from _in_paragraph(text[start:position], start)


def _in_paragraph(paragraph: str, offset: int) -> Iterator[Match]:
    """The matches of one paragraph that holds at least one control."""
    right_to_left = any(char in chars.RIGHT_TO_LEFT for char in paragraph)
    unbalanced = _unbalanced(paragraph)
    for control in _ANY.finditer(paragraph):
        char, at = control.group(), control.start()
        verdict = _verdict(char, at in unbalanced, right_to_left)
        if verdict is not None:
            rule, severity, message = verdict
            yield Match(
                detector=f"unicode.{rule}",
                severity=severity,
                start=offset + at,
                end=offset + at + 1,
                message=f"{message} U+{ord(char):04X}",
            )


def _verdict(char: str, unbalanced: bool, right_to_left: bool) -> tuple[str, Severity, str] | None:
    """Rule, severity and message for one control; None where it is at home."""
    if char in _MARKS:
        return None if right_to_left else ("U003", Severity.WARNING, "direction mark without right-to-left text:")
    if char in _OVERRIDES:
        return "U001", Severity.ERROR, "direction override, text is shown in another order than it is read:"
    if char in _EMBEDDINGS:
        if right_to_left and not unbalanced:
            return "U001", Severity.INFO, "direction embedding, an isolate is safer:"
        return "U001", Severity.ERROR, "direction embedding that is not closed or not needed:"
    if char == _POP_EMBEDDING:
        return ("U001", Severity.ERROR, "end of a direction embedding that was not opened:") if unbalanced else None
    if unbalanced:
        message = "end of an isolate that was not opened:" if char == _POP_ISOLATE else "isolate that is not closed:"
        return "U002", Severity.ERROR, message
    if char == _POP_ISOLATE or right_to_left:
        return None
    return "U002", Severity.WARNING, "isolate without right-to-left text:"


def _unbalanced(paragraph: str) -> frozenset[int]:
    """Places of controls that open without an end or end without an opening (UAX #9, BD8 to BD13)."""
    open_controls: list[int] = []
    wrong: set[int] = set()
    for control in _ANY.finditer(paragraph):
        char, at = control.group(), control.start()
        if char in _EMBEDDINGS or char in _OVERRIDES or char in _ISOLATES:
            open_controls.append(at)
        elif char == _POP_EMBEDDING:
            if open_controls and paragraph[open_controls[-1]] not in _ISOLATES:
                open_controls.pop()
            else:
                wrong.add(at)
        elif char == _POP_ISOLATE:
            depth = len(open_controls) - 1
            while depth >= 0 and paragraph[open_controls[depth]] not in _ISOLATES:
                depth -= 1
            if depth < 0:
                wrong.add(at)
            else:  # an isolate's end closes the embeddings that were opened inside it
                wrong.update(open_controls[depth + 1 :])
                del open_controls[depth:]
    return frozenset(wrong | set(open_controls))
