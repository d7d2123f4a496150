"""A budget with a window larger than the model's.

Why: The request fits the budget and the provider refuses it.

Bad:

    # file: templates/t.yaml
    template_id: t
    version: 1
    provider: openai
    model: gpt-4o
    budget: {window: 400000, output_reserve: 4000, safety_margin: 5%}
    sections:
      - {id: policy, source: literal, text: Answer briefly.}

Good:

    # file: templates/t.yaml
    template_id: t
    version: 1
    provider: openai
    model: gpt-4o
    budget: {window: 64000, output_reserve: 4000, safety_margin: 5%}
    sections:
      - {id: policy, source: literal, text: Answer briefly.}

Mend: Leave `window` out for the model's own, or lower it.
"""

from __future__ import annotations

from collections.abc import Iterator

from ctxc.model.finding import Finding
from ctxc.rules._counts import target_of
from ctxc.rules._texts import templates
from ctxc.rules.engine import Context, rule


def check(context: Context) -> Iterator[Finding]:
    """Windows of templates whose model is known."""
    for template in templates(context):
        found, window = target_of(context, template), template.budget.window
        if found is not None and window is not None and window > found.row.window:
            yield RULE.finding(
                context,
                f"the window of {window:,} tokens is larger than that of {found.model}, {found.row.window:,}",
                at=template.budget.origin.child("window"),
                help="leave `window` out, or lower it",
                data={"window": window, "limit": found.row.window, "model": found.model},
            )


RULE = rule(__name__, __doc__, check)
