"""A section that has to be whole and says that it may be dropped or cut, or the other way round.

Why: The tier wins: what is P0 to P2 or required is whole or the compile is refused. Whoever wrote the other key
believes something else.

Bad:

    # file: templates/t.yaml
    template_id: t
    version: 1
    provider: text
    sections:
      - {id: policy, source: literal, text: Answer briefly.}
      - {id: state, source: runtime, required: true, overflow: drop}

Good:

    # file: templates/t.yaml
    template_id: t
    version: 1
    provider: text
    sections:
      - {id: policy, source: literal, text: Answer briefly.}
      - {id: state, source: runtime, tier: P3, overflow: drop}

Mend: Remove the one, or give the section tier P3 or P4.
"""

from __future__ import annotations

from collections.abc import Iterator

from ctxc.model.finding import Finding
from ctxc.model.section import DEFAULTS, Tier
from ctxc.rules._texts import templates
from ctxc.rules.engine import Context, rule


def check(context: Context) -> Iterator[Finding]:
    """``overflow`` and ``required: false`` against required and tier."""
    seen = set()
    for template in templates(context):
        for spec in template.sections:
            if spec.origin in seen:
                continue
            seen.add(spec.origin)
            tier = spec.tier if spec.tier is not None else DEFAULTS[spec.kind].tier
            whole = spec.required or tier <= Tier.P2
            why = "required" if spec.required else f"tier {tier.name}"
            if whole and spec.overflow is not None and spec.overflow.action != "refuse":
                yield RULE.finding(
                    context,
                    f"section {spec.id!r} is {why}, so it is never {_done(spec.overflow.action)}",
                    at=spec.origin.child("overflow"),
                    help="remove `overflow:`, or give the section tier P3 or P4",
                    data={"overflow": str(spec.overflow), "tier": tier.name},
                )
            elif spec.required is False and tier <= Tier.P2:
                yield RULE.finding(
                    context,
                    f"section {spec.id!r} is {why}, so it is whole although it says `required: false`",
                    at=spec.origin.child("required"),
                    help="give the section tier P3 or P4, or remove `required:`",
                    data={"tier": tier.name},
                )


def _done(action: str) -> str:
    return {"drop": "dropped", "cut": "cut", "reference": "replaced by a reference"}[action]


RULE = rule(__name__, __doc__, check)
