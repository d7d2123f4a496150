"""Lines and tags inside data that look like the end of a block: ``[/EVIDENCE]``, ``</untrusted>``, ``=== END ===``.

Containment is structural, so none of them closes anything in a request that ctxc renders; but a model may be misled,
and another renderer may be careless. They are looked for in the normalised reading, with entities resolved.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from functools import lru_cache

from ctxc.base.escaping import visible
from ctxc.detect.canonical import read_normalised
from ctxc.detect.confusables import ASCII_LOOK_ALIKE
from ctxc.detect.decoded import find_decoded
from ctxc.detect.match import Match
from ctxc.detect.patterns import Pattern, haystack
from ctxc.model.finding import Severity

WRAPPERS = (
    "untrusted", "trusted", "semi_trusted", "document", "documents", "context", "data", "user_input", "user_data",
    "tool_result", "tool_results", "search_results", "retrieved", "retrieval", "instructions", "system_prompt",
    "evidence", "memory", "history", "state", "task", "policy", "handoff", "section", "scratchpad", "input", "query",
    "source", "knowledge", "observation", "external_content", "untrusted_content",
)  # fmt: skip
"""Names of blocks that prompts wrap their material in; a caller adds its own."""

_LETTERS = {plain: re.escape(plain) for plain in "abcdefghijklmnopqrstuvwxyz"}
for _letter, _plain in ASCII_LOOK_ALIKE.items():
    if _plain.islower():
        _LETTERS[_plain] = _LETTERS[_plain] + _letter


@lru_cache(maxsize=16)
def _patterns(names: tuple[str, ...]) -> tuple[tuple[str, str, Pattern], ...]:
    """Detector, message and pattern of each form, for these names of blocks."""
    named = "|".join(_spelled(name) for name in names)
    sign = "[ _-]"
    end = rf"(?:end|eof|fin|stop|close)(?:{sign}of)?(?:{sign}the)?"
    rule = r"(?:={3,}|-{3,}|\*{3,}|#{3,}|_{3,}|~{3,}|<{2,}|>{2,}|—{2,}|═{2,}|─{3,})"
    close_tag = rf"(?i)<\s{{0,8}}/\s{{0,8}}(?:{named})\b[^<>]{{0,64}}>?"
    bracket = rf"(?i)\[\s{{0,4}}(?:/\s{{0,4}}|{end}{sign})(?:{named})\s{{0,4}}(?:\|[^\]\n]{{0,64}})?\]"
    ruled = (
        rf"(?im)^[ \t>]{{0,8}}{rule}{sign}{{0,4}}\[?{sign}?{end}(?:{sign}[\w :./-]{{0,48}})?{sign}{{0,4}}"
        rf"(?:{rule}|[\]:]|[ \t]*\r?$)"
    )
    spelled = rf"(?im)^[ \t>]{{0,8}}end[ _-]of[ _-](?:the[ _-])?(?:{named}|file|text|prompt)[ \t]*[.:]?[ \t]*\r?$"
    return (
        ("delimiter.close-tag", "closing tag of a block", Pattern(close_tag)),
        ("delimiter.bracket", "closing bracket of a block", Pattern(bracket)),
        ("delimiter.rule", "line that ends a block", Pattern(ruled)),
        ("delimiter.rule", "line that ends a block", Pattern(spelled)),
        ("delimiter.cdata", "end of a CDATA section", Pattern(r"\]\]>")),
    )


def _spelled(name: str) -> str:
    """The name in ASCII or its look-alikes, words joined by any of the usual signs."""
    parts = []
    for char in name.lower():
        parts.append(r"[ _-]?" if char in "_- " else f"[{_LETTERS[char]}]" if char in _LETTERS else re.escape(char))
    return "".join(parts)


def find_delimiters(text: str, *, wrappers: Collection[str] = ()) -> tuple[Match, ...]:
    """The look-alike delimiters of a text, in its order; ``wrappers`` adds names of blocks to the usual ones.

    Entities (``&lt;/untrusted&gt;``, twice encoded too) are resolved first: a renderer may do the same.
    """
    names = tuple(dict.fromkeys([*WRAPPERS, *wrappers]))
    return find_decoded(text, lambda piece: _find(piece, names), decoders=("entity",))


def _find(text: str, names: tuple[str, ...]) -> Iterator[Match]:
    reading = read_normalised(text)
    hay = haystack(reading.text)
    for detector, what, pattern in _patterns(names):
        for low, high in pattern.in_text(hay):
            start, end = reading.original(low, high)
            yield Match(
                detector=detector,
                severity=Severity.WARNING,
                start=start,
                end=end,
                message=f"{what}: {visible(text[start:end].strip(), 60)}",
            )
