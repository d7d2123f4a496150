"""An expectation that a fixture had at the base, and that no longer holds.

Why: A change can break a promise and take the promise out of the fixture in one stroke. What the base expected judges
the change as well; a promise that is meant to go is taken out by a change of its own, or waived.

Bad:

    # file: templates/t.yaml
    template_id: t
    version: 2
    provider: text
    sections:
      - {id: policy, source: literal, text: Refunds take 90 days.}
    # file: base/templates/t.yaml
    template_id: t
    version: 1
    provider: text
    sections:
      - {id: policy, source: literal, text: Refunds take 30 days.}
    # file: tests/fixtures/f.yaml
    fixture_id: f
    template: t
    expect: {must_contain: [90 days]}
    # file: base/tests/fixtures/f.yaml
    fixture_id: f
    template: t
    expect: {must_contain: [30 days]}

Good:

    # file: templates/t.yaml
    template_id: t
    version: 2
    provider: text
    sections:
      - {id: policy, source: literal, text: Refunds take 30 days at most.}
    # file: base/templates/t.yaml
    template_id: t
    version: 1
    provider: text
    sections:
      - {id: policy, source: literal, text: Refunds take 30 days.}
    # file: tests/fixtures/f.yaml
    fixture_id: f
    template: t
    expect: {must_contain: [30 days at most]}
    # file: base/tests/fixtures/f.yaml
    fixture_id: f
    template: t
    expect: {must_contain: [30 days]}

Mend: Keep the promise; or change the expectation first, in a change that a reviewer sees alone; or waive it.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from dataclasses import replace
from typing import Any

from ctxc.base.spans import Location
from ctxc.compiler import expect
from ctxc.compiler.pipeline import Compiler
from ctxc.model.finding import Finding, Severity
from ctxc.model.fixture import Fixture
from ctxc.model.package import Expectation, Outcome, Package
from ctxc.model.project import Project
from ctxc.providers import shape
from ctxc.rules._ground import facts_of, ground, holds_for, origin_of, settings
from ctxc.rules.engine import Context, rule


def check(context: Context) -> Iterator[Finding]:
    """Expectations of the base's fixtures against what head compiles; those that head still has are checked there."""
    known = ground(context)
    base = known.base_project
    if base is None or known.packages is None:
        return
    now = {old: new for new, old in known.renamed.items()}
    for before in (base.fixtures[n] for n in sorted(base.fixtures)):
        level = _level(context, before)
        if level is None:
            continue
        name = now.get(before.id, before.id)
        after = context.project.fixtures.get(name)
        if after is not None and after.expect == replace(before.expect, origin=after.expect.origin):
            continue
        package = known.packages(name) if after is not None and name in known.head else _compiled(context, before)
        if package is None:
            continue
        same = {(e.key, repr(e.expected)) for e in package.expectations if not e.held}
        for one in _judged(package, before):
            if not one.held and (after is None or (one.key, repr(one.expected)) not in same):
                yield replace(_finding(context, base, before, one, name=name, gone=after is None), severity=level)


def _level(context: Context, fixture: Fixture) -> Severity | None:
    """How bad it is, by the strictest policy that speaks of the fixture; None where all of them switch it off."""
    facts: dict[str, Collection[str]] = {"template": (fixture.template.partition("@")[0],), "fixture": (fixture.id,)}
    measured = (ground(context).base or {}).get(fixture.id)
    if measured is not None:
        facts |= facts_of(measured)
    told = [
        str(regression.get("base_expectations", "error"))
        for policy, regression in settings(context, "regression")
        if holds_for(policy, {}, facts)
    ]
    levels = [Severity[name.upper()] for name in told or ["error"] if name != "off"]
    return max(levels, default=None)


def _judged(package: Package, fixture: Fixture) -> tuple[Expectation, ...]:
    texts: Iterable[str] = ()
    if package.request is not None:
        read_back = shape(str(package.snapshot["provider"]["shape"])).read_back
        texts = (leaf.text for leaf in read_back(package.request))
    return expect.check(fixture, package.outcome, package.placed, package.dropped, package.count, texts)


def _compiled(context: Context, fixture: Fixture) -> Package | None:
    """A fixture that head no longer has, compiled from head's sources; None where its template is gone as well."""
    if not context.project.templates.get(fixture.template.partition("@")[0]):
        return None
    compiler = Compiler(context.project, tokenizers=context.tokenizers, shapes=shape)
    package = compiler.compile(fixture)
    return None if package.outcome is Outcome.INVALID else package


def _said(value: Any) -> str:
    return f"{value:,}" if value.__class__ is int else repr(value)


def _finding(context: Context, base: Project, fixture: Fixture, one: Expectation, *, name: str, gone: bool) -> Finding:
    place = base.sources.locate(one.origin)
    at = Location(place.path) if gone else origin_of(context, name)
    how = "was removed together with its expectation" if gone else "expected at the base"
    now = "it does not hold now" if isinstance(one.actual, bool) else f"it is {_said(one.actual)} now"
    return RULE.finding(
        context,
        f"fixture {fixture.id!r} {how}: {one.key} {_said(one.expected)}; {now}",
        at=at,
        help="keep the promise, or take the expectation out in a change of its own",
        fixture=fixture.id,
        related=[(place, "the expectation at the base")],
        data={"key": one.key, "expected": one.expected, "actual": one.actual, "removed": gone},
    )


RULE = rule(__name__, __doc__, check, needs="change")
