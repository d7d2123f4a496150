"""A request most of whose evidence is none that its fixture calls relevant.

Why: What is beside the point costs tokens and attention, and a model that is shown it may use it. Precision is the
share of the shown evidence that the fixture labels (`required_evidence`, `relevant_evidence`).

Bad:

    # file: templates/t.yaml
    template_id: t
    version: 1
    provider: text
    sections:
      - {id: policy, source: literal, text: Answer briefly.}
      - {id: evidence, source: retrieval}
    # file: tests/fixtures/f.yaml
    fixture_id: f
    template: t
    labels: {relevant_evidence: [E1]}
    inputs:
      evidence:
        - {id: E1, source: "kb://refunds", version: 3, locator: "#2", text: Refunds take 30 days., relevance: 0.9}
        - {id: E2, source: "kb://weather", version: 1, locator: "#4", text: It rains in May., relevance: 0.1}
    # file: policies/p.yaml
    policy_id: p
    version: 1
    gates: {regression: {precision: {floor: 0.6}}}

Good:

    # file: templates/t.yaml
    template_id: t
    version: 1
    provider: text
    sections:
      - {id: policy, source: literal, text: Answer briefly.}
      - {id: evidence, source: retrieval, select: {top: 1}}
    # file: tests/fixtures/f.yaml
    fixture_id: f
    template: t
    labels: {relevant_evidence: [E1]}
    inputs:
      evidence:
        - {id: E1, source: "kb://refunds", version: 3, locator: "#2", text: Refunds take 30 days., relevance: 0.9}
        - {id: E2, source: "kb://weather", version: 1, locator: "#4", text: It rains in May., relevance: 0.1}
    # file: policies/p.yaml
    policy_id: p
    version: 1
    gates: {regression: {precision: {floor: 0.6}}}

Mend: Tighten `select` (a floor on the score, a count), or label what is relevant after all.
"""

from __future__ import annotations

from collections.abc import Iterator

from ctxc.model.finding import Finding
from ctxc.model.measured import Measured
from ctxc.rules._floors import judged
from ctxc.rules.engine import Context, rule


def precision_of(measured: Measured) -> tuple[int, int] | None:
    """How many of the shown records are labelled, of how many; None where nothing is labelled or shown."""
    return (measured.relevant, measured.shown) if measured.relevant is not None and measured.shown else None


def check(context: Context) -> Iterator[Finding]:
    """Fixtures under the floor of precision, or under the base's by more than is allowed."""
    for found in judged(context, "precision", precision_of):
        yield found.finding(
            context,
            RULE,
            f"context precision {found.shown} of the shown evidence is labelled as relevant; {found.limit}",
            help="tighten `select` of the section, or label what is relevant after all",
        )


RULE = rule(__name__, __doc__, check, needs="packages")
