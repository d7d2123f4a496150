"""A parameter of a tool without a description.

Why: The model has to guess its unit, its form, and where its value comes from.

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
    [{"name": "find_service", "description": "Find a service.", "input_schema": {"type": "object",
     "properties": {"radius": {"type": "number"}}}}]

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
    [{"name": "find_service", "description": "Find a service.", "input_schema": {"type": "object",
     "properties": {"radius": {"type": "number", "description": "Kilometres from the place of loss."}}}}]

Mend: Describe it in a few words.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from ctxc.model.finding import Finding
from ctxc.rules._tools import toolsets
from ctxc.rules.engine import Context, rule


def check(context: Context) -> Iterator[Finding]:
    """Direct parameters of tools; a reference and a closed set of values describe themselves."""
    for toolset in toolsets(context):
        for tool in toolset.tools:
            properties = tool.input_schema.get("properties")
            if not isinstance(properties, Mapping):
                continue
            bare = [
                name
                for name, schema in properties.items()
                if isinstance(schema, Mapping)
                and not (schema.get("description") or schema.get("title") or "$ref" in schema or "enum" in schema)
            ]
            if bare:
                yield RULE.finding(
                    context,
                    f"tool {tool.name!r} does not describe {', '.join(map(repr, bare[:5]))}"
                    + (f" and {len(bare) - 5} more parameters" if len(bare) > 5 else ""),
                    at=tool.origin.child("name"),
                    help="add `description:` to each",
                    data={"parameters": bare},
                )


RULE = rule(__name__, __doc__, check, tier="strict")
