"""A tool that takes anything: a free command, query or program, or every path.

Why: Whatever steers the model then steers the system behind it.

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
    [{"name": "run", "description": "Run any shell command.", "input_schema": {"type": "object",
     "properties": {"command": {"type": "string", "description": "Any shell command."}}, "required": ["command"]}}]

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
    [{"name": "restart", "description": "Restart one of our services.", "input_schema": {"type": "object",
     "properties": {"service": {"type": "string", "enum": ["web", "worker"]}}, "required": ["service"]}}]

Mend: Offer what is needed as tools or closed sets of values.
"""

from __future__ import annotations

from collections.abc import Iterator

from ctxc.model.finding import Finding
from ctxc.rules._tool_matches import of_tools
from ctxc.rules.engine import Context, rule


def check(context: Context) -> Iterator[Finding]:
    """Matches of T111 in every tool set."""
    return of_tools(RULE, context, ("T111",), "offer what is needed as tools of their own, or as closed sets of values")


RULE = rule(__name__, __doc__, check, detectors=("T111",), heuristic=True)
