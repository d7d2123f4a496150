"""Legal names: a tool's or a call's name becomes one that a provider accepts, always the same, never twice."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import lru_cache
from hashlib import sha256
from typing import Any

from ctxc.providers._read import as_int, as_map, as_text

_LETTERS = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
_DIGITS = "0123456789"


class NameRule:
    """ASCII letters, digits and some further characters, at most so long, perhaps not beginning with a digit.

    Data, not a pattern: profiles come from projects, and a pattern that somebody else wrote can run for ever.
    """

    __slots__ = ("_first", "_legal", "max")

    def __init__(self, *, extra: str = "_-", max: int = 64, first: str = "any") -> None:
        self._legal = frozenset(_LETTERS + _DIGITS + extra)
        self._first = frozenset(_LETTERS + "_") if first == "letter" else self._legal
        self.max = max

    def holds(self, name: str) -> bool:
        """Whether a name is legal."""
        return 0 < len(name) <= self.max and name[0] in self._first and all(c in self._legal for c in name)

    def legal(self, name: str, *, taken: Iterable[str] = ()) -> str:
        """A legal name for this one: itself where it is legal and free, else with illegal characters replaced by
        ``_``, and with eight hex digits of the name's own hash where that is too long or taken."""
        used = set(taken)
        if self.holds(name) and name not in used:
            return name
        plain = "".join(c if c in self._legal else "_" for c in name) or "_"
        if plain[0] not in self._first:
            plain = "_" + plain
        if len(plain) <= self.max and plain not in used:
            return plain
        digest = sha256(name.encode("utf-8", "surrogatepass")).hexdigest()
        for length in range(8, len(digest) + 1, 4):
            tail = "_" + digest[:length]
            found = plain[: max(self.max - len(tail), 0)] + tail
            if found not in used:
                return found[: self.max]
        return plain[: self.max]


def rule_from(limits: Mapping[str, Any], key: str, default: NameRule) -> NameRule:
    """The name rule that a profile's limits state under a key: ``{extra: "_-", max: 64, first: letter}``."""
    data = as_map(limits.get(key))
    if not data:
        return default
    return _rule(
        as_text(data.get("extra")) or "_-", max(as_int(data.get("max"), default.max), 16), as_text(data.get("first"))
    )


@lru_cache(maxsize=64)
def _rule(extra: str, longest: int, first: str) -> NameRule:
    return NameRule(extra=extra, max=longest, first=first or "any")


def legal_names(names: Iterable[str], rule: NameRule) -> dict[str, str]:
    """Name to legal name, for all names in order. Names that are legal already keep themselves, wherever they stand,
    so that a mapped one never takes the place of an honest one."""
    wanted = list(dict.fromkeys(names))
    result = {n: n for n in wanted if rule.holds(n)}
    taken = set(result)
    for name in wanted:
        if name not in result:
            result[name] = rule.legal(name, taken=taken)
            taken.add(result[name])
    return result


def changed(names: Mapping[str, str]) -> dict[str, str]:
    """Only the names that are not themselves."""
    return {k: v for k, v in names.items() if k != v}
