"""A reserve for the answer that is larger than the longest answer of the model.

Why: The room is kept and can never be used; some providers refuse the request.

Bad:

    # file: templates/t.yaml
    template_id: t
    version: 1
    provider: openai
    model: gpt-4o
    budget: {output_reserve: 40000, safety_margin: 5%}
    sections:
      - {id: policy, source: literal, text: Answer briefly.}

Good:

    # file: templates/t.yaml
    template_id: t
    version: 1
    provider: openai
    model: gpt-4o
    budget: {output_reserve: 4000, safety_margin: 5%}
    sections:
      - {id: policy, source: literal, text: Answer briefly.}

Mend: Lower `output_reserve` to what the model can give.
"""

from __future__ import annotations

from collections.abc import Iterator

from ctxc.model.finding import Finding
from ctxc.rules._counts import target_of
from ctxc.rules._texts import templates
from ctxc.rules.engine import Context, rule


def check(context: Context) -> Iterator[Finding]:
    """Reserves of templates whose model is known."""
    for template in templates(context):
        found, reserve = target_of(context, template), template.budget.output_reserve
        most = found.row.max_output if found is not None else None
        if found is not None and reserve is not None and most is not None and reserve > most:
            yield RULE.finding(
                context,
                f"the reserve of {reserve:,} tokens is more than {found.model} can answer, {most:,}",
                at=template.budget.origin.child("output_reserve"),
                help=f"lower it to {most:,} or less",
                data={"reserve": reserve, "limit": most, "model": found.model},
            )


RULE = rule(__name__, __doc__, check)
