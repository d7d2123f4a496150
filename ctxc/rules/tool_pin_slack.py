"""A pin of `tools.lock.json` for a tool that no tool set has any more.

Why: A definition that stays approved can come back without anybody reading it again.

Bad:

    # file: templates/t.yaml
    template_id: t
    version: 1
    provider: openai
    model: gpt-4.1
    request_profile: p
    budget: {output_reserve: 800, ceiling: 4000}
    sections:
      - {id: policy, source: literal, text: Answer briefly.}
      - {id: user, source: runtime}
    # file: templates/p.yaml
    profile_id: p
    version: 1
    toolset: desk
    # file: tests/fixtures/f.yaml
    fixture_id: f
    template: t
    inputs: {user: When is the refund due?}
    # file: policies/p.yaml
    policy_id: p
    version: 1
    gates: {tools: true}
    # file: tools.lock.json
    {"schema": "ctxc.tools-lock/1", "tools": [{"toolset": "desk", "name": "delete_order", "version": "1",
      "sha256": "0000000000000000000000000000000000000000000000000000000000000000"}]}
    # file: templates/desk.yaml
    toolset_id: desk
    version: 1
    tools:
      - {name: find_order, description: Find an order., input_schema: {type: object, properties: {}}}

Good:

    # file: templates/t.yaml
    template_id: t
    version: 1
    provider: openai
    model: gpt-4.1
    request_profile: p
    budget: {output_reserve: 800, ceiling: 4000}
    sections:
      - {id: policy, source: literal, text: Answer briefly.}
      - {id: user, source: runtime}
    # file: templates/p.yaml
    profile_id: p
    version: 1
    toolset: desk
    # file: tests/fixtures/f.yaml
    fixture_id: f
    template: t
    inputs: {user: When is the refund due?}
    # file: policies/p.yaml
    policy_id: p
    version: 1
    gates: {tools: true}
    # file: tools.lock.json
    {"schema": "ctxc.tools-lock/1", "tools": []}
    # file: templates/desk.yaml
    toolset_id: desk
    version: 1
    tools:
      - {name: find_order, description: Find an order., input_schema: {type: object, properties: {}}}

Mend: `ctxc gate --update-locks` takes it out.
"""

from __future__ import annotations

from collections.abc import Iterator

from ctxc.model.finding import Finding
from ctxc.rules._ground import ground, settings, told
from ctxc.rules._locks import TOOLS
from ctxc.rules._pinned import each_tool, named
from ctxc.rules.engine import Context, rule


def check(context: Context) -> Iterator[Finding]:
    """Pins of tools that are not there."""
    lock = ground(context).tools
    if lock is None or lock.fault:
        return
    known = {(named(toolset), tool.name) for toolset, tool in each_tool(context.project)}
    for policy, _ in settings(context, "tools"):
        for toolset_name, name in sorted(lock.pins.keys() - known):
            yield told(
                context,
                RULE,
                policy,
                ("tools",),
                f"{TOOLS} pins {name!r} of {toolset_name}, and there is no such tool",
                at=lock.at(toolset_name, name),
                help="`ctxc gate --update-locks` takes it out; a pin for a tool that comes in the next change may stay",
                data={"tool": name, "toolset": toolset_name},
            )


RULE = rule(__name__, __doc__, check, needs="packages")
