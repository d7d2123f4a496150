"""An object whose content changed and whose version did not go up, or not far enough.

Why: A version is what a log, a bundle and a rollback know an object by. Two contents under one version cannot be told
apart afterwards. What changed is judged on what is compiled, not on the bytes of the file.

Bad:

    # file: templates/t.yaml
    template_id: t
    version: 1
    provider: text
    sections:
      - {id: policy, source: literal, text: Refunds take 90 days.}
    # file: base/templates/t.yaml
    template_id: t
    version: 1
    provider: text
    sections:
      - {id: policy, source: literal, text: Refunds take 30 days.}
    # file: tests/fixtures/f.yaml
    fixture_id: f
    template: t
    # file: policies/p.yaml
    policy_id: p
    version: 1
    gates: {versions: {bump: require}}

Good:

    # file: templates/t.yaml
    template_id: t
    version: 2
    provider: text
    sections:
      - {id: policy, source: literal, text: Refunds take 90 days.}
    # file: base/templates/t.yaml
    template_id: t
    version: 1
    provider: text
    sections:
      - {id: policy, source: literal, text: Refunds take 30 days.}
    # file: tests/fixtures/f.yaml
    fixture_id: f
    template: t
    # file: policies/p.yaml
    policy_id: p
    version: 1
    gates: {versions: {bump: require}}

Mend: Raise the version as far as the message says.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from ctxc.model.finding import Finding, Severity
from ctxc.rules._ground import is_about, settings, told, version_changes
from ctxc.rules.breaking_change import KINDS, place_of
from ctxc.rules.engine import Context, rule


def check(context: Context) -> Iterator[Finding]:
    """Objects that miss a bump. What breaks readers is judged by the step compatibility where a policy has it."""
    for policy, versions in settings(context, "versions"):
        kinds = versions.get("kinds")
        for change in (c for c in version_changes(context) if is_about(context, policy, c)):
            if not change.missing or (kinds is not None and change.kind not in kinds):
                continue
            if change.breaking and change.kind in KINDS and policy.gates.get("compatibility"):
                continue
            moved = change.base != change.head
            how = f"went from {change.base} to {change.head}" if moved else f"is still {change.head}"
            found = told(
                context,
                RULE,
                policy,
                ("versions", "bump") if "bump" in versions else ("versions",),
                f"{change.kind} {change.id!r} changed ({change.reason}); its version {how}, "
                f"a {change.needed} bump is needed",
                at=place_of(context, change),
                help="raise its version",
                data={"kind": change.kind, "id": change.id, "base": change.base, "head": change.head,
                      "bump": change.bump, "needed": change.needed},
            )  # fmt: skip
            yield replace(found, severity=Severity.WARNING) if versions.get("bump") == "suggest" else found


RULE = rule(__name__, __doc__, check, needs="change")
