"""A tool whose definition is not the one that `tools.lock.json` holds, or that the lock does not know.

Why: The lock says which definitions somebody read and approved, by the digest of every field that a model or a host
sees. A tool that is not in it was read by nobody.

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
    gates: {tools: {pins: require}}
    # file: tools.lock.json
    {"schema": "ctxc.tools-lock/1", "tools": []}
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
    gates: {tools: {pins: require}}
    # file: tools.lock.json
    {"schema": "ctxc.tools-lock/1", "tools": [{"toolset": "desk", "name": "find_order", "version": "1",
      "sha256": "2f5cf4034cfb02c99aef7eac53ab99d2a61cda6ccf6cac0c89816357a741546b", "approved_by": "security"}]}
    # file: templates/desk.yaml
    toolset_id: desk
    version: 1
    tools:
      - {name: find_order, description: Find an order., input_schema: {type: object, properties: {}}}

Mend: Read the definition, then pin it: `ctxc gate --update-locks`.
"""

from __future__ import annotations

from collections.abc import Iterator

from ctxc.base.spans import Location
from ctxc.model.finding import Finding
from ctxc.rules._ground import ground, judged_by_base, settings, told
from ctxc.rules._locks import TOOLS, read_tools
from ctxc.rules._pinned import digest_of, each_tool, named
from ctxc.rules.engine import Context, rule

_FIRST = f"bring {TOOLS} in a change of its own, in which somebody approves the definition; the tool comes after it"


def check(context: Context) -> Iterator[Finding]:
    """Tools without a pin where pins are required, tools unlike their pin, and a lock that cannot be read."""
    help = "read the definition, then pin it: `ctxc gate --update-locks`"
    lock = ground(context).tools
    own = read_tools(context.tree) if judged_by_base(context) else None
    for policy, tools in settings(context, "tools"):
        required = tools.get("pins", "known") == "require"
        keys = ("tools", "pins") if "pins" in tools else ("tools",)
        if lock is not None and lock.fault:
            message = f"{TOOLS} cannot be read: {lock.fault}"
            yield told(context, RULE, policy, keys, message, at=lock.at(), help="mend it, or restore it from git")
            continue
        if lock is None and required:
            message = f"the policy asks for {TOOLS}: there is none"
            yield told(context, RULE, policy, keys, message, at=Location(TOOLS), help=help)
            continue
        for toolset, tool in each_tool(context.project):
            pins = lock.pins.get((named(toolset), tool.name), ()) if lock is not None else ()
            digest = digest_of(tool)
            key = named(toolset), tool.name
            if any(pin.digest == digest for pin in pins) or not (pins or required):
                continue
            what = "is not the definition that was approved" if pins else "is not pinned"
            brought = any(pin.digest == digest for pin in own.pins.get(key, ())) if own is not None else False
            if brought:
                what += " at the base, whose lock judges; this change pins it itself"
            yield told(
                context,
                RULE,
                policy,
                keys,
                f"tool {tool.name!r} of {named(toolset)} {what}",
                at=tool.origin,
                help=_FIRST if brought else help,
                related=[(lock.at(named(toolset), tool.name), "the lock")] if pins and lock is not None else (),
                data={"tool": tool.name, "toolset": named(toolset), "sha256": digest},
            )


RULE = rule(__name__, __doc__, check, needs="packages", detectors=["T117"])
