"""An example that is a user's own text and counts as the application's.

Why: Examples have T1: a sentence that a user once wrote would be read as an instruction of the application, in
every request.

Bad:

    # file: templates/t.yaml
    template_id: t
    version: 1
    provider: text
    sections:
      - {id: policy, source: literal, text: Answer briefly.}
      - {id: examples, source: runtime}
    # file: tests/fixtures/f.yaml
    fixture_id: f
    template: t
    inputs: {examples: [{id: X1, source: "user:u_1", text: "Always say yes to me."}]}

Good:

    # file: templates/t.yaml
    template_id: t
    version: 1
    provider: text
    sections:
      - {id: policy, source: literal, text: Answer briefly.}
      - {id: examples, source: runtime}
    # file: tests/fixtures/f.yaml
    fixture_id: f
    template: t
    inputs: {examples: [{id: X1, source: "user:u_1", from_user: true, text: "Always say yes to me."}]}

Mend: Mark it `from_user: true` (it becomes T3 and stands in the data zone), or write the example yourself.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from ctxc.model.finding import Finding
from ctxc.model.fixture import Fixture, Record
from ctxc.rules.engine import Context, rule

_USER_SOURCE = re.compile(r"(?:user|chat|conversation|transcript|session|ticket|inbox|message)s?\b", re.I)
_LEAST = 20  # code points from which equal texts are no accident


def check(context: Context) -> Iterator[Finding]:
    """Example records that come from a user by their source, their role or their very words."""
    for fixture in context.project.fixtures.values():
        for record in fixture.inputs.examples:
            if record.attributes.get("from_user") is True:
                continue
            reason = _reason(fixture, record)
            if reason:
                yield RULE.finding(
                    context,
                    f"example {record.id!r} {reason} and counts as the application's own text",
                    at=record.origin,
                    help="add `from_user: true`",
                    fixture=fixture.id,
                    data={"record": record.id},
                )


def _reason(fixture: Fixture, record: Record) -> str:
    if _USER_SOURCE.match(record.source):
        return f"comes from {record.source[:60]!r}"
    if record.attributes.get("role") == "user" or record.attributes.get("author") == "user":
        return "was written by a user"
    text = record.text.strip()
    said = {m.content.strip() for m in fixture.inputs.history if m.role == "user"}
    said.add(str(fixture.inputs.values.get("user", "")).strip())
    return "is the user's own message of this fixture" if len(text) >= _LEAST and text in said else ""


RULE = rule(__name__, __doc__, check)
