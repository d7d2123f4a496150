"""A bound of a policy that nothing can exceed: a floor of 0, a ceiling on drops of 1, growth without measure.

Why: It stands in the policy, the step says that it was checked, and it checks nothing.

Bad:

    # file: templates/t.yaml
    template_id: t
    version: 1
    provider: text
    sections:
      - {id: policy, source: literal, text: Answer briefly.}
    # file: tests/fixtures/f.yaml
    fixture_id: f
    template: t
    # file: policies/p.yaml
    policy_id: p
    version: 1
    gates: {regression: {recall: {floor: 0}}, budget: {growth: {max_percent: 1000}}}

Good:

    # file: templates/t.yaml
    template_id: t
    version: 1
    provider: text
    sections:
      - {id: policy, source: literal, text: Answer briefly.}
    # file: tests/fixtures/f.yaml
    fixture_id: f
    template: t
    # file: policies/p.yaml
    policy_id: p
    version: 1
    gates: {regression: {recall: {floor: 0.9}}, budget: {growth: {max_percent: 10}}}

Mend: Give it the number that the requests have today, or take it out. A ceiling of 0 is none of these: it lets nothing
pass.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from ctxc.model.contract import Policy
from ctxc.model.finding import Finding
from ctxc.rules._ground import at, items
from ctxc.rules.engine import Context, rule

_BOUNDLESS = 1000
"""Percent of growth from which on a bound is none: it lets a request become eleven times what it was, at once."""

_AT_MOST: Mapping[str, tuple[float, str]] = {
    "floor": (0, "no share is less than 0"),
    "min_pass_rate": (0, "it lets every test fail"),
}
_AT_LEAST: Mapping[str, tuple[float, str]] = {
    "ceiling": (1, "no share is more than 1"),
    "max_rise": (1, "no share can rise by more than 1"),
    "max_loss": (1, "no share can fall by more than 1"),
    "max_percent": (_BOUNDLESS, "it lets a request grow to more than ten times what it was, at once"),
}
_PLACES = (
    ("regression", "recall"), ("regression", "precision"), ("regression", "fidelity"), ("regression", "drop_rate"),
    ("regression", "results"), ("budget", "growth"), ("cost", "growth"), ("latency", "growth"),
)  # fmt: skip


def check(context: Context) -> Iterator[Finding]:
    """Every bound of the newest version of each policy."""
    for versions in context.project.policies.values():
        yield from _idle(context, versions[-1])


def _idle(context: Context, policy: Policy) -> Iterator[Finding]:
    for step, name in _PLACES:
        values = policy.gates.get(step)
        for number, bound in items(values.get(name) if isinstance(values, Mapping) else None):
            for key, value in bound.items():
                why = _why(key, value)
                if why:
                    yield RULE.finding(
                        context,
                        f"`{name}` with `{key}: {value}` checks nothing: {why}",
                        at=at(policy, step, name, number, key),
                        help="give it the number that the requests have today, or take it out",
                        data={"policy": policy.id, "step": step, "key": key, "value": str(value)},
                    )
    tools = policy.gates.get("tools")
    allowed = tools.get("allow", ()) if isinstance(tools, Mapping) else ()
    for number, name in enumerate(allowed):
        if set(name) == {"*"}:
            yield RULE.finding(
                context,
                f"`allow` with {name!r} checks nothing: it allows every tool",
                at=at(policy, "tools", "allow", number),
                help="name the tools that may be offered, or take it out",
                data={"policy": policy.id, "step": "tools", "key": "allow", "value": name},
            )


def _why(key: str, value: Any) -> str:
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return ""
    if key in _AT_MOST and value <= _AT_MOST[key][0]:
        return _AT_MOST[key][1]
    return _AT_LEAST[key][1] if key in _AT_LEAST and value >= _AT_LEAST[key][0] else ""


RULE = rule(__name__, __doc__, check)
