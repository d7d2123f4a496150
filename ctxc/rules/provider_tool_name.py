"""A tool name that a provider to which it is sent does not take.

Why: Providers allow letters, digits, `_` and `-`, mostly 64 of them. ctxc sends a legal name in its place, so that
logs, evaluations and the server then speak of a tool that is called differently.

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
    [{"name": "find service", "description": "Find a service.", "input_schema": {"type": "object", "properties": {}}}]

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
    [{"name": "find_service", "description": "Find a service.", "input_schema": {"type": "object", "properties": {}}}]

Mend: Rename the tool; a server's prefix and the tool's name count together.
"""

from __future__ import annotations

from collections.abc import Iterator

from ctxc.model.contract import ToolSet
from ctxc.model.finding import Finding
from ctxc.model.section import Tool
from ctxc.providers._names import NameRule, rule_from
from ctxc.rules._tools import targets_of, toolsets
from ctxc.rules.engine import Context, rule

_USUAL = NameRule(extra="_-", max=64)


def check(context: Context) -> Iterator[Finding]:
    """Names of tools, alone and with their namespace, against each provider's rule."""
    for toolset in toolsets(context):
        for tool in toolset.tools:
            found = _refused(context, toolset, tool)
            if found is not None:
                yield found


def _refused(context: Context, toolset: ToolSet, tool: Tool) -> Finding | None:
    for target in targets_of(context, toolset):
        rule_of = rule_from(target.provider.limits, "tool_name", _USUAL)
        legal = rule_of.legal(tool.name)
        full = f"{toolset.namespace}__{tool.name}" if toolset.namespace else tool.name
        if legal != tool.name:
            what = (
                f"the tool name has {len(tool.name):,} characters; {target.provider.id} takes {rule_of.max}"
                if len(tool.name) > rule_of.max
                else f"{target.provider.id} does not take the tool name {tool.name!r}"
            )
            message = f"{what}; {legal} is sent in its place"
        elif len(full) > rule_of.max:
            message = (
                f"with its namespace the tool name has {len(full):,} characters; "
                f"{target.provider.id} takes {rule_of.max}"
            )
        else:
            continue
        return RULE.finding(
            context,
            message,
            at=tool.origin.child("name"),
            help=f"rename it: letters, digits, _ and -, at most {rule_of.max}",
            data={"name": tool.name, "length": len(full), "limit": rule_of.max, "sent_as": legal,
                  "provider": target.provider.id},
        )  # fmt: skip
    return None


RULE = rule(__name__, __doc__, check)
