"""A fixture that expects something and its opposite.

Why: It can never hold, or one half of it is never looked at.

Bad:

    # file: templates/t.yaml
    template_id: t
    version: 1
    provider: text
    sections:
      - {id: policy, source: literal, text: Answer briefly.}
    # file: tests/fixtures/f.yaml
    fixture_id: f
    template: t
    expect: {must_contain: [Answer briefly], must_not_contain: [Answer briefly]}

Good:

    # file: templates/t.yaml
    template_id: t
    version: 1
    provider: text
    sections:
      - {id: policy, source: literal, text: Answer briefly.}
    # file: tests/fixtures/f.yaml
    fixture_id: f
    template: t
    expect: {must_contain: [Answer briefly], must_not_contain: [Answer at length]}

Mend: Remove one side.
"""

from __future__ import annotations

from collections.abc import Iterator

from ctxc.model.finding import Finding
from ctxc.rules.engine import Context, rule

_NO_REQUEST = frozenset({"budget_exceeded", "model_not_required", "capability_missing", "invalid"})


def check(context: Context) -> Iterator[Finding]:
    """Names on both sides, and expectations of a request that is expected not to be made."""
    for fixture in context.project.fixtures.values():
        expect = fixture.expect
        for one, other in (("loaded", "not_loaded"), ("loaded", "dropped"), ("must_contain", "must_not_contain"),
                           ("required_evidence", "not_loaded")):  # fmt: skip
            mine: tuple[str, ...] = getattr(expect, one)
            for number, name in enumerate(getattr(expect, other)):
                if name in mine:
                    yield RULE.finding(
                        context,
                        f"{name!r} stands under `{one}` and under `{other}`",
                        at=expect.origin.child(other, number),
                        help="remove one of them",
                        fixture=fixture.id,
                        related=[(expect.origin.child(one, mine.index(name)), f"under {one}")],
                    )
        # A fragment may be expected whatever the outcome; what the request contains may not, without a request.
        texts = [k for k in ("must_contain", "must_not_contain", "max_input_tokens") if k in expect.stated]
        if expect.outcome in _NO_REQUEST and texts:
            yield RULE.finding(
                context,
                f"`{texts[0]}` is never looked at: with the outcome {expect.outcome} no request is made",
                at=expect.origin.child(texts[0]),
                key=True,
                help="remove it, or expect the outcome compiled",
                fixture=fixture.id,
            )


RULE = rule(__name__, __doc__, check)
