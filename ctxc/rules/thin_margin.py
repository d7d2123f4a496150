"""A safety margin under five percent of the window.

Why: Counts of most models are estimates, and even exact ones do not know what a provider adds. Seed 000 (4.7)
advises five to ten percent.

Bad:

    # file: templates/t.yaml
    template_id: t
    version: 1
    provider: text
    budget: {window: 8000, output_reserve: 1000, safety_margin: 1%}
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

Mend: Raise `safety_margin` to 5% or more; leave it out for the default of 5%.
"""

from __future__ import annotations

from collections.abc import Iterator

from ctxc.model.finding import Finding
from ctxc.rules._counts import room
from ctxc.rules._texts import templates
from ctxc.rules.engine import Context, rule

LEAST_BP = 500
"""Five percent, in basis points of the window."""


def check(context: Context) -> Iterator[Finding]:
    """Margins that a template states."""
    for template in templates(context):
        window = room(context, template).window
        margin = template.budget.safety_margin
        if margin is None or not window:
            continue
        least = -(-window * LEAST_BP // 10_000)
        if margin.of(window) < least:
            yield RULE.finding(
                context,
                f"the safety margin is {margin.of(window):,} tokens, under five percent of the window of {window:,}",
                at=template.budget.origin.child("safety_margin"),
                help=f"raise it to 5% ({least:,} tokens)",
                data={"margin": margin.of(window), "least": least, "window": window},
            )


RULE = rule(__name__, __doc__, check)
