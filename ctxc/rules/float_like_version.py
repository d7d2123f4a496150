"""A version that reads as a number with a fraction.

Why: `1.10` is `1.1` to every YAML 1.1 reader, so two versions become one. ctxc keeps the text that stands there.

Bad:

    # file: templates/t.yaml
    template_id: t
    version: 1.10
    sections:
      - {id: policy, source: literal, text: Answer briefly.}

Good:

    # file: templates/t.yaml
    template_id: t
    version: "1.10"
    sections:
      - {id: policy, source: literal, text: Answer briefly.}

Mend: Put it in quotes or write three parts.
"""

from __future__ import annotations

from ctxc.base.spans import Span
from ctxc.model.finding import Edit, Finding, Fix
from ctxc.parse.spots import slice_of
from ctxc.rules.engine import Context, rule


def mend(context: Context, finding: Finding) -> Fix | None:
    """The same text in quotes."""
    span = finding.location.span
    if span is None or slice_of(context.text(finding.location.path), span) != finding.data.get("version"):
        return None
    before = Span(span.line, span.column, span.line, span.column)
    after = Span(span.end_line, span.end_column, span.end_line, span.end_column)
    edits = tuple(Edit(location=finding.location._replace(span=s), text='"') for s in (before, after))
    return Fix(title="put the version in quotes", edits=edits, safe=True)


RULE = rule(__name__, __doc__, emitter="loading", fix=mend, fixable="safe")
