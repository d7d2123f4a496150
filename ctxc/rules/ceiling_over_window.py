"""A ceiling that is above what the window can hold.

Why: It never binds, so a check against it never fails.

Bad:

    # file: templates/t.yaml
    template_id: t
    version: 1
    provider: text
    budget: {window: 8000, output_reserve: 1000, safety_margin: 5%, ceiling: 9000}
    sections:
      - {id: policy, source: literal, text: Answer briefly.}

Good:

    # file: templates/t.yaml
    template_id: t
    version: 1
    provider: text
    budget: {window: 8000, output_reserve: 1000, safety_margin: 5%, ceiling: 6000}
    sections:
      - {id: policy, source: literal, text: Answer briefly.}

Mend: Lower the ceiling to what an ordinary request may cost.
"""

from __future__ import annotations

from collections.abc import Iterator

from ctxc.model.finding import Finding, Severity
from ctxc.rules._counts import room
from ctxc.rules._texts import templates
from ctxc.rules.engine import Context, rule


def check(context: Context) -> Iterator[Finding]:
    """Ceilings against the window less reserve and margin."""
    for template in templates(context):
        ceiling, about = template.budget.ceiling, room(context, template)
        if ceiling is None or about.window is None:
            continue
        left = about.window - about.reserve - about.margin
        if ceiling > left:
            over = ceiling > about.window
            yield RULE.finding(
                context,
                f"the ceiling of {ceiling:,} tokens never binds: the window of {about.window:,}"
                + ("" if over else f", less reserve {about.reserve:,} and margin {about.margin:,},")
                + f" leaves {left:,}",
                at=template.budget.origin.child("ceiling"),
                help="lower the ceiling to what an ordinary request may take",
                severity=None if over else Severity.WARNING,
                data={"ceiling": ceiling, "window": about.window, "left": left},
            )


RULE = rule(__name__, __doc__, check)
