"""A tool's or contract's schema that a provider to which it is sent does not take.

Why: The whole request is refused because of one tool; or the schema is sent without `strict`, and the answer no
longer has to meet it.

Bad:

    # file: templates/t.yaml
    template_id: t
    version: 1
    provider: anthropic
    model: claude-sonnet-4-5
    sections:
      - {id: policy, source: literal, text: Answer briefly.}
      - {id: tools, source: templates/tools.json}
    # file: templates/tools.json
    [{"name": "pay", "description": "Pay an invoice.", "input_schema": {"oneOf": [{"type": "object"},
     {"type": "object"}]}}]

Good:

    # file: templates/t.yaml
    template_id: t
    version: 1
    provider: anthropic
    model: claude-sonnet-4-5
    sections:
      - {id: policy, source: literal, text: Answer briefly.}
      - {id: tools, source: templates/tools.json}
    # file: templates/tools.json
    [{"name": "pay", "description": "Pay an invoice.", "input_schema": {"type": "object",
     "properties": {"invoice": {"type": "string"}}}}]

Mend: Write what the message names in another way: alternatives inside a property, every object closed, every
property required.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from ctxc.base.spans import Origin
from ctxc.model.finding import Finding, Severity
from ctxc.model.lookup import candidates
from ctxc.providers._subset import complaints
from ctxc.rules._prefix import targets
from ctxc.rules._texts import templates
from ctxc.rules._tools import targets_of, toolsets
from ctxc.rules.engine import Context, rule

# Anthropic's server refuses these keywords at the top of an input schema, strict or not (public reports, 2025-12).
_NO_COMBINATORS_AT_ROOT = frozenset({"anthropic_messages", "bedrock_converse"})
_COMBINATORS = ("oneOf", "anyOf", "allOf")
_SHOWN = 3  # complaints in one message


def check(context: Context) -> Iterator[Finding]:
    """Input schemas of tools against every provider they are sent to; contracts against structured output."""
    for toolset in toolsets(context):
        for number, tool in enumerate(toolset.tools):
            for target in targets_of(context, toolset):
                found = list(_refused(tool.input_schema, target.provider.shape))
                if tool.strict and target.provider.schema_subset:
                    found += list(complaints(tool.input_schema, target.provider.schema_subset))
                if found:
                    yield _finding(
                        context,
                        f"tools[{number}] {tool.name}",
                        found,
                        target.provider.id,
                        _schema_place(context, tool.origin),
                    )
                    break
    yield from _contracts(context)


def _refused(schema: Mapping[str, Any], shape: str) -> Iterator[str]:
    combined = [c for c in _COMBINATORS if c in schema]
    if combined and shape in _NO_COMBINATORS_AT_ROOT:
        yield f"top-level {combined[0]} is not accepted"
    elif schema.get("type") != "object" and "$ref" not in schema:
        yield "the top level has to be an object (`type: object`)"


def _contracts(context: Context) -> Iterator[Finding]:
    told = set()
    for template in templates(context):
        names = [template.output_contract]
        names += [p.output_contract for p in candidates(context.project.profiles, template.request_profile)[-1:]]
        for contract in (c for n in names for c in candidates(context.project.contracts, n)[-1:]):
            for target in targets(context, template):
                if "json_schema" not in target.row.capabilities or contract.origin in told:
                    continue
                found = list(complaints(contract.schema, target.provider.schema_subset))
                if found:
                    told.add(contract.origin)
                    yield _finding(
                        context, f"contract {contract.id}", found, target.provider.id, contract.origin.child("schema"),
                        severity=Severity.WARNING,
                    )  # fmt: skip


def _schema_place(context: Context, tool: Origin) -> Origin:
    """The schema's own place, under whichever of its names the file has it."""
    whole = context.locate(tool).span
    for key in ("input_schema", "inputSchema", "parameters"):
        if context.locate(tool.child(key)).span != whole:
            return tool.child(key)
    return tool


def _finding(
    context: Context, what: str, found: list[str], provider: str, at: Origin, *, severity: Severity | None = None
) -> Finding:
    more = f" (and {len(found) - _SHOWN} more)" if len(found) > _SHOWN else ""
    return RULE.finding(
        context,
        f"{what}: {provider} does not take this schema: {'; '.join(found[:_SHOWN])}{more}",
        at=at,
        key=True,
        help="write it in another way; the message names the keyword and its place",
        severity=severity,
        data={"provider": provider, "complaints": found[:50]},
    )


RULE = rule(__name__, __doc__, check)
