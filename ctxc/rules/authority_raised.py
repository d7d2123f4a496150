"""A section that asks for more authority than its kind has.

Why: A template may lower authority, never raise it: otherwise a line of YAML turns retrieved text into
instructions.

Bad:

    # file: templates/t.yaml
    template_id: t
    version: 1
    provider: text
    sections:
      - {id: policy, source: literal, text: Answer briefly.}
      - {id: evidence, source: retrieval, authority: T1}

Good:

    # file: templates/t.yaml
    template_id: t
    version: 1
    provider: text
    sections:
      - {id: policy, source: literal, text: Answer briefly.}
      - {id: evidence, source: retrieval}

Mend: Remove `authority:`, or set it to the kind's own or lower.
"""

from __future__ import annotations

from collections.abc import Iterator

from ctxc.model.finding import Finding
from ctxc.model.section import DEFAULTS
from ctxc.rules._texts import sections
from ctxc.rules.engine import Context, rule


def check(context: Context) -> Iterator[Finding]:
    """Authorities that sections state."""
    for spec in sections(context):
        usual = DEFAULTS[spec.kind].authority
        if spec.authority is not None and spec.authority < usual:
            yield RULE.finding(
                context,
                f"section {spec.id!r} asks for {spec.authority.name}, but a {spec.kind.value} has {usual.name}",
                at=spec.origin.child("authority"),
                help=f"remove `authority:` or set it to {usual.name} or lower",
                data={"authority": spec.authority.name, "usual": usual.name},
            )


RULE = rule(__name__, __doc__, check)
