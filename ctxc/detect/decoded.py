"""Any detector applied to a text and to its decoded readings."""

from __future__ import annotations

from bisect import bisect_right, insort
from collections.abc import Callable, Collection, Iterable
from dataclasses import replace

from ctxc.detect.match import Match, in_order
from ctxc.detect.projections import DECODERS, Projection, projections

Finder = Callable[[str], Iterable[Match]]


def find_decoded(text: str, find: Finder, *, decoders: Collection[str] = DECODERS, depth: int = 2) -> tuple[Match, ...]:
    """The matches of ``find`` in the text, and those in its decoded readings that the text itself does not show.

    A match in a reading is placed at the encoded source of its value, and ``via`` names the decoders. It is left out
    where a match of at least its severity was found before at the same place.
    """
    return find_in_readings(text, projections(text, decoders=decoders, depth=depth), find)


def find_in_readings(text: str, readings: Iterable[Projection], find: Finder) -> tuple[Match, ...]:
    """The same for a text of which the decoded readings are known."""
    found = list(find(text))
    known = _Places(found)
    for reading in readings:
        for match in find(reading.text):
            start, end, via = reading.locate(match.start, match.end)
            placed = replace(match, start=start, end=end, via=via)
            if not known.cover(placed):
                found.append(placed)
                known.add(placed)
    return in_order(found)


class _Places:
    """The places of matches found so far, by family of detectors, to ask whether one of them covers another."""

    def __init__(self, matches: Iterable[Match]) -> None:
        self._ordered: dict[str, list[tuple[int, int, int]]] = {}
        self._longest = 0
        for match in matches:
            self.add(match)

    def add(self, match: Match) -> None:
        """Remember one more."""
        places = self._ordered.setdefault(_family(match), [])
        insort(places, (match.start, match.end, int(match.severity)))
        self._longest = max(self._longest, match.end - match.start)

    def cover(self, match: Match) -> bool:
        """True if a match of its family that overlaps this one is at least as severe."""
        places = self._ordered.get(_family(match), [])
        index = bisect_right(places, (match.end, 0, 0)) - 1
        while index >= 0 and places[index][0] + self._longest > match.start:
            start, end, severity = places[index]
            if start < match.end and match.start < end and severity >= match.severity:
                return True
            index -= 1
        return False


def _family(match: Match) -> str:
    return match.detector.partition(".")[0]
