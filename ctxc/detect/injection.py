"""Injected instructions: the shipped payloads that containment is tested with, and heuristics that look for others.

The heuristics are a help for a reviewer and nothing else. They are incomplete by nature: of payloads that talk about
instructions, tools or approval they see most; of 50 that state an ordinary task in plain words they saw none. What is
not reported is not harmless, and every match is a warning. What is guaranteed is structure, not detection.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from functools import cache

from ctxc.base.escaping import visible
from ctxc.base.values import dataclass
from ctxc.detect import data
from ctxc.detect.canonical import read_normalised
from ctxc.detect.confusables import ASCII_LOOK_ALIKE, mixed_words
from ctxc.detect.decoded import find_decoded
from ctxc.detect.match import Match, in_order
from ctxc.detect.patterns import haystack
from ctxc.detect.phrases import Phrase, phrases, screen
from ctxc.model.finding import Severity

NOTE = "heuristic, incomplete"


@dataclass(frozen=True, slots=True, kw_only=True)
class Payload:
    """One text that tries to leave its place: where it would come from and what it tries."""

    id: str
    channel: str
    kind: str
    text: str


@cache
def payloads() -> tuple[Payload, ...]:
    """The shipped payloads, in the order of their ids. All were written for this project."""
    return parse_payloads(data.read("injections.jsonl"))


def parse_payloads(text: str) -> tuple[Payload, ...]:
    """The payloads of a JSON Lines text with the keys id and text, and optionally channel and kind.

    Raises ``ValueError`` that names the line of a row that cannot be used, or says that there is none.
    """
    rows: list[Payload] = []
    seen: set[str] = set()
    for number, line in enumerate(text.removeprefix("\ufeff").split("\n"), 1):
        if not line.strip():
            continue
        try:
            row = json.loads(line)
        except ValueError as problem:
            raise ValueError(f"line {number} is not JSON: {problem}") from None
        if not isinstance(row, dict) or not isinstance(row.get("id"), str) or not isinstance(row.get("text"), str):
            raise ValueError(f"line {number} needs the keys id and text, both text")
        if not row["text"]:
            raise ValueError(f"line {number} has an empty text")
        if row["id"] in seen:
            raise ValueError(f"line {number} repeats the id {visible(row['id'], 60)!r}")
        seen.add(row["id"])
        channel, kind = row.get("channel", ""), row.get("kind", "")
        rows.append(Payload(id=row["id"], channel=str(channel), kind=str(kind), text=row["text"]))
    if not rows:
        raise ValueError("there is no row")
    return tuple(rows)


HEURISTICS = "heuristics.toml"


def heuristics() -> tuple[Phrase, ...]:
    """The shipped heuristics H01 to H13, in the order of their ids."""
    return phrases(HEURISTICS)


_FOLD = {ord(letter): plain for letter, plain in ASCII_LOOK_ALIKE.items()}


def find_injections(text: str, *, decode: bool = True) -> tuple[Match, ...]:
    """What looks like an instruction inside data: detectors ``injection.H01`` to ``injection.H13``, all warnings.

    Read in the normalised form, once as it stands and once with look-alike letters as ASCII; with ``decode`` in decoded
    values too.
    """
    return find_decoded(text, _scan) if decode else in_order(_scan(text))


def _scan(text: str) -> Iterator[Match]:
    reading = read_normalised(text)
    readings = [reading.text]
    if not reading.text.isascii() and mixed_words(reading.text):
        readings.append(reading.text.translate(_FOLD))
    for seen in readings:
        hay = haystack(seen)
        for index in screen(HEURISTICS).which(hay.data):
            heuristic = heuristics()[index]
            for low, high in heuristic.pattern.in_text(hay):
                start, end = reading.original(low, high)
                yield Match(
                    detector=f"injection.{heuristic.id}",
                    severity=Severity.WARNING,
                    start=start,
                    end=end,
                    message=f"{heuristic.what} ({NOTE}): {visible(text[start:end], 60)}",
                )
