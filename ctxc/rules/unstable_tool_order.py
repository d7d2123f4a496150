"""A tool set that keeps the order in which a server lists its tools.

Why: Servers list tools in the order of a hash table, of a reconnect, of a file system. Every other order is another
prefix, and the whole cache is lost (six public reports, one of 1.84 million tokens).

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
    toolset_id: house_tools
    version: 1
    order: given
    mcp: tools_list.json
    # file: templates/tools_list.json
    {"tools": [{"name": "b", "description": "Book a service.", "inputSchema": {"type": "object"}},
     {"name": "a", "description": "Find a service.", "inputSchema": {"type": "object"}}]}

Good:

    # file: templates/t.yaml
    template_id: t
    version: 1
    provider: openai
    model: gpt-4.1
    sections:
      - {id: policy, source: literal, text: Answer briefly.}
      - {id: tools, source: templates/tools.yaml}
    # file: templates/tools.yaml
    toolset_id: house_tools
    version: 1
    order: name
    mcp: tools_list.json
    # file: templates/tools_list.json
    {"tools": [{"name": "b", "description": "Book a service.", "inputSchema": {"type": "object"}},
     {"name": "a", "description": "Find a service.", "inputSchema": {"type": "object"}}]}

Mend: Leave `order` out, or write `order: name`.
"""

from __future__ import annotations

from collections.abc import Iterator

from ctxc.model.finding import Edit, Finding, Fix
from ctxc.rules._tools import toolsets
from ctxc.rules.engine import Context, rule


def check(context: Context) -> Iterator[Finding]:
    """Tool sets that are read from a server's answer and keep its order."""
    for toolset in toolsets(context):
        if toolset.mcp and toolset.order == "given":
            yield RULE.finding(
                context,
                f"tool set {toolset.id!r} keeps the order of {toolset.mcp}, which is the server's",
                at=toolset.origin.child("order"),
                help="write `order: name`",
            )


def mend(context: Context, finding: Finding) -> Fix | None:
    """Order by name; a model then reads the tools in another order, so the fix is not a safe one."""
    return Fix(title="order the tools by name", edits=(Edit(location=finding.location, text="name"),), safe=False)


RULE = rule(__name__, __doc__, check, fix=mend, fixable="unsafe", detectors=("R2",))
