"""Rules, one a file: what each needs, how it checks, and its documentation.

A module of this package whose name does not begin with an underscore is a rule of its name (``fragment_overrun`` is
``fragment-overrun``), except ``engine`` and ``documentation``. It defines ``RULE``, made by ``engine.rule``; its
docstring is its documentation, and the two examples in it run as tests. Nothing is registered by hand.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from ctxc.base import registry
from ctxc.model.codes import CODES, code_of, name_of

if TYPE_CHECKING:
    from ctxc.rules.engine import Rule

_NEEDS_MORE = re.compile(
    rb'^RULE = rule\((?:[^()]|\([^()]*\))*(?:needs="(?:packages|change)"|emitter="compiling")', re.MULTILINE
)
_NOT_RULES = frozenset({"engine", "documentation"})


@cache
def rule_names() -> tuple[str, ...]:
    """Names of all rules, sorted; no rule is imported for it."""
    return tuple(n.replace("_", "-") for n in registry.names(__name__) if n not in _NOT_RULES)


def rule(name: str) -> Rule:
    """The rule of a name or code; raises KeyError for one that does not exist."""
    name = name_of(name) if name in CODES else name
    if name not in rule_names():
        raise KeyError(name)
    found: Rule = registry.load(__name__, name.replace("-", "_")).RULE
    return found


def all_rules() -> tuple[Rule, ...]:
    """Every rule, by code."""
    return tuple(sorted((rule(n) for n in rule_names()), key=lambda r: r.code))


def source_rules() -> tuple[Rule, ...]:
    """Every rule that needs sources alone, by code.

    A module says so itself, in words that are looked for before it is imported: what the others import (the compiler,
    prices) would take lint longer than its own rules do.
    """
    here = Path(__file__).parent
    texts = ((name, (here / f"{name.replace('-', '_')}.py").read_bytes()) for name in rule_names())
    found = [rule(name) for name, text in texts if not _NEEDS_MORE.search(text)]
    return tuple(sorted((r for r in found if r.needs == "sources"), key=lambda r: r.code))


def codes_of(words: Iterable[str], known: Iterable[tuple[str, str]] = ()) -> dict[str, frozenset[str]]:
    """The codes that each word means: a code, a name, or the beginning of codes (``CTX3``, ``CTX31``).

    ``known`` adds pairs of code and name from outside. A word that means nothing has an empty set.
    """
    table = {**{code: name for code, (name, _) in CODES.items()}, **dict(known)}
    found: dict[str, frozenset[str]] = {}
    for word in words:
        exact = {code for code, name in table.items() if word in (code, name)}
        if not exact and word.rstrip("0123456789").isupper():
            exact = {code for code in table if code.startswith(word)}
        found[word] = frozenset(exact)
    return found


__all__ = ["all_rules", "code_of", "codes_of", "rule", "rule_names", "source_rules"]
