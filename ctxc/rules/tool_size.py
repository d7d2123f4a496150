"""A very long tool definition.

Why: It is paid for with every request, and some providers refuse descriptions of more than 1,024 characters.

Bad:

    # file: templates/t.yaml
    template_id: t
    version: 1
    provider: openai
    model: gpt-4.1
    sections:
      - {id: policy, source: literal, text: Answer briefly.}
      - {id: tools, source: templates/tools.yaml}
    # file: templates/tools.yaml
    toolset_id: services
    version: 1
    tools:
      - name: find_service
        description: >-
          Find a service near the place of loss that can repair, tow or assess the damage, and return it with its id.
          Find a service near the place of loss that can repair, tow or assess the damage, and return it with its id.
          Find a service near the place of loss that can repair, tow or assess the damage, and return it with its id.
          Find a service near the place of loss that can repair, tow or assess the damage, and return it with its id.
          Find a service near the place of loss that can repair, tow or assess the damage, and return it with its id.
          Find a service near the place of loss that can repair, tow or assess the damage, and return it with its id.
          Find a service near the place of loss that can repair, tow or assess the damage, and return it with its id.
          Find a service near the place of loss that can repair, tow or assess the damage, and return it with its id.
          Find a service near the place of loss that can repair, tow or assess the damage, and return it with its id.
          Find a service near the place of loss that can repair, tow or assess the damage, and return it with its id.
          Find a service near the place of loss that can repair, tow or assess the damage, and return it with its id.
        input_schema: {type: object}

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

Mend: Shorten it; move background into a fragment.
"""

from __future__ import annotations

from collections.abc import Iterator

from ctxc.model.finding import Finding
from ctxc.rules._tool_matches import of_tools
from ctxc.rules.engine import Context, rule


def check(context: Context) -> Iterator[Finding]:
    """Matches of T114 in every tool set."""
    return of_tools(RULE, context, ("T114",), "shorten it; background belongs into a fragment")


RULE = rule(__name__, __doc__, check, detectors=("T114",))
