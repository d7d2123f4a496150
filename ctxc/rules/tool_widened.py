"""A tool that may do more than at the base: another verb, an argument that is free now, a list of values that grew.

Why: What a tool may do was decided once, by somebody who read its definition. A definition that allows more was not
what they decided about, whatever its version says.

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
    # file: templates/desk.yaml
    toolset_id: desk
    version: 2
    tools:
      - {name: set_status, description: Set the status of an order., input_schema: {type: object, required: [status],
          properties: {status: {type: string, enum: [open, closed, deleted]}}}}
    # file: base/templates/desk.yaml
    toolset_id: desk
    version: 1
    tools:
      - {name: set_status, description: Set the status of an order., input_schema: {type: object, required: [status],
          properties: {status: {type: string, enum: [open, closed]}}}}

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
    # file: templates/desk.yaml
    toolset_id: desk
    version: 2
    tools:
      - {name: set_status, description: Set the status of one order., input_schema: {type: object, required: [status],
          properties: {status: {type: string, enum: [open, closed]}}}}
    # file: base/templates/desk.yaml
    toolset_id: desk
    version: 1
    tools:
      - {name: set_status, description: Set the status of an order., input_schema: {type: object, required: [status],
          properties: {status: {type: string, enum: [open, closed]}}}}

Mend: Decide whether it may, and say so by pinning the new definition in tools.lock.json.
"""

from __future__ import annotations

from collections.abc import Iterator

from ctxc.model.finding import Finding, Severity
from ctxc.rules._ground import settings, told
from ctxc.rules._pinned import named
from ctxc.rules.engine import Context, rule
from ctxc.rules.tool_changed import changes


def check(context: Context) -> Iterator[Finding]:
    """Places where a new definition allows more than the old one."""
    for policy, _ in settings(context, "tools"):
        for toolset, tool, match in changes(context):
            if match.detector.endswith("T118") and match.severity is Severity.ERROR:
                yield told(
                    context,
                    RULE,
                    policy,
                    ("tools",),
                    f"tool {tool.name!r} of {named(toolset)} may do more: {match.message}",
                    at=tool.origin,
                    help="decide whether it may, and say so by pinning the new definition in tools.lock.json",
                    data={"tool": tool.name, "toolset": named(toolset), "detector": "T118", "pointer": match.pointer},
                )


RULE = rule(__name__, __doc__, check, needs="change", detectors=["T118"])
