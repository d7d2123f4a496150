"""A section or a fragment whose text is empty.

Why: It has an id, a place and a budget, and says nothing to the model. A section that is required, or of P0 to P2 and
not said to be optional, makes the compile of its requests impossible: that is an error.

Bad:

    # file: templates/t.yaml
    template_id: t
    version: 1
    provider: text
    sections:
      - {id: policy, source: policies/house.md}
    # file: policies/house.md

Good:

    # file: templates/t.yaml
    template_id: t
    version: 1
    provider: text
    sections:
      - {id: policy, source: policies/house.md}
    # file: policies/house.md
    Answer briefly.

Mend: Write the text, or remove the section.
"""

from __future__ import annotations

from collections.abc import Iterator

from ctxc.base.errors import UnreadableSource
from ctxc.model.finding import Finding, Severity
from ctxc.rules._routes import newest
from ctxc.rules._texts import is_file, sections
from ctxc.rules.engine import Context, rule


def check(context: Context) -> Iterator[Finding]:
    """Files and literals without any text."""
    seen: set[str] = set()
    # First those that have to have one: a file that several sections show is told once.
    for spec in sorted(sections(context), key=lambda s: not s.must_have_text):
        if spec.source == "literal" and not spec.text.strip():
            yield RULE.finding(
                context,
                f"section {spec.id!r} has no text",
                at=spec.origin.child("text"),
                help="write it, or remove the section",
                severity=Severity.ERROR if spec.must_have_text else None,
            )
        elif is_file(spec) and spec.source not in seen and _is_empty(context, spec.source):
            seen.add(spec.source)
            yield RULE.finding(
                context,
                f"section {spec.id!r} shows {spec.source}, which has no text",
                at=spec.origin.child("source"),
                help="write the text, or remove the section",
                severity=Severity.ERROR if spec.must_have_text else None,
            )
    for fragment in newest(context).values():
        if fragment.text_path not in seen and _is_empty(context, fragment.text_path):
            yield RULE.finding(
                context,
                f"fragment {fragment.id!r} has no text",
                at=fragment.origin.child("fragment_id"),
                help=f"write it into {fragment.text_path}, or remove the fragment",
            )


def _is_empty(context: Context, path: str) -> bool:
    try:
        return not context.project.sources.body(path).strip()
    except UnreadableSource:
        return False  # loading says why


RULE = rule(__name__, __doc__, check)
