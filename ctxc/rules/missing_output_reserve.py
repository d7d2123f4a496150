"""A template that does not say how many tokens are kept for the answer.

Why: ctxc keeps 4,096. A longer answer is cut off in the middle, and a shorter one wastes room that evidence could
have had.

Bad:

    # file: templates/t.yaml
    template_id: t
    version: 1
    provider: text
    budget: {window: 8000, safety_margin: 5%}
    sections:
      - {id: policy, source: literal, text: Answer briefly.}

Good:

    # file: templates/t.yaml
    template_id: t
    version: 1
    provider: text
    budget: {window: 8000, output_reserve: 1000, safety_margin: 5%}
    sections:
      - {id: policy, source: literal, text: Answer briefly.}

Mend: Add `output_reserve:` to the budget, from the longest answer that the contract allows.
"""

from __future__ import annotations

from collections.abc import Iterator

from ctxc.compiler.resolve import DEFAULT_OUTPUT_RESERVE
from ctxc.model.finding import Finding
from ctxc.rules._texts import templates
from ctxc.rules.engine import Context, rule


def check(context: Context) -> Iterator[Finding]:
    """Budgets without a reserve; a template without any budget takes the defaults knowingly."""
    told = set()
    for template in templates(context):
        # Templates that take over one budget are told of it once.
        if template.budget.origin in told:
            continue
        told.add(template.budget.origin)
        if template.budget.output_reserve is None and template.budget.origin.path:
            yield RULE.finding(
                context,
                f"template {template.id!r} names no output_reserve: {DEFAULT_OUTPUT_RESERVE:,} tokens are kept",
                at=template.budget.origin,
                key=True,
                help="add `output_reserve:` to `budget:`",
                data={"default": DEFAULT_OUTPUT_RESERVE},
            )


RULE = rule(__name__, __doc__, check)
