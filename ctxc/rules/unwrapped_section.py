"""Material that is not the user's message, in a section that is sent without a wrapper.

Why: A section of kind `user` goes word for word as the newest message. Evidence, tool results or another agent's
text in that place speaks with the user's voice.

Bad:

    # file: templates/t.yaml
    template_id: t
    version: 1
    provider: text
    sections:
      - {id: policy, source: literal, text: Answer briefly.}
      - {id: question, kind: user, source: retrieval}

Good:

    # file: templates/t.yaml
    template_id: t
    version: 1
    provider: text
    sections:
      - {id: policy, source: literal, text: Answer briefly.}
      - {id: evidence, source: retrieval}
      - {id: user, source: runtime}

Mend: Give the section the kind of what it holds; it is then wrapped, labelled and escaped.
"""

from __future__ import annotations

from collections.abc import Iterator

from ctxc.model.finding import Finding
from ctxc.model.section import Kind
from ctxc.rules._texts import sections, templates
from ctxc.rules.engine import Context, rule

_MATERIAL = frozenset(
    {"evidence", "memory", "tool_results", "tool_result", "handoff", "examples", "history", "retrieval"}
)


def check(context: Context) -> Iterator[Finding]:
    """Sections of kind ``user`` that take something else, and a second one in one template."""
    told = set()
    for spec in sections(context):
        key = spec.source.partition(".")[2] or spec.id
        if spec.kind is Kind.USER and (spec.source == "retrieval" or key.partition(".")[0] in _MATERIAL):
            told.add(spec.origin)
            yield RULE.finding(
                context,
                f"section {spec.id!r} would send inputs.{'evidence' if spec.source == 'retrieval' else key} "
                "as the user's own message, without a wrapper",
                at=spec.origin.child("kind"),
                help="use the kind of what it holds: evidence, memory, tool_result or handoff",
                data={"source": spec.source},
            )
    for template in templates(context):
        users = [s for s in template.sections if s.kind is Kind.USER]
        for spec in users[1:]:
            if spec.origin not in told:
                told.add(spec.origin)
                yield RULE.finding(
                    context,
                    f"section {spec.id!r} is a second one of kind user: both are sent unwrapped",
                    at=spec.origin.child("kind"),
                    help="use kind task or state for what the application says about the request",
                    related=[(users[0].origin, "the first")],
                )


RULE = rule(__name__, __doc__, check)
