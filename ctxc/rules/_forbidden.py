"""Forbidden content: what a policy forbids, compiled; and one text, with its decoded readings, searched for it.

Nothing here holds or returns a value that was found: a hit knows its place, its length, at most four characters of it
and a keyed digest.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any

from ctxc.base.canonical import canonical, digest_text
from ctxc.base.values import dataclass
from ctxc.detect.decoded import find_decoded
from ctxc.detect.forbidden import find_forbidden
from ctxc.detect.match import Match, masked
from ctxc.detect.patterns import PatternSet, UserPattern, compile_pattern, haystack
from ctxc.detect.projections import DECODERS
from ctxc.detect.secret_rules import SecretRule
from ctxc.model.contract import Policy
from ctxc.model.finding import Severity

SEARCH = ("sources", "inputs", "request")
_DECODERS = {"json": "json", "base64": "base64", "percent": "percent", "entities": "entity"}


@dataclass(frozen=True, slots=True, kw_only=True)
class ForbiddenRule:
    """One entry of a policy's ``forbidden``. ``keys`` and ``patterns`` are compiled; ``number`` is its place."""

    policy: Policy
    number: int
    id: str
    title: str
    where: Mapping[str, Any]
    severity: Severity
    detect: tuple[str, ...]
    keys: tuple[str, ...]
    patterns: tuple[str, ...]
    classification: tuple[str, ...]
    decoders: tuple[str, ...]
    search: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Hit:
    """Something forbidden in a text: which rule, by which detector, and where. ``via`` names the decoders."""

    rule: int
    match: Match


def rules_of(policies: Sequence[Policy], hosts: Sequence[str] = ()) -> tuple[ForbiddenRule, ...]:
    """The forbidden entries of some policies that are not switched off; ``hosts`` are internal by the configuration."""
    named = rf"(?i)\b(?:{'|'.join(map(_quoted, hosts))})\b" if hosts else ""
    found: list[ForbiddenRule] = []
    for policy in policies:
        entries = policy.gates.get("forbidden")
        for number, entry in enumerate(entries if isinstance(entries, (list, tuple)) else ()):
            severity = entry.get("severity", "error")
            if severity == "off":
                continue
            forbid = entry["forbid"]
            detect, patterns = tuple(forbid.get("detect", ())), _texts(forbid.get("re2"))
            if named and {"leak", "leak.internal-url"} & {*detect}:
                patterns = (*patterns, named)
            found.append(
                ForbiddenRule(
                    policy=policy,
                    number=number,
                    id=entry["id"],
                    title=entry.get("title", ""),
                    where=entry.get("where", {}),
                    severity=Severity[severity.upper()],
                    detect=detect,
                    keys=tuple(forbid.get("keys", ())),
                    patterns=patterns,
                    classification=tuple(forbid.get("classification", ())),
                    decoders=_decoders(entry.get("decode")),
                    search=tuple(entry.get("search", SEARCH)),
                )
            )
    return tuple(found)


def _quoted(host: str) -> str:
    """A host name as a pattern: RE2 takes an escaped character that is no letter or digit as itself."""
    return "".join(c if c.isalnum() or c == "_" else f"\\{c}" for c in host)


def _texts(value: Any) -> tuple[str, ...]:
    return (value,) if isinstance(value, str) else tuple(value or ())


def _decoders(names: Sequence[str] | None) -> tuple[str, ...]:
    """The decoders to use; hidden characters are looked through whatever a policy says."""
    if names is None:
        return DECODERS
    return tuple(d for d in DECODERS if d == "hidden" or d in {_DECODERS[n] for n in names})


def digest_of(rules: Sequence[ForbiddenRule], secret_rules: Sequence[SecretRule]) -> str:
    """Identity of everything that decides what is found in a text."""
    value = [
        [r.detect, r.keys, r.patterns, r.classification, r.decoders, r.search, r.where, r.policy.where] for r in rules
    ]
    return digest_text(canonical([value, [str(s) for s in secret_rules]]))


