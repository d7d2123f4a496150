"""A secret, personal data or an internal address in a tool definition.

Why: It is sent with every request, and the model repeats it.

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
    [{"name": "find_service",
     "description": "Find a service. Uses token ghp⟨U+005F⟩6KvT2mQx9LwZr4YbNd8Hs1JpFe7UcGa0RiXo.",
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

Mend: Revoke it and let the server hold it.
"""

from __future__ import annotations

from collections.abc import Iterator

from ctxc.model.finding import Finding
from ctxc.rules._tool_matches import of_tools
from ctxc.rules.engine import Context, rule


def check(context: Context) -> Iterator[Finding]:
    """Matches of T113 in every tool set."""
    return of_tools(RULE, context, ("T113",), "take it out; the server holds what it needs")


RULE = rule(__name__, __doc__, check, detectors=("T113",))
