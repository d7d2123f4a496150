"""A recorded text that cites evidence which the fixture does not have.

Why: The model is shown a statement with a source that it cannot check, and learns to cite what is not there.

Bad:

    # file: templates/t.yaml
    template_id: t
    version: 1
    provider: text
    sections:
      - {id: policy, source: literal, text: Answer briefly.}
      - {id: evidence, source: retrieval}
      - {id: handoff, source: runtime}
    # file: tests/fixtures/f.yaml
    fixture_id: f
    template: t
    inputs: {evidence: [{id: E1, source: "kb://refunds", version: 3, locator: "#2",
        text: Refunds take 30 days.}], handoff: [{id: H1, text: "The customer is owed a refund [E7]."}]}

Good:

    # file: templates/t.yaml
    template_id: t
    version: 1
    provider: text
    sections:
      - {id: policy, source: literal, text: Answer briefly.}
      - {id: evidence, source: retrieval}
      - {id: handoff, source: runtime}
    # file: tests/fixtures/f.yaml
    fixture_id: f
    template: t
    inputs: {evidence: [{id: E1, source: "kb://refunds", version: 3, locator: "#2",
        text: Refunds take 30 days.}], handoff: [{id: H1, text: "The customer is owed a refund [E1]."}]}

Mend: Add the evidence, or correct the id.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from ctxc.model.finding import Finding
from ctxc.model.fixture import Fixture, Record
from ctxc.model.section import Authority
from ctxc.parse.problems import did_you_mean
from ctxc.rules._texts import Shown
from ctxc.rules.engine import Context, rule

_CITED = re.compile(r"\[([A-Za-z]{1,8}[-_]?\d{1,6})\]")
_STEM = re.compile(r"[A-Za-z]+")


def check(context: Context) -> Iterator[Finding]:
    """Ids in brackets that look like the fixture's own evidence ids and are none of its records."""
    for fixture in context.project.fixtures.values():
        evidence = {r.id for r in fixture.inputs.evidence}
        stems = {m[0] for name in evidence if (m := _STEM.match(name)) and re.fullmatch(r"[A-Za-z]{1,8}[-_]?\d+", name)}
        if not stems:
            continue
        known = evidence | _other_ids(fixture)
        for record, what in _claims(fixture):
            for match in _CITED.finditer(record.text):
                stem = _STEM.match(match[1])
                if stem is None or stem[0] not in stems or match[1] in known:
                    continue
                shown = Shown(text=record.text, origin=record.origin, authority=Authority.T4, what=what)
                yield RULE.finding(
                    context,
                    f"{_called(record, what)} cites {match[1]}, which this fixture does not have"
                    + did_you_mean(match[1], known),
                    at=shown.place(context, match.start(1), match.end(1)),
                    help=f"evidence: {', '.join(sorted(evidence))}",
                    fixture=fixture.id,
                    data={"cited": match[1]},
                )


def _claims(fixture: Fixture) -> Iterator[tuple[Record, str]]:
    for name in ("memory", "handoff", "examples"):
        for record in getattr(fixture.inputs, name):
            yield record, name
    if fixture.inputs.summary:
        at = fixture.origin.child("inputs", "history", "summary")
        yield Record(id="summary", text=fixture.inputs.summary, origin=at), "history"


def _called(record: Record, what: str) -> str:
    return "the summary" if what == "history" else f"{what} {record.id!r}"


def _other_ids(fixture: Fixture) -> set[str]:
    inputs = fixture.inputs
    return {r.id for records in (inputs.memory, inputs.tool_results, inputs.handoff, inputs.examples) for r in records}


RULE = rule(__name__, __doc__, check)