class Scanner:
    """Searches texts for everything that some rules forbid; what was searched once is not searched again."""

    def __init__(
        self, rules: Sequence[ForbiddenRule], *, key: bytes, secret_rules: tuple[SecretRule, ...] = ()
    ) -> None:
        self.rules = tuple(rules)
        self._key = key
        self._extra = secret_rules
        self._by_decoders: dict[tuple[str, ...], list[int]] = {}
        for number, rule in enumerate(self.rules):
            self._by_decoders.setdefault(rule.decoders, []).append(number)
        self._known: dict[tuple[str, bool], tuple[Hit, ...]] = {}

    def scan(self, text: str, *, is_json: bool = False) -> tuple[Hit, ...]:
        """Everything in a text; with ``is_json`` names of keys are looked for in quotes before a colon as well."""
        found = self._known.get((text, is_json))
        if found is None:
            found = self._known[text, is_json] = tuple(self._scan(text, is_json))
        return found

    def key_hits(self, name: str) -> Iterator[Hit]:
        """Rules that forbid a key of this name."""
        for number, rule in enumerate(self.rules):
            if rule.keys and is_key(name, rule.keys):
                match = Match(
                    detector="key", severity=rule.severity, start=0, end=len(name), message=f"the key {name[:60]!r}"
                )
                yield Hit(rule=number, match=match)

    def _scan(self, text: str, is_json: bool) -> Iterator[Hit]:
        for decoders, numbers in self._by_decoders.items():
            for match in find_decoded(text, self._finder(numbers, is_json), decoders=decoders):
                told = match.detector.partition(".")
                if told[0] in ("re2", "key"):
                    yield Hit(rule=int(told[2]), match=match)
                    continue
                for number in numbers:
                    if _is_asked(match.detector, self.rules[number].detect):
                        yield Hit(rule=number, match=match)

    def _finder(self, numbers: list[int], is_json: bool) -> Callable[[str], Iterator[Match]]:
        """What finds everything that some rules forbid in one reading of a text; decoding is the caller's."""
        detect = frozenset(d for n in numbers for d in self.rules[n].detect)
        wanted: list[tuple[int, str, bool]] = []
        for number in numbers:
            rule = self.rules[number]
            wanted += [(number, source, False) for source in rule.patterns]
            if is_json and rule.keys:
                wanted.append((number, key_pattern(rule.keys), True))
        screen = _screen(tuple(source for _, source, _ in wanted)) if wanted else None

        def find(piece: str) -> Iterator[Match]:
            if detect:
                yield from find_forbidden(piece, key=self._key, detect=detect, decoders=(), extra=self._extra)
            if screen is None:
                return
            for place in screen.which(haystack(piece).data):
                number, source, of_key = wanted[place]
                rule = self.rules[number]
                for start, end in _pattern(source).find(piece):
                    if of_key:
                        name = piece[start:end].strip(" \t\"':=\\")
                        yield Match(
                            detector=f"key.{number}", severity=rule.severity, start=start, end=end,
                            message=f"the key {name[:60]!r}",
                        )  # fmt: skip
                    else:
                        yield self._masked(f"re2.{number}", rule, piece, start, end, "text that a pattern forbids")

        return find

    def _masked(self, detector: str, rule: ForbiddenRule, text: str, start: int, end: int, what: str) -> Match:
        return masked(detector, rule.severity, start, end, what, value=text[start:end], key=self._key)


def _is_asked(detector: str, wanted: Sequence[str]) -> bool:
    return detector in wanted or detector.partition(".")[0] in wanted


@lru_cache(maxsize=64)
def _screen(sources: tuple[str, ...]) -> PatternSet:
    """Which of the patterns occur at all, in one pass."""
    for source in sources:
        _pattern(source)  # a pattern that cannot be used says so here
    return PatternSet(sources)


@lru_cache(maxsize=256)
def _pattern(source: str) -> UserPattern:
    return compile_pattern(source)


_WORDS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+|\*")


def words_of(name: str) -> tuple[str, ...]:
    """The words of a key, whatever joins them: ``bankAccount``, ``bank_account`` and ``BANK-ACCOUNT`` are one."""
    return tuple(w.lower() for w in _WORDS.findall(name))


def is_key(name: str, patterns: Sequence[str]) -> bool:
    """Whether a key is meant by one of the names or globs of a policy (``*`` stands for any words)."""
    from fnmatch import fnmatchcase

    joined = "_".join(words_of(name)) or name.casefold()
    return any(fnmatchcase(joined, "_".join(words_of(p)) or p.casefold()) for p in patterns)


@lru_cache(maxsize=64)
def key_pattern(names: tuple[str, ...]) -> str:
    """One RE2 pattern for all of the names, in quotes before a colon."""
    forms = []
    for name in names:
        words = words_of(name) or (name,)
        form = ""
        for number, word in enumerate(words):
            joiner = "[_ -]?" if number else ""
            form += joiner + (r"[A-Za-z0-9_ -]*" if word == "*" else re.escape(word))
        forms.append(form)
    return r'(?i)\\?"(?:' + "|".join(forms) + r')\\?"\s*:'
