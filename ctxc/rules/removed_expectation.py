"""An expectation that a fixture had at the base, and that it no longer states, or a bound that it raises.

Why: The base's expectations judge this change, and its own judge the next one: what is taken out while it still holds
can be broken later, and nothing turns red.

Bad:

    # file: templates/t.yaml
    template_id: t
    version: 1
    provider: text
    sections:
      - {id: policy, source: literal, text: Refunds take 30 days.}
    # file: tests/fixtures/f.yaml
    fixture_id: f
    template: t
    expect: {outcome: compiled}
    # file: base/tests/fixtures/f.yaml
    fixture_id: f
    template: t
    expect: {outcome: compiled, must_contain: [30 days]}

Good:

    # file: templates/t.yaml
    template_id: t
    version: 1
    provider: text
    sections:
      - {id: policy, source: literal, text: Refunds take 30 days.}
    # file: tests/fixtures/f.yaml
    fixture_id: f
    template: t
    expect: {outcome: compiled, must_contain: [30 days.]}
    # file: base/tests/fixtures/f.yaml
    fixture_id: f
    template: t
    expect: {outcome: compiled, must_contain: [30 days]}

Mend: Keep it, put another in its place, or say in the change why it need not hold any more.
"""

from __future__ import annotations

from collections.abc import Iterator

from ctxc.model.finding import Finding
from ctxc.model.fixture import Expect
from ctxc.rules._ground import ground
from ctxc.rules.engine import Context, rule


def check(context: Context) -> Iterator[Finding]:
    """Fixtures that state less than they did; where another of its kind takes its place, as much is stated."""
    known = ground(context)
    if not known.may_touch({fixture.origin.path for fixture in context.project.fixtures.values()}):
        return
    base = known.base_project
    if base is None:
        return
    for name, after in sorted(context.project.fixtures.items()):
        before = base.fixtures.get(known.renamed.get(name, name))
        if before is None or before.expect == after.expect:
            continue
        most, now = before.expect.max_input_tokens, after.expect.max_input_tokens
        if most is not None and now is not None and now > most:
            yield RULE.finding(
                context,
                f"fixture {name!r} expects at most {now:,} input tokens in place of {most:,}",
                at=after.origin.child("expect", "max_input_tokens"),
                help="raise it in the change that needs it, or say why it may be more",
                fixture=name,
                related=[(base.sources.locate(before.expect.origin), "the expectation at the base")],
                data={"key": "max_input_tokens", "base": most, "head": now},
            )
        for key in sorted(before.expect.stated):
            gone = _taken_out(key, before.expect, after.expect)
            if gone is not None:
                words = "".join(f" {item!r}," for item in gone).rstrip(",")
                yield RULE.finding(
                    context,
                    f"fixture {name!r} no longer expects `{key}`{words}, which nothing checks from now on",
                    at=after.origin,
                    help="keep it, put another in its place, or say in the change why it need not hold any more",
                    fixture=name,
                    related=[(base.sources.locate(before.expect.origin), "the expectation at the base")],
                    data={"key": key, "removed": list(gone)},
                )


def _taken_out(key: str, before: Expect, after: Expect) -> tuple[str, ...] | None:
    """What is gone: items of a list that became shorter, nothing more than the key itself for a single value."""
    had = getattr(before, key)
    if not isinstance(had, tuple):
        return () if key not in after.stated else None
    has = getattr(after, key)
    gone = tuple(item for item in had if item not in has)
    return gone if gone and len(has) < len(had) else None


RULE = rule(__name__, __doc__, check, needs="change")
