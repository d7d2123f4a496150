"""A tier that does not suit what the section holds.

Why: Policy, contract and the newest message are never dropped to make room; a conversation, memory or examples at
the top tiers have to be whole, so that a long conversation refuses the request.

Bad:

    # file: templates/t.yaml
    template_id: t
    version: 1
    provider: text
    sections:
      - {id: policy, source: literal, text: Answer briefly., tier: P4}
      - {id: history, source: runtime, tier: P0}

Good:

    # file: templates/t.yaml
    template_id: t
    version: 1
    provider: text
    sections:
      - {id: policy, source: literal, text: Answer briefly.}
      - {id: history, source: runtime, tier: P3}

Mend: Leave `tier` out, or choose one that the kind may have.
"""

from __future__ import annotations

from collections.abc import Iterator

from ctxc.model.finding import Finding, Severity
from ctxc.model.section import DEFAULTS, Kind, Tier
from ctxc.rules._texts import templates
from ctxc.rules.engine import Context, rule

_NEVER_DROPPED = frozenset({Kind.POLICY, Kind.CONTRACT, Kind.USER, Kind.FOCUS, Kind.TOOLS})
_GROWING = frozenset({Kind.HISTORY, Kind.MEMORY, Kind.EXAMPLES, Kind.HANDOFF})


def check(context: Context) -> Iterator[Finding]:
    """Tiers that sections state."""
    seen = set()
    for template in templates(context):
        for spec in template.sections:
            if spec.tier is None or spec.origin in seen:
                continue
            seen.add(spec.origin)
            usual = DEFAULTS[spec.kind].tier
            dropped = spec.kind in _NEVER_DROPPED and spec.tier >= Tier.P3
            whole = (spec.kind in _GROWING and spec.tier <= Tier.P2) or (
                spec.kind in (Kind.EVIDENCE, Kind.TOOL_RESULT) and spec.tier is Tier.P0
            )
            if dropped or whole:
                why = (
                    "may never be dropped to make room"
                    if dropped
                    else "grows with the request and would have to be whole"
                )
                yield RULE.finding(
                    context,
                    f"section {spec.id!r} is {spec.tier.name}, but what is of kind {spec.kind.value} {why}",
                    at=spec.origin.child("tier"),
                    help=f"remove `tier:`; the kind's own is {usual.name}",
                    severity=Severity.ERROR if dropped else None,
                    data={"tier": spec.tier.name, "usual": usual.name},
                )


RULE = rule(__name__, __doc__, check, escalates=True)
