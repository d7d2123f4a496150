"""Annotations that contradict the tool's name.

Why: A host that asks for consent by `readOnlyHint` does not ask before something is deleted.

Bad:

    # file: templates/t.yaml
    template_id: t
    version: 1
    provider: openai
    model: gpt-4.1
    sections:
      - {id: policy, source: literal, text: Answer briefly.}
      - {id: tools, source: templates/tools.json}
    # file: templates/tools.json
    [{"name": "delete_claim", "description": "Delete a claim.", "input_schema": {"type": "object",
     "properties": {}}, "annotations": {"readOnlyHint": true}}]

Good:

    # file: templates/t.yaml
    template_id: t
    version: 1
    provider: openai
    model: gpt-4.1
    sections:
      - {id: policy, source: literal, text: Answer briefly.}
      - {id: tools, source: templates/tools.json}
    # file: templates/tools.json
    [{"name": "delete_claim", "description": "Delete a claim.", "input_schema": {"type": "object",
     "properties": {}}, "annotations": {"destructiveHint": true}}]

Mend: Correct the hint.
"""

from __future__ import annotations

from collections.abc import Iterator

from ctxc.model.finding import Finding
from ctxc.rules._tool_matches import of_tools
from ctxc.rules.engine import Context, rule


def check(context: Context) -> Iterator[Finding]:
    """Matches of T109 in every tool set."""
    return of_tools(RULE, context, ("T109",), "correct the hint")


RULE = rule(__name__, __doc__, check, detectors=("T109",))
