"""A fixture expects something of a section, a fragment or a piece of evidence that does not exist.

Why: What is expected not to be loaded never is when its name is misspelt: the expectation cannot fail.

Bad:

    # file: templates/t.yaml
    template_id: t
    version: 1
    provider: text
    sections:
      - {id: fragments, source: fragments}
    # file: fragments/motor.md
    ---
    fragment_id: family.motor
    version: 1
    kind: family
    load_mode: route_match
    applies_when: {product_family: [motor]}
    ---
    A motor claim is about one vehicle.
    # file: fragments/home.md
    ---
    fragment_id: family.home
    version: 1
    kind: family
    load_mode: route_match
    applies_when: {product_family: [home]}
    ---
    A buildings claim is about what is fixed.
    # file: tests/fixtures/f.yaml
    fixture_id: f
    template: t
    route: {product_family: motor}
    expect: {loaded: [family.motor], not_loaded: [familiy.home]}

Good:

    # file: templates/t.yaml
    template_id: t
    version: 1
    provider: text
    sections:
      - {id: fragments, source: fragments}
    # file: fragments/motor.md
    ---
    fragment_id: family.motor
    version: 1
    kind: family
    load_mode: route_match
    applies_when: {product_family: [motor]}
    ---
    A motor claim is about one vehicle.
    # file: fragments/home.md
    ---
    fragment_id: family.home
    version: 1
    kind: family
    load_mode: route_match
    applies_when: {product_family: [home]}
    ---
    A buildings claim is about what is fixed.
    # file: tests/fixtures/f.yaml
    fixture_id: f
    template: t
    route: {product_family: motor}
    expect: {loaded: [family.motor], not_loaded: [family.home]}

Mend: Write the id as it is defined.
"""

from __future__ import annotations

from collections.abc import Iterator

from ctxc.model.finding import Finding
from ctxc.model.fixture import Fixture
from ctxc.model.lookup import candidates
from ctxc.parse.problems import did_you_mean
from ctxc.rules._routes import newest
from ctxc.rules.engine import Context, rule

_IMPLICIT = frozenset({"contract", "tools", "user", "focus", "summary"})


def check(context: Context) -> Iterator[Finding]:
    """Names under ``loaded``, ``not_loaded``, ``dropped`` and ``required_evidence``."""
    for fixture in context.project.fixtures.values():
        expect = fixture.expect
        if not (expect.loaded or expect.not_loaded or expect.dropped or expect.required_evidence):
            continue
        if not candidates(context.project.templates, fixture.template):
            continue  # loading says so
        if "" in context.project.lost.get("fragment", ()):
            continue  # a broken file may define any fragment; loading says so
        records = _records(fixture)
        known = _names(context, fixture) | records
        for key, names, among in (
            ("loaded", expect.loaded, known),
            ("not_loaded", expect.not_loaded, known),
            ("dropped", expect.dropped, known),
            ("required_evidence", expect.required_evidence, records),
        ):
            for number, name in enumerate(names):
                if not _means_something(name, among, known):
                    what = "evidence" if key == "required_evidence" else "section, fragment or record"
                    yield RULE.finding(
                        context,
                        f"no {what} is called {name!r}{did_you_mean(name, among)}",
                        at=expect.origin.child(key, number),
                        help=f"evidence: {', '.join(sorted(records)) or 'none'}"
                        if key == "required_evidence"
                        else "write the id of a section, a fragment or a record",
                        fixture=fixture.id,
                        data={"key": key, "name": name},
                    )


def _means_something(name: str, among: set[str], known: set[str]) -> bool:
    slot, _, rest = name.partition("/")
    return name in among or (bool(rest) and slot in known and (rest in among or rest.isdigit()))


def _names(context: Context, fixture: Fixture) -> set[str]:
    """Sections of the template, fragments, and inputs that no section takes up."""
    template = candidates(context.project.templates, fixture.template)[-1]
    return {
        *_IMPLICIT,
        *(s.id for s in template.sections),
        *newest(context),
        *context.project.lost.get("fragment", ()),
        *fixture.inputs.values,
        *(k for k in ("history", "memory", "evidence", "tool_results", "handoff", "examples", "fragments")),
    }


def _records(fixture: Fixture) -> set[str]:
    inputs = fixture.inputs
    lists = (inputs.evidence, inputs.memory, inputs.tool_results, inputs.handoff, inputs.examples)
    return {r.id for records in lists for r in records}


RULE = rule(__name__, __doc__, check)
