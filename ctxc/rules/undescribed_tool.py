"""A tool without a description.

Why: The model chooses a tool by its description; a bare name is called too often, or never.

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
    [{"name": "find_service", "input_schema": {"type": "object", "properties": {}}}]

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

Mend: Say what the tool does, when to use it and when not.
"""

from __future__ import annotations

from collections.abc import Iterator

from ctxc.model.finding import Finding
from ctxc.rules._tools import toolsets
from ctxc.rules.engine import Context, rule


def check(context: Context) -> Iterator[Finding]:
    """Tools without any description."""
    for toolset in toolsets(context):
        for tool in toolset.tools:
            if not tool.description.strip():
                yield RULE.finding(
                    context,
                    f"tool {tool.name!r} has no description",
                    at=tool.origin.child("name"),
                    help="add `description:`: what it does, when to use it and when not",
                )


RULE = rule(__name__, __doc__, check)
