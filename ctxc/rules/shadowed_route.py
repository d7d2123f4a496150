"""A route that is answered without a model and that an earlier one always answers first.

Why: The first whose conditions all match wins, so this reply is never given.

Bad:

    # file: templates/t.yaml
    template_id: t
    version: 1
    route: [interrupt, task]
    deterministic:
      - {when: {interrupt: [injury]}, reply: Please call 112 now.}
      - {when: {interrupt: [injury], task: [intake]}, reply: Please call 112 and tell us later.}
    sections:
      - {id: policy, source: literal, text: Answer briefly.}

Good:

    # file: templates/t.yaml
    template_id: t
    version: 1
    route: [interrupt, task]
    deterministic:
      - {when: {interrupt: [injury], task: [intake]}, reply: Please call 112 and tell us later.}
      - {when: {interrupt: [injury]}, reply: Please call 112 now.}
    sections:
      - {id: policy, source: literal, text: Answer briefly.}

Mend: Put the narrower route first, or remove it.
"""

from __future__ import annotations

from collections.abc import Iterator

from ctxc.model.finding import Finding
from ctxc.rules._routes import implies
from ctxc.rules._texts import templates
from ctxc.rules.engine import Context, rule


def check(context: Context) -> Iterator[Finding]:
    """Each route of a template against those before it."""
    for template in templates(context):
        at = template.at("deterministic")
        for number, route in enumerate(template.deterministic):
            first = next(
                (n for n, r in enumerate(template.deterministic[:number]) if implies(route["when"], r["when"])), None
            )
            if first is not None:
                yield RULE.finding(
                    context,
                    f"entry {number + 1} is never reached: entry {first + 1} matches all of its routes",
                    at=at.child(number, "when"),
                    help="put the narrower route first",
                    related=[(at.child(first, "when"), "the earlier entry")],
                    data={"entry": number, "shadowed_by": first},
                )


RULE = rule(__name__, __doc__, check)
