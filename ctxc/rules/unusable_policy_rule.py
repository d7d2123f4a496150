"""A rule of a policy that cannot be used: a pattern that is no RE2, a detector or a rule that does not exist, a bound
without a number.

Why: A rule that cannot run finds nothing and looks like one that found nothing.

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
    gates:
      forbidden:
        - {id: FF-1, title: no keys, forbid: {re2: "(?<=key: )[a-z]+"}}

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
    gates:
      forbidden:
        - {id: FF-1, title: no keys, forbid: {re2: "key: [a-z]+"}}

Mend: Follow the message. `ctxc rule --all` lists rules; docs/gate.md lists detectors.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from ctxc.base.errors import UnreadableSource
from ctxc.model.contract import Policy
from ctxc.model.finding import Finding
from ctxc.parse.problems import did_you_mean
from ctxc.rules import codes_of
from ctxc.rules._content import own_secret_rules
from ctxc.rules._ground import at, items
from ctxc.rules.engine import Context, rule

_BOUNDS = {
    "budget": ("ceilings", "growth", "percentiles"),
    "regression": ("recall", "precision", "fidelity", "drop_rate"),
    "cost": ("ceilings", "growth"),
    "latency": ("ceilings", "growth"),
}
"""Parameters of steps that are bounds, one or a list of them."""


def check(context: Context) -> Iterator[Finding]:
    """Patterns, detectors, rules and files of payloads that a policy names and that cannot be used."""
    from ctxc.detect.injection import parse_payloads

    ids: dict[str, str] = {}
    for versions in context.project.policies.values():
        policy = versions[-1]
        yield from _forbidden(context, policy, ids)
        yield from _bounds(context, policy)
        for word in policy.rules:
            if not codes_of([word])[word]:
                yield RULE.finding(
                    context, f"there is no rule {word!r}", at=policy.origin.child("rules", word), key=True,
                    help="`ctxc rule --all` lists codes and names",
                )  # fmt: skip
        injection = policy.gates.get("injection")
        for number, path in enumerate(injection.get("payloads", ()) if isinstance(injection, dict) else ()):
            try:
                parse_payloads(context.project.sources.read_text(path))
            except (ValueError, UnreadableSource) as error:
                told, mend = (error.message, error.help) if isinstance(error, UnreadableSource) else (str(error), "")
                yield RULE.finding(
                    context, told if path in told else f"the payloads of {path!r} cannot be used: {told}",
                    at=policy.origin.child("gates", "injection", "payloads", number),
                    help=mend or "write one JSON object a line, each with `id` and `text`",
                )  # fmt: skip


def _bounds(context: Context, policy: Policy) -> Iterator[Finding]:
    for step, names in _BOUNDS.items():
        values = policy.gates.get(step)
        for name in names:
            for number, bound in items(values.get(name) if isinstance(values, Mapping) else None):
                if isinstance(bound, Mapping) and not bound.keys() - {"where", "cache"}:
                    yield RULE.finding(
                        context, f"this bound of `{name}` says no number: it bounds nothing",
                        at=at(policy, step, name, number), help="give it a number, or take it out",
                    )  # fmt: skip


def _forbidden(context: Context, policy: Policy, ids: dict[str, str]) -> Iterator[Finding]:
    from ctxc.detect.forbidden import detector_ids
    from ctxc.detect.patterns import PatternError, compile_pattern

    known = detector_ids(own_secret_rules(context)) if policy.gates.get("forbidden") else ()
    for number, entry in enumerate(policy.gates.get("forbidden") or ()):
        here = at(policy, "forbidden", number)
        name = entry["id"]
        if name in ids:
            yield RULE.finding(
                context, f"the id {name!r} is used twice, here and in policy {ids[name]!r}: a waiver could mean either",
                at=here.child("id"), help="give one another id",
            )  # fmt: skip
        ids.setdefault(name, policy.id)
        forbid = entry["forbid"]
        for place, detector in enumerate(forbid.get("detect", ())):
            if detector not in known:
                yield RULE.finding(
                    context, f"there is no detector {detector!r}{did_you_mean(detector, known)}",
                    at=here.child("forbid", "detect", place), help="docs/gate.md lists the detectors",
                )  # fmt: skip
        given = forbid.get("re2", ())
        single = isinstance(given, str)
        for place, source in enumerate((given,) if single else given):
            where = here.child("forbid", "re2") if single else here.child("forbid", "re2", place)
            try:
                compile_pattern(source)
            except PatternError as error:
                yield RULE.finding(context, f"{name}: {error.message}", at=where, help=error.help)


RULE = rule(__name__, __doc__, check)
