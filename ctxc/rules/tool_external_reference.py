"""A schema of a tool that refers to something outside itself.

Why: It is never fetched, so the model does not see what it means; whoever does fetch it asks a host that somebody
else named.

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
    [{"name": "find_service", "description": "Find a service near the place of loss.",
     "input_schema": {"type": "object",
     "properties": {"claim": {"$ref": "https://schemas.partner.example/claim.json"}}}}]

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
    [{"name": "find_service", "description": "Find a service near the place of loss.",
     "input_schema": {"type": "object", "properties": {"claim": {"$ref": "#/$defs/claim"}},
     "$defs": {"claim": {"type": "string"}}}}]

Mend: Define it under `$defs` of the same schema.
"""

from __future__ import annotations

from collections.abc import Iterator

from ctxc.model.finding import Finding
from ctxc.rules._tool_matches import of_tools
from ctxc.rules.engine import Context, rule


def check(context: Context) -> Iterator[Finding]:
    """Matches of T110 in every tool set."""
    return of_tools(RULE, context, ("T110",), "define it under `$defs` of the same schema")


RULE = rule(__name__, __doc__, check, detectors=("T110",))
