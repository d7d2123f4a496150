"""A request that lacks evidence or constraints which its fixture says it needs.

Why: An answer can be right by luck without the evidence. Recall of the context looks at what the model was shown: of
what the fixture names (`expect.required_evidence`, `expect.must_contain`, `labels.required_evidence`,
`labels.constraints`), the share that is there.

Bad:

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
    labels: {required_evidence: [E1, E2]}
    inputs:
      evidence:
        - {id: E1, source: "kb://refunds", version: 3, locator: "#2", text: Refunds take 30 days., relevance: 0.9}
        - {id: E2, source: "kb://fees", version: 1, locator: "#4", text: The fee is 4 EUR., relevance: 0.4}
    # file: policies/p.yaml
    policy_id: p
    version: 1
    gates: {regression: {recall: {floor: 1}}}

Good:

    # file: templates/t.yaml
    template_id: t
    version: 1
    provider: text
    sections:
      - {id: policy, source: literal, text: Answer briefly.}
      - {id: evidence, source: retrieval, select: {top: 2}}
    # file: tests/fixtures/f.yaml
    fixture_id: f
    template: t
    labels: {required_evidence: [E1, E2]}
    inputs:
      evidence:
        - {id: E1, source: "kb://refunds", version: 3, locator: "#2", text: Refunds take 30 days., relevance: 0.9}
        - {id: E2, source: "kb://fees", version: 1, locator: "#4", text: The fee is 4 EUR., relevance: 0.4}
    # file: policies/p.yaml
    policy_id: p
    version: 1
    gates: {regression: {recall: {floor: 1}}}

Mend: `ctxc explain FIXTURE ID` shows where what is missing was left out, and what would bring it in.
"""

from __future__ import annotations

from collections.abc import Iterator

from ctxc.model.finding import Finding
from ctxc.model.measured import Measured
from ctxc.rules._floors import judged
from ctxc.rules.engine import Context, rule


def recall_of(measured: Measured) -> tuple[int, int] | None:
    """How many of the labelled pieces are there, of how many; None where nothing is labelled."""
    total = len(measured.labelled)
    return (total - len(measured.missing), total) if total else None


def check(context: Context) -> Iterator[Finding]:
    """Fixtures under the floor of recall, or under the base's by more than is allowed."""
    for found in judged(context, "recall", recall_of):
        missing = ", ".join(repr(m) for m in found.measured.missing[:5])
        yield found.finding(
            context,
            RULE,
            f"context recall {found.shown}: {missing} {'is' if len(found.measured.missing) == 1 else 'are'} not in the "
            f"request; {found.limit}",
            help=f"`ctxc explain {found.measured.fixture} ID` shows where it was left out",
            data={"missing": list(found.measured.missing)},
        )


RULE = rule(__name__, __doc__, check, needs="packages")
