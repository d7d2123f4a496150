"""An input of a fixture that no section of its template takes.

Why: What was recorded is never shown. With a misspelt key (`evidences`) a request looks as if there had been nothing.

Bad:

    # file: templates/t.yaml
    template_id: t
    version: 1
    sections:
      - {id: evidence, source: retrieval}
    # file: tests/fixtures/f.yaml
    fixture_id: f
    template: t
    inputs:
      evidences: [{id: E1, source: "kb://returns", version: 3, locator: "#2", text: Open until six.}]

Good:

    # file: templates/t.yaml
    template_id: t
    version: 1
    sections:
      - {id: evidence, source: retrieval}
    # file: tests/fixtures/f.yaml
    fixture_id: f
    template: t
    inputs:
      evidence: [{id: E1, source: "kb://returns", version: 3, locator: "#2", text: Open until six.}]

Mend: Write the key as a section takes it, add a section, or name it under `expect.dropped` where it is to be left out.
"""

from __future__ import annotations

from collections.abc import Iterator

from ctxc.base.spans import Location
from ctxc.compiler.collect_inputs import RECORD_KINDS
from ctxc.model.finding import Finding
from ctxc.model.fixture import Fixture
from ctxc.model.lookup import candidates
from ctxc.model.section import Kind
from ctxc.model.template import Template
from ctxc.parse.problems import did_you_mean
from ctxc.rules.engine import Context, rule


def check(context: Context) -> Iterator[Finding]:
    """Inputs that a compile would drop as ``no_section``, whatever the route is."""
    known: dict[str, frozenset[str]] = {}
    told: set[tuple[str, Location]] = set()  # turns share what stands once
    for fixture in context.project.fixtures.values():
        if fixture.template not in known:
            found = candidates(context.project.templates, fixture.template)
            known[fixture.template] = taken(found[-1]) if found else frozenset()
        keys = known[fixture.template]
        if not keys or fixture.expect.outcome == "model_not_required":
            continue  # the template is not known, or nothing is shown at all
        dropped = {name.partition("/")[0] for name in fixture.expect.dropped}
        for key in _given(fixture):
            if key in keys or key in dropped:
                continue
            place = context.locate(fixture.origin.child("inputs", key), key=True)
            where = (fixture.template, place._replace(pointer=""))
            if where not in told:
                told.add(where)
                yield RULE.finding(
                    context,
                    f"no section of template {fixture.template!r} takes inputs.{key}{did_you_mean(key, sorted(keys))}",
                    at=place,
                    help=f"taken: {', '.join(sorted(keys))}; or add a section, or name it under `expect.dropped`",
                    fixture=fixture.id,
                    data={"input": key},
                )


def taken(template: Template) -> frozenset[str]:
    """Keys of ``inputs`` that the sections of a template take up, and those that need no section."""
    keys = {"user"}
    if template.focus:
        keys.add("state")
    for spec in template.sections:
        named = spec.source.partition(".")[2].partition(".")[0]
        is_runtime = spec.source.partition(".")[0] == "runtime"
        if spec.kind is Kind.TOOLS or (spec.kind is Kind.CONTRACT and spec.source == "runtime"):
            continue
        if spec.source == "fragments":
            keys.add("fragments")
        elif spec.kind is Kind.HISTORY:
            keys.add("history")
        elif spec.kind is Kind.FOCUS and is_runtime:
            keys.add(named or "state")
        elif spec.kind in RECORD_KINDS and (is_runtime or spec.source == "retrieval"):
            keys.add(named or RECORD_KINDS[spec.kind])
        elif is_runtime:
            keys.add(named or spec.id)
    return frozenset(keys)


def _given(fixture: Fixture) -> Iterator[str]:
    inputs = fixture.inputs
    yield from inputs.values
    yield from (name for name in RECORD_KINDS.values() if getattr(inputs, name))
    if inputs.history and not fixture.conversation:  # that of a turn is made of the turns before it
        yield "history"
    if inputs.fragments:
        yield "fragments"


RULE = rule(__name__, __doc__, check)
