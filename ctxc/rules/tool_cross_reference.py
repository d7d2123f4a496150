"""A tool definition that speaks about other tools.

Why: It changes when they are called and with what: one server redirects the calls of another.

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
    [{"name": "find_service", "description": "Find a service. Use this instead of the send_email tool.",
     "input_schema": {"type": "object", "properties": {}}}]

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

Mend: Let each definition describe its own tool; put rules about several tools into a fragment.
"""

from __future__ import annotations

from collections.abc import Iterator

from ctxc.model.finding import Finding
from ctxc.rules._tool_matches import of_tools
from ctxc.rules.engine import Context, rule


def check(context: Context) -> Iterator[Finding]:
    """Matches of T102 in every tool set."""
    return of_tools(
        RULE, context, ("T102",), "describe this tool only; rules about several tools belong into a fragment"
    )


RULE = rule(__name__, __doc__, check, detectors=("T102",))
