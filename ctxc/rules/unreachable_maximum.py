"""A section's `max_tokens` that its bucket or the whole budget never allows.

Why: The smaller bound decides; whoever reads the larger one is misled.

Bad:

    # file: templates/t.yaml
    template_id: t
    version: 1
    provider: text
    budget: {window: 8000, output_reserve: 1000, safety_margin: 5%, buckets: {evidence: {soft: 800}}}
    sections:
      - {id: evidence, source: retrieval, max_tokens: 2000}

Good:

    # file: templates/t.yaml
    template_id: t
    version: 1
    provider: text
    budget: {window: 8000, output_reserve: 1000, safety_margin: 5%, buckets: {evidence: {soft: 800, max: 2000,
        borrow: true}}}
    sections:
      - {id: evidence, source: retrieval, max_tokens: 2000}

Mend: Lower `max_tokens`, or let the bucket borrow up to it.
"""

from __future__ import annotations

from collections.abc import Iterator

from ctxc.model.finding import Finding, Severity
from ctxc.rules._counts import room
from ctxc.rules._texts import templates
from ctxc.rules.engine import Context, rule


def check(context: Context) -> Iterator[Finding]:
    """``max_tokens`` of sections against the hard bound of their bucket, and against what is left for input."""
    for template in templates(context):
        available = room(context, template).available
        buckets = {b.id: b for b in template.budget.buckets}
        for spec in template.sections:
            if spec.max_tokens is None:
                continue
            bucket = buckets.get(spec.id) or buckets.get(spec.kind.value)
            soft = None if bucket is None else bucket.soft if bucket.soft is not None else bucket.max
            hard = None if bucket is None else bucket.max if bucket.borrow else soft
            bounds = [(hard, f"bucket {bucket.id!r}" if bucket else ""), (available, "the whole input")]
            least, what = min(((b, w) for b, w in bounds if b is not None), default=(None, ""))
            if least is not None and spec.max_tokens > least:
                # Without a budget of its own, a template cannot know which model it will meet.
                stated = bool(template.budget.origin.path)
                yield RULE.finding(
                    context,
                    f"section {spec.id!r} may take {spec.max_tokens:,} tokens, but {what} has at most {least:,}",
                    at=spec.origin.child("max_tokens"),
                    help="lower it, or raise the bound that is smaller",
                    severity=None if stated else Severity.INFO,
                    data={"max_tokens": spec.max_tokens, "limit": least},
                )


RULE = rule(__name__, __doc__, check)
