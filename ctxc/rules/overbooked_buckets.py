"""Buckets whose shares together are more than 100 percent of what is left for input.

Why: A share is a promise; the last of them can never be kept, and which one that is depends on the request.

Bad:

    # file: templates/t.yaml
    template_id: t
    version: 1
    provider: text
    budget: {window: 8000, output_reserve: 2000, safety_margin: 5%, ceiling: 1000,
        buckets: {evidence: {soft: 800}, history: {soft: 500}}}
    sections:
      - {id: evidence, source: retrieval}
      - {id: history, source: runtime}

Good:

    # file: templates/t.yaml
    template_id: t
    version: 1
    provider: text
    budget: {window: 8000, output_reserve: 2000, safety_margin: 5%, ceiling: 1000,
        buckets: {evidence: {soft: 400, max: 800, borrow: true}, history: {soft: 300}}}
    sections:
      - {id: evidence, source: retrieval}
      - {id: history, source: runtime}

Mend: Lower the `soft` shares; with `borrow` a bucket may still take what others leave, up to its `max`.
"""

from __future__ import annotations

from collections.abc import Iterator

from ctxc.model.finding import Finding
from ctxc.rules._counts import room
from ctxc.rules._texts import templates
from ctxc.rules.engine import Context, rule


def check(context: Context) -> Iterator[Finding]:
    """Sums of the shares of a template's buckets."""
    for template in templates(context):
        available = room(context, template).available
        shares = {b.id: b.soft if b.soft is not None else b.max or b.min for b in template.budget.buckets}
        total = sum(shares.values())
        # A window that leaves nothing for input is the finding of another rule.
        if available is not None and 0 < available < total:
            yield RULE.finding(
                context,
                f"the buckets of template {template.id!r} share out {total:,} tokens, "
                f"{total * 100 // available:,} percent of the {available:,} for input",
                at=template.budget.buckets[0].origin._replace(pointer=template.budget.origin.pointer + "/buckets")
                if template.budget.buckets[0].origin.path == template.budget.origin.path
                else template.budget.buckets[0].origin,
                help="lower the `soft` shares; `borrow: true` lets a bucket take what others leave",
                data={"shares": shares, "total": total, "available": available},
            )


RULE = rule(__name__, __doc__, check)
