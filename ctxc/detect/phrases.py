"""Families of phrases kept as data: TOML with named parts, one alternative a line (``data/*.toml``)."""

from __future__ import annotations

from functools import cache

from ctxc.base.values import dataclass
from ctxc.detect import data
from ctxc.detect.patterns import Pattern, PatternSet


@dataclass(frozen=True, slots=True, kw_only=True)
class Phrase:
    """One family of phrases: its id, what it sees, its pattern (any case)."""

    id: str
    what: str
    pattern: Pattern


@cache
def phrases(name: str) -> tuple[Phrase, ...]:
    """The families of one data file, in its order; ``<word>`` in a pattern stands for the word's alternatives."""
    import tomllib

    document = tomllib.loads(data.read(name))
    words = {f"<{word}>": f"(?:{alternatives})" for word, alternatives in document.get("words", {}).items()}
    found = []
    for row in document["rules"]:
        source = "|".join(row["patterns"])
        for word, alternatives in words.items():
            source = source.replace(word, alternatives)
        found.append(Phrase(id=row["id"], what=row["what"], pattern=Pattern(f"(?i){source}")))
    return tuple(found)


@cache
def screen(name: str) -> PatternSet:
    """Which families of a data file occur in a text at all."""
    return PatternSet([phrase.pattern.source for phrase in phrases(name)])
