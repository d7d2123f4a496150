"""A tool that a policy does not allow, by name.

Why: A tool set that comes from a server grows by itself. What a model may be offered is decided here.

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
    gates: {tools: {allow: ["find_*"]}}
    # file: templates/desk.yaml
    toolset_id: desk
    version: 1
    tools:
      - {name: delete_order, description: Delete an order., input_schema: {type: object, properties: {}}}

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
    gates: {tools: {allow: ["find_*"]}}
    # file: templates/desk.yaml
    toolset_id: desk
    version: 1
    tools:
      - {name: find_order, description: Find an order., input_schema: {type: object, properties: {}}}

Mend: Take the tool out of the set, or allow it in a change of its own.
"""

from __future__ import annotations

from collections.abc import Iterator
from fnmatch import fnmatchcase

from ctxc.model.finding import Finding
from ctxc.rules._ground import settings, told
from ctxc.rules._pinned import each_tool, named
from ctxc.rules.engine import Context, rule


def check(context: Context) -> Iterator[Finding]:
    """Tools that no pattern of the allow-list names, and tools that one of the deny-list does."""
    for policy, tools in settings(context, "tools"):
        allow, deny = tools.get("allow"), tools.get("deny", ())
        for toolset, tool in each_tool(context.project):
            denied = any(fnmatchcase(tool.name, p) for p in deny)
            if not denied and (allow is None or any(fnmatchcase(tool.name, p) for p in allow)):
                continue
            yield told(
                context,
                RULE,
                policy,
                ("tools", "deny" if denied else "allow"),
                f"tool {tool.name!r} of {named(toolset)} is {'denied' if denied else 'not allowed'}",
                at=tool.origin,
                help="take it out of the set, or allow it in a change of its own",
                data={"tool": tool.name, "toolset": named(toolset), "detector": "T119"},
            )


RULE = rule(__name__, __doc__, check, needs="packages", detectors=["T119"])
