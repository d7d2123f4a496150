"""A record of evidence, memory, tool results or a hand-off that cannot be read.

Why: It would be dropped, and what depends on it would be missing from the request.

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
      evidence:
        - {id: E1, source: "kb://refunds", version: 3}

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
      evidence:
        - {id: E1, source: "kb://refunds", version: 3, locator: "#2", text: Refunds take 30 days.}

Mend: Give the record its content and values of the right form.
"""

from __future__ import annotations

from ctxc.rules.engine import rule

RULE = rule(__name__, __doc__, emitter="loading")
