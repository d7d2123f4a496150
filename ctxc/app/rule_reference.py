"""The reference of rules: one rule, some, a list of all, and the page that is committed as ``docs/rules.md``."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches
from typing import TYPE_CHECKING

from ctxc.base.canonical import canonical
from ctxc.base.errors import NothingMatched
from ctxc.model.codes import CODES
from ctxc.rules import all_rules, rule, rule_names

if TYPE_CHECKING:
    from ctxc.rules.engine import Rule

SCHEMA = "ctxc.rules/1"


def find(words: Iterable[str]) -> tuple[Rule, ...]:
    """The rules of some codes or names; raises NothingMatched for one that does not exist."""
    found = []
    for word in words:
        try:
            found.append(rule(word.upper() if word.upper() in CODES else word))
        except KeyError:
            near = get_close_matches(word, [*CODES, *rule_names()], n=1)
            hint = f"did you mean {near[0]}? " if near else ""
            raise NothingMatched(f"there is no rule {word!r}", help=hint + "`ctxc rule` lists all") from None
    return tuple(found)


def describe(rules: Iterable[Rule], format: str) -> str:
    """The documentation of some rules: ``text``, ``markdown`` or ``json``."""
    from ctxc.rules.documentation import markdown, plain

    if format == "json":
        return canonical({"schema": SCHEMA, "rules": [_value(r) for r in rules]}) + "\n"
    return "\n".join((markdown if format == "markdown" else plain)(r) for r in rules)


def listing(format: str) -> str:
    """Every rule, by code, as ``markdown`` or ``json``."""
    if format == "json":
        return describe(all_rules(), "json")
    from ctxc.rules.documentation import index

    return index(all_rules()) + "\n"


def rule_rows() -> list[tuple[str, str, str, str, str]]:
    """Code, name, severity, tier and summary of every rule, by code."""
    return [(r.code, r.name, r.severity.label, r.tier, r.summary) for r in all_rules()]


def reference() -> str:
    """The whole page."""
    from ctxc.rules.documentation import page

    return page(all_rules())


def _value(found: Rule) -> dict[str, object]:
    from ctxc.rules.documentation import read

    text = read(found.doc)
    return {
        "code": found.code,
        "name": found.name,
        "severity": found.severity.label,
        "tier": found.tier,
        "needs": found.needs,
        "found_by": found.emitter,
        "fix": found.fixable,
        "heuristic": found.heuristic,
        "detectors": list(found.detectors),
        "what": text.what,
        "why": text.why,
        "bad": text.bad,
        "good": text.good,
        "mend": text.mend,
    }
