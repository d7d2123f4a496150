"""One text, with its decoded readings, searched for what the rules of policies forbid.

Nothing here holds or returns a value that was found: a hit knows its place, its length, at most four characters of it
and a keyed digest.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache

from ctxc.base.values import dataclass
from ctxc.detect.decoded import find_in_readings
from ctxc.detect.forbidden import Detectors, detector_ids, stretches
from ctxc.detect.match import Match, masked
from ctxc.detect.patterns import PatternSet, haystack
from ctxc.detect.projections import projections
from ctxc.detect.secret_rules import SecretRule
from ctxc.rules._forbidden import ForbiddenRule, is_key, key_pattern, pattern_of, usable


@dataclass(frozen=True, slots=True, kw_only=True)
class Hit:
    """Something forbidden in a text: which rule, by which detector, and where. ``via`` names the decoders."""

    rule: int
    match: Match


class Scanner:
    """Searches texts for everything that some rules forbid; what was searched once is not searched again.

    What a rule finds does not depend on the other rules. They share the decoded readings of a text and one pass over
    each of them that says which rules can find anything there at all. A pattern or a detector that cannot be used finds
    nothing; that it cannot is a finding of its own (unusable-policy-rule).
    """

    def __init__(
        self, rules: Sequence[ForbiddenRule], *, key: bytes, secret_rules: tuple[SecretRule, ...] = ()
    ) -> None:
        self.rules = tuple(rules)
        self._key = key
        self.secret_rules = secret_rules
        self._groups: dict[bool, tuple[_Group, ...]] = {}
        self._known: dict[tuple[str, bool], tuple[Hit, ...]] = {}

    def scan(self, text: str, *, is_json: bool = False) -> tuple[Hit, ...]:
        """Everything in a text; with ``is_json`` names of keys are looked for in quotes before a colon as well."""
        found = self._known.get((text, is_json))
        if found is None:
            if is_json not in self._groups:
                self._groups[is_json] = self._grouped(is_json)
            found = self._known[text, is_json] = tuple(h for g in self._groups[is_json] for h in g.scan(text))
        return found

    def key_hits(self, name: str) -> Iterator[Hit]:
        """Rules that forbid a key of this name."""
        for number, rule in enumerate(self.rules):
            if rule.keys and is_key(name, rule.keys):
                match = Match(
                    detector="key", severity=rule.severity, start=0, end=len(name), message=f"the key {name[:60]!r}"
                )
                yield Hit(rule=number, match=match)

    def _grouped(self, is_json: bool) -> tuple[_Group, ...]:
        """The rules by their decoders: those of a group look at the same readings."""
        detectors: dict[frozenset[str], Detectors] = {}
        there = frozenset(detector_ids(self.secret_rules)) if any(r.detect for r in self.rules) else frozenset()
        groups: dict[tuple[str, ...], list[_Search]] = {}
        for number, rule in enumerate(self.rules):
            wanted = there.intersection(rule.detect)
            if wanted and wanted not in detectors:
                detectors[wanted] = Detectors(key=self._key, detect=wanted, extra=self.secret_rules)
            search = _Search(number, rule, detectors.get(wanted), is_json=is_json, key=self._key)
            if not search.idle:
                groups.setdefault(rule.decoders, []).append(search)
        return tuple(_Group(decoders, searches) for decoders, searches in groups.items())


_Stretch = tuple[int, int]
_Known = dict[tuple[int, str], tuple[Match, ...]]


class _Search:
    """What one rule looks for in a reading of a text: detectors by stretches, patterns in the whole."""

    __slots__ = ("_detectors", "_key", "_patterns", "_rule", "number", "screen", "sources")

    def __init__(
        self, number: int, rule: ForbiddenRule, detectors: Detectors | None, *, is_json: bool, key: bytes
    ) -> None:
        self.number = number
        self._rule = rule
        self._detectors = detectors
        self._key = key
        self._patterns = [(source, False) for source in usable(rule.patterns)]
        if is_json and rule.keys:
            self._patterns.append((key_pattern(rule.keys), True))
        self.sources = tuple(source for source, _ in self._patterns)
        self.screen = detectors.screen if detectors is not None else ()

    @property
    def idle(self) -> bool:
        """Whether there is nothing to look for in texts."""
        return self._detectors is None and not self._patterns

    def find(self, piece: str, places: Sequence[_Stretch], in_whole: bool, known: _Known) -> Iterator[Match]:
        """Everything in one reading: by detectors in these stretches, and by patterns where they occur in the whole.

        Decoding is the caller's; ``known`` is what other rules found by the same detectors.
        """
        rule = self._rule
        if places and self._detectors is not None:
            key = (id(self._detectors), piece)
            if key not in known:
                known[key] = self._detectors.find_in(piece, places)
            yield from known[key]
        for source, of_key in self._patterns if in_whole else ():
            for start, end in pattern_of(source).find(piece):
                if of_key:
                    name = piece[start:end].strip(" \t\"':=\\")
                    yield Match(
                        detector=f"key.{self.number}", severity=rule.severity, start=start, end=end,
                        message=f"the key {name[:60]!r}",
                    )  # fmt: skip
                else:
                    yield masked(
                        f"re2.{self.number}", rule.severity, start, end, "text that a pattern forbids",
                        value=piece[start:end], key=self._key,
                    )  # fmt: skip


class _Places:
    """Where a rule can find anything in a reading: stretches for its detectors, and whether one of its patterns can."""

    __slots__ = ("in_whole", "stretches")

    def __init__(self, stretches: Sequence[_Stretch] = (), *, in_whole: bool = False) -> None:
        self.stretches = list(stretches)
        self.in_whole = in_whole


class _Group:
    """Rules that look at the same readings of a text."""

    def __init__(self, decoders: tuple[str, ...], searches: Sequence[_Search]) -> None:
        self._decoders = decoders
        self._searches = tuple(searches)
        self._stretched = _Sources({n: s.screen or () for n, s in enumerate(searches)})
        self._whole = _Sources({n: s.sources for n, s in enumerate(searches)})
        self._both = _screen((*self._stretched.sources, *self._whole.sources))
        self._everywhere = tuple(n for n, s in enumerate(searches) if s.screen is None)
        self._blind = not self._both.fits  # too much for one pass: every rule looks for itself

    def scan(self, text: str) -> Iterator[Hit]:
        """Everything that the rules find in a text."""
        readings = tuple(projections(text, decoders=self._decoders))
        where = {piece: self._where(piece) for piece in (text, *(r.text for r in readings))}
        known: _Known = {}
        for number in sorted({number for found in where.values() for number in found}):
            search = self._searches[number]

            def find(piece: str, number: int = number, search: _Search = search) -> Iterable[Match]:
                here = where[piece].get(number)
                return search.find(piece, here.stretches, here.in_whole, known) if here is not None else ()

            for match in find_in_readings(text, readings, find):
                yield Hit(rule=search.number, match=match)

    def _where(self, piece: str) -> dict[int, _Places]:
        """The rules that can find anything in a reading, and where."""
        cut = stretches(piece)
        if self._blind:
            return {n: _Places(cut, in_whole=True) for n in range(len(self._searches))}
        found: dict[int, _Places] = {n: _Places(cut) for n in self._everywhere}
        border = len(self._stretched.sources)
        if len(cut) == 1:
            hits = self._both.which(haystack(piece).data)
            told = [(cut[0], tuple(hit for hit in hits if hit < border))]
            whole = tuple(hit - border for hit in hits if hit >= border)
        else:
            told = [(place, self._stretched.which(piece[place[0] : place[1]])) for place in cut]
            whole = self._whole.which(piece)
        for place, hits in told:
            for number in {n for hit in hits for n in self._stretched.owners[hit]}:
                found.setdefault(number, _Places()).stretches.append(place)
        for hit in whole:
            for number in self._whole.owners[hit]:
                found.setdefault(number, _Places()).in_whole = True
        return found


class _Sources:
    """Patterns with the rules that they belong to."""

    __slots__ = ("_screen", "owners", "sources")

    def __init__(self, by_rule: Mapping[int, Sequence[str]]) -> None:
        self.sources = tuple(dict.fromkeys(source for sources in by_rule.values() for source in sources))
        self.owners = tuple(tuple(n for n, own in by_rule.items() if source in own) for source in self.sources)
        self._screen = _screen(self.sources)

    def which(self, piece: str) -> tuple[int, ...]:
        """Indexes of the patterns that occur in a text."""
        return self._screen.which(haystack(piece).data) if self.sources else ()


@lru_cache(maxsize=16)
def _screen(sources: tuple[str, ...]) -> PatternSet:
    """Which of the patterns occur at all, in one pass."""
    return PatternSet(sources)
