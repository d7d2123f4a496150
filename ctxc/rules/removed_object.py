"""A template, fragment, contract, tool set or profile that the base had and that is gone.

Why: Something in production may still name it. It is shown at its former path, so that a reviewer sees it at all: a
file that is not there has no line to annotate.

Bad:

    # file: templates/t.yaml
    template_id: t
    version: 1
    provider: text
    sections:
      - {id: policy, source: literal, text: Answer briefly.}
    # file: base/templates/old.yaml
    template_id: old
    version: 1
    provider: text
    sections:
      - {id: policy, source: literal, text: Answer at length.}
    # file: tests/fixtures/f.yaml
    fixture_id: f
    template: t
    # file: policies/p.yaml
    policy_id: p
    version: 1
    gates: {versions: true}

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
    gates: {versions: true}

Mend: Make sure that nothing names it any more, here and in production.
"""

from __future__ import annotations

from collections.abc import Iterator

from ctxc.base.spans import Location
from ctxc.model.finding import Finding
from ctxc.rules._ground import is_about, settings, told, version_changes
from ctxc.rules.breaking_change import KINDS
from ctxc.rules.engine import Context, rule


def check(context: Context) -> Iterator[Finding]:
    """Objects that are gone with all their versions, each at its former path."""
    for policy, _ in settings(context, "versions"):
        for change in (c for c in version_changes(context) if is_about(context, policy, c)):
            if change.status != "removed":
                continue
            if change.kind in KINDS and policy.gates.get("compatibility"):
                continue  # a contract or a tool set that is gone breaks somebody
            yield told(
                context,
                RULE,
                policy,
                ("versions",),
                f"{change.kind} {change.id!r} {change.base} was removed",
                at=Location(change.base_path or change.path),
                help="make sure that nothing names it any more",
                data={"kind": change.kind, "id": change.id, "base": change.base},
            )


RULE = rule(__name__, __doc__, check, needs="change")
