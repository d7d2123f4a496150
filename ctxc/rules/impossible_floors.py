"""What a template promises to serve can never fit its budget: floors and required texts together exceed what is left
for input.

Why: Every compile ends in budget_exceeded or leaves a floor unserved, whatever the request brings.

Bad:

    # file: templates/t.yaml
    template_id: t
    version: 1
    provider: text
    budget: {window: 8000, output_reserve: 2000, safety_margin: 5%, ceiling: 1000,
        buckets: {evidence: {min: 900}, memory: {min: 400}}}
    sections:
      - {id: evidence, source: retrieval}
      - {id: memory, source: runtime}

Good:

    # file: templates/t.yaml
    template_id: t
    version: 1
    provider: text
    budget: {window: 8000, output_reserve: 2000, safety_margin: 5%, ceiling: 1000,
        buckets: {evidence: {min: 500}, memory: {min: 200}}}
    sections:
      - {id: evidence, source: retrieval}
      - {id: memory, source: runtime}

Mend: Lower the floors, shorten what is required, or raise the ceiling.
"""

from __future__ import annotations

from collections.abc import Iterator

from ctxc.base.spans import Origin
from ctxc.model.finding import Finding
from ctxc.model.section import DEFAULTS, Tier
from ctxc.model.template import SectionSpec, Template
from ctxc.rules._counts import room, target_of
from ctxc.rules._texts import is_file, templates
from ctxc.rules.engine import Context, rule


def check(context: Context) -> Iterator[Finding]:
    """Floors of buckets and sections, and the tokens of required texts, against what is left for input."""
    for template in templates(context):
        window, reserve, margin, available = room(context, template)
        if available is None:
            continue
        if available <= 0:
            yield RULE.finding(
                context,
                f"template {template.id!r} leaves nothing for input: of a window of {window:,} tokens, output_reserve "
                f"takes {reserve:,} and safety_margin {margin:,}",
                at=_budget(template),
                help="lower `output_reserve` and `safety_margin`, or take a model with a larger window",
                data={"window": window, "reserve": reserve, "margin": margin},
            )
            continue
        floors = sum(b.min for b in template.budget.buckets) + sum(s.min_tokens for s in template.sections)
        texts = [text for spec in template.sections if (text := _required_text(context, spec))]
        # A token is at least one byte: where the bytes fit, nothing has to be counted.
        if floors + sum(len(t.encode("utf-8", "replace")) for t in texts) <= available:
            continue
        required = _count(context, template, texts) if floors <= available else 0
        if floors + required > available:
            parts = [f"floors {floors:,}"] + ([f"required texts {required:,}"] if required else [])
            yield RULE.finding(
                context,
                f"template {template.id!r} promises {floors + required:,} tokens ({', '.join(parts)}) "
                f"and has {available:,} for input",
                at=_budget(template),
                help="lower the floors, shorten what is required, or raise `ceiling`",
                data={"floors": floors, "required": required, "available": available,
                      "delta": floors + required - available},
            )  # fmt: skip


def _budget(template: Template) -> Origin:
    return template.budget.origin if template.budget.origin.path else template.at("template_id")


def _required_text(context: Context, spec: SectionSpec) -> str:
    """The text of a section that has to be there whole whatever the route is."""
    tier = spec.tier if spec.tier is not None else DEFAULTS[spec.kind].tier
    refuses = spec.overflow is not None and spec.overflow.action == "refuse"
    if spec.when or not (spec.required or tier <= Tier.P2 or refuses):
        return ""
    return spec.text if spec.source == "literal" else context.body(spec.source) if is_file(spec) else ""


def _count(context: Context, template: Template, texts: list[str]) -> int:
    found = target_of(context, template)
    if found is None:
        return 0
    ref = found.row.tokenizer
    return sum(context.tokenizers(ref).count_many(texts)) * ref.factor_bp // 10_000


RULE = rule(__name__, __doc__, check)
