"""A policy, or a setting that decides what counts, that is not what it was at the base.

Why: Whoever changes the rules in the same breath as what they judge should be seen doing it. The base's policies judge
such a change as well; this says what is different, so that a reviewer need not compare.

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
    gates: {budget: {ceilings: [{max_input_tokens: 900}]}}
    # file: base/policies/p.yaml
    policy_id: p
    version: 1
    gates: {budget: {ceilings: [{max_input_tokens: 500}]}}

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
    gates: {budget: {ceilings: [{max_input_tokens: 500}]}}
    # file: base/policies/p.yaml
    policy_id: p
    version: 1
    # as before
    gates: {budget: {ceilings: [{max_input_tokens: 500}]}}

Mend: Change the policy in a change of its own, with the review that it needs.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ctxc.base.spans import Location, Origin
from ctxc.compare.values import ABSENT, ValueChange, shown, value_changes
from ctxc.model.contract import Policy
from ctxc.model.finding import Finding
from ctxc.rules._ground import ground, place_of_settings, version_changes
from ctxc.rules.engine import Context, rule

_TOLD = 6
_WIDTH = 80
_DAY = len("2026-11-30")


_SETTINGS = (
    "baseline", "fail-on", "ignore", "internal-hosts", "policy", "policy-source", "rules", "secret-rules", "select",
    "tier",
)  # fmt: skip
"""Settings that decide what is looked for, and what counts."""


def check(context: Context) -> Iterator[Finding]:
    """Policies that are new, gone, or different in what they say, and settings that are others."""
    yield from _settings(context)
    if not any(c.kind == "policy" for c in version_changes(context)):
        return
    base = ground(context).base_project
    if base is None:
        return
    old = {n: v[-1] for n, v in base.policies.items()}
    new = {n: v[-1] for n, v in context.project.policies.items()}
    help = "change the policy in a change of its own; where the base judges, the old one counts until then"
    for name in sorted({*old, *new}):
        before, after = old.get(name), new.get(name)
        if after is None:
            assert before is not None
            yield RULE.finding(
                context, f"policy {name!r} was removed: it judges this change for the last time",
                at=Location(before.origin.path), help=help, data={"policy": name, "change": "removed"},
            )  # fmt: skip
        elif before is None:
            yield RULE.finding(
                context, f"policy {name!r} is new: it judges from this change on", at=after.origin, help=help,
                data={"policy": name, "change": "added"},
            )  # fmt: skip
        elif before.content_hash != after.content_hash:
            changes = _changes(_value(before), _value(after))
            told = [_told(c) for c in changes]
            if told:
                yield RULE.finding(
                    context, f"policy {name!r} changed: {_listed(told)}", help=help,
                    at=_place(after, changes[0]),
                    data={"policy": name, "change": "changed", "changes": told},
                )  # fmt: skip


def _place(policy: Policy, change: ValueChange) -> Origin:
    if change.head is ABSENT:
        return policy.origin
    return policy.origin.child(*change.path[: 1 if change.path[0] == "waivers" else None])


def _settings(context: Context) -> Iterator[Finding]:
    known = ground(context)
    if known.settings is None:
        return
    before, after = (
        {n: s.extra[n] for n in _SETTINGS if s.extra.get(n)}
        | {"per-file-ignores": {k: list(v) for k, v in s.per_file_ignores.items()}, "policies": list(s.policies)}
        for s in known.settings
    )
    changes = _changes(before, after)
    if changes:
        told = [_told(c) for c in changes]
        yield RULE.finding(
            context, f"the configuration changed: {_listed(told)}", at=place_of_settings(context),
            help="change it in a change of its own; where the base judges, the old one counts until then",
            data={"policy": "", "change": "changed", "changes": told},
        )  # fmt: skip


def _changes(before: Mapping[str, Any], after: Mapping[str, Any]) -> list[ValueChange]:
    """What differs, but for exemptions that are new or last longer: ``added-exemption`` tells each at its place."""
    found = value_changes(before, after)
    return [c for c in found if c.path[:1] not in (("waivers",), ("per-file-ignores",)) or not _exempts(c)]


def _exempts(change: ValueChange) -> bool:
    if change.base is ABSENT:
        return True
    return change.path[0] == "waivers" and change.head is not ABSENT and change.head[:_DAY] > change.base[:_DAY]


def _listed(told: Sequence[str]) -> str:
    more = f" and {len(told) - _TOLD} more" if len(told) > _TOLD else ""
    return f"{'; '.join(told[:_TOLD])}{more}"


def _value(policy: Policy) -> dict[str, Any]:
    return {
        "where": dict(policy.where),
        "base": policy.base,
        "gates": dict(policy.gates),
        "rules": dict(policy.rules),
        "waivers": {f"{w.rule} for {w.path or w.fingerprint}": f"{w.expires} ({w.owner})" for w in policy.waivers},
    }


def _told(change: ValueChange) -> str:
    name = ".".join(map(str, change.path))
    before, after = _short(change.base), _short(change.head)
    if change.base is ABSENT:
        return f"{name} added ({after})"
    if change.head is ABSENT:
        return f"{name} removed ({before})"
    return f"{name} {before} → {after}"


def _short(value: Any) -> str:
    """A value in a line: what it holds, where that is too long to be read there."""
    text = shown(value)
    if len(text) <= _WIDTH:
        return text
    if isinstance(value, Mapping):
        return f"{', '.join(map(str, value))}"[:_WIDTH]
    if isinstance(value, (list, tuple)):
        return f"{len(value):,} entries"
    return f"{text[: _WIDTH - 3]}..."


RULE = rule(__name__, __doc__, check, needs="change")
