"""A template that no fixture uses.

Why: It is never compiled, so nothing shows whether it fits its budget, and a change to it passes every check
unseen.

Bad:

    # file: templates/t.yaml
    template_id: t
    version: 1
    provider: text
    sections:
      - {id: policy, source: literal, text: Answer briefly.}

Good:

    # file: templates/t.yaml
    template_id: t
    version: 1
    provider: text
    sections:
      - {id: policy, source: literal, text: Answer briefly.}
    # file: tests/fixtures/f.yaml
    fixture_id: f
    template: t

Mend: Add a fixture for it, or remove it.
"""

from __future__ import annotations

from collections.abc import Iterator

from ctxc.model.finding import Finding
from ctxc.model.lookup import candidates
from ctxc.rules._known import FIXTURES, all_known
from ctxc.rules._texts import templates
from ctxc.rules.engine import Context, rule


def check(context: Context) -> Iterator[Finding]:
    """Templates that neither a fixture names nor another template extends."""
    if not all_known(context, "template", *FIXTURES):
        return
    index = context.project.templates
    used = {id(t) for f in context.project.fixtures.values() for t in candidates(index, f.template)[-1:]}
    bases = {id(t) for c in templates(context) if c.extends for t in candidates(index, c.extends)[-1:]}
    for template in templates(context):
        if id(template) not in used | bases:
            yield RULE.finding(
                context,
                f"no fixture uses template {template.id!r}",
                at=template.at("template_id"),
                help=f"add a fixture with `template: {template.id}`",
            )


RULE = rule(__name__, __doc__, check, tier="strict")
