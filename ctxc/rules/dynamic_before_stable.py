"""A section that changes from request to request, written before one that is marked as stable.

Why: A cached prefix ends at its first difference. The compiler sends stable sections first, so what its author
wrote as the order is not the order that a model reads.

Bad:

    # file: templates/t.yaml
    template_id: t
    version: 1
    provider: text
    sections:
      - {id: rules, kind: policy, source: policies/draft.md}
      - {id: policy, source: policies/house.md, cacheable: true}
    # file: policies/draft.md
    Draft rules, changed daily.
    # file: policies/house.md
    Answer briefly.

Good:

    # file: templates/t.yaml
    template_id: t
    version: 1
    provider: text
    sections:
      - {id: policy, source: policies/house.md, cacheable: true}
      - {id: rules, kind: policy, source: policies/draft.md}
    # file: policies/draft.md
    Draft rules, changed daily.
    # file: policies/house.md
    Answer briefly.

Mend: Write the stable sections first, or mark the earlier one `cacheable: true` where it is stable as well.
"""

from __future__ import annotations

from collections.abc import Iterator

from ctxc.model.finding import Finding
from ctxc.model.section import Zone
from ctxc.rules._known import with_profile
from ctxc.rules._prefix import is_stable, zone_of
from ctxc.rules.engine import Context, rule


def check(context: Context) -> Iterator[Finding]:
    """In the system and tools zones of each template, stable sections that follow another."""
    told = set()
    for template in with_profile(context):
        dynamic = None
        for spec in template.sections:
            if zone_of(spec) not in (Zone.SYSTEM, Zone.TOOLS):
                continue
            if not is_stable(context, template, spec):
                dynamic = dynamic or spec
            elif dynamic is not None and spec.origin not in told:
                told.add(spec.origin)
                yield RULE.finding(
                    context,
                    f"section {spec.id!r} is stable and stands after {dynamic.id!r}, which is not",
                    at=spec.origin.child("id"),
                    help=f"write it before {dynamic.id!r}, or mark {dynamic.id!r} `cacheable: true` if it is stable",
                    related=[(dynamic.origin, f"section {dynamic.id}")],
                    data={"section": spec.id, "dynamic": dynamic.id},
                )


RULE = rule(__name__, __doc__, check)
