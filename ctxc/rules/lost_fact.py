"""A shortened section that lost a fact it had to keep: a number, a date, an amount, a negation, a condition, an id.

Why: "Refunds are not paid after 30 days" and "refunds are paid" differ by a cut. What a section is said to support (its
claim, `supported_claims`, the fixture's `labels.must_keep`) is looked for in what is left of it, fact by fact, in any
of the ways to write it.

Bad:

    # file: templates/t.yaml
    template_id: t
    version: 1
    provider: text
    sections:
      - {id: policy, source: literal, text: Answer briefly.}
      - {id: evidence, source: retrieval, max_tokens: 90, overflow: "cut:head"}
    # file: tests/fixtures/f.yaml
    fixture_id: f
    template: t
    labels: {must_keep: [Refunds are paid within 30 days.]}
    inputs:
      evidence:
        - id: E1
          source: "kb://refunds"
          version: 3
          locator: "#2"
          text: "Refunds are paid within 30 days. The rest of this page is about other things, such as the opening hours
            of the desk, the forms that are needed for an exchange, and the places where goods can be handed in, which
            are listed by town and by day of the week for all of the regions that we serve."
    # file: policies/p.yaml
    policy_id: p
    version: 1
    gates: {regression: {fidelity: {floor: 1}}}

Good:

    # file: templates/t.yaml
    template_id: t
    version: 1
    provider: text
    sections:
      - {id: policy, source: literal, text: Answer briefly.}
      - {id: evidence, source: retrieval, max_tokens: 90, overflow: "cut:tail"}
    # file: tests/fixtures/f.yaml
    fixture_id: f
    template: t
    labels: {must_keep: [Refunds are paid within 30 days.]}
    inputs:
      evidence:
        - id: E1
          source: "kb://refunds"
          version: 3
          locator: "#2"
          text: "Refunds are paid within 30 days. The rest of this page is about other things, such as the opening hours
            of the desk, the forms that are needed for an exchange, and the places where goods can be handed in, which
            are listed by town and by day of the week for all of the regions that we serve."
    # file: policies/p.yaml
    policy_id: p
    version: 1
    gates: {regression: {fidelity: {floor: 1}}}

Mend: Choose a strategy that keeps what is supported (`cut:evidence`), give the section more room, or require it whole.
"""

from __future__ import annotations

from collections.abc import Iterator

from ctxc.model.finding import Finding
from ctxc.model.measured import Measured
from ctxc.rules._floors import judged
from ctxc.rules.engine import Context, rule


def fidelity_of(measured: Measured) -> tuple[int, int] | None:
    """How many facts of the shortened sections are kept, of how many that had to be; None where there are none."""
    total = sum(c.facts for c in measured.cuts)
    return (sum(c.kept for c in measured.cuts), total) if total else None


def check(context: Context) -> Iterator[Finding]:
    """Fixtures under the floor of fidelity, or under the base's by more than is allowed."""
    for found in judged(context, "fidelity", fidelity_of):
        lost = [(c.section, kind, text) for c in found.measured.cuts for kind, text in c.lost]
        named = ", ".join(f"{kind} {text!r} of {section}" for section, kind, text in lost[:3])
        yield found.finding(
            context,
            RULE,
            f"compression kept {found.shown} of the facts that had to stay; lost: {named}; {found.limit}",
            help="choose a strategy that keeps what is supported (`cut:evidence`), or give the section more room",
            data={"lost": [list(t) for t in lost]},
        )


RULE = rule(__name__, __doc__, check, needs="packages")
