"""An icon or link of a tool that is fetched from elsewhere, or that can hold a program.

Why: Whoever shows the catalogue of tools asks a host that the server named.

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
     "input_schema": {"type": "object", "properties": {}},
     "icons": [{"src": "https://cdn.partner.example/icon.png"}]}]

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
     "input_schema": {"type": "object", "properties": {}}}]

Mend: Remove it, or embed a small picture as `data:image/png`.
"""

from __future__ import annotations

from collections.abc import Iterator

from ctxc.model.finding import Finding
from ctxc.rules._tool_matches import of_tools
from ctxc.rules.engine import Context, rule


def check(context: Context) -> Iterator[Finding]:
    """Matches of T116 in every tool set."""
    return of_tools(RULE, context, ("T116",), "remove it, or embed a small picture")


RULE = rule(__name__, __doc__, check, detectors=("T116",))
