"""A bucket that no section of the template draws on.

Why: Its floor and its share have no effect; mostly the section has another name, or is gone.

Bad:

    # file: templates/t.yaml
    template_id: t
    version: 1
    provider: text
    budget: {window: 8000, output_reserve: 1000, safety_margin: 5%, buckets: {memory: {min: 200}}}
    sections:
      - {id: evidence, source: retrieval}

Good:

    # file: templates/t.yaml
    template_id: t
    version: 1
    provider: text
    budget: {window: 8000, output_reserve: 1000, safety_margin: 5%, buckets: {evidence: {min: 200}}}
    sections:
      - {id: evidence, source: retrieval}

Mend: Name the bucket after a section or a kind of the template, or remove it.
"""

from __future__ import annotations

from collections.abc import Iterator

from ctxc.model.finding import Finding
from ctxc.rules._texts import templates
from ctxc.rules.engine import Context, rule


def check(context: Context) -> Iterator[Finding]:
    """Buckets named after a kind of which the template has no section (other names are reported by loading)."""
    seen = set()
    for template in templates(context):
        drawn = {name for spec in template.sections for name in (spec.id, spec.kind.value)}
        for bucket in template.budget.buckets:
            if bucket.id not in drawn and bucket.origin not in seen and _is_kind(bucket.id):
                seen.add(bucket.origin)
                yield RULE.finding(
                    context,
                    f"no section of template {template.id!r} draws on the bucket {bucket.id!r}",
                    at=bucket.origin,
                    key=True,
                    help="add the section, or remove the bucket",
                )


def _is_kind(name: str) -> bool:
    from ctxc.model.section import Kind

    return name in {k.value for k in Kind}


RULE = rule(__name__, __doc__, check)
