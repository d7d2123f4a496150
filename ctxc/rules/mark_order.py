"""Cache marks written into tool definitions with a short life before a long one.

Why: Entries of one hour have to stand before those of five minutes, or the provider answers with an error 400.
(ctxc sets marks from `checkpoints`; a `cache_control` in a tool definition is not sent.)

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
    [{"name": "a", "description": "Find a service.", "input_schema": {"type": "object", "properties": {}},
     "cache_control": {"type": "ephemeral"}},
     {"name": "b", "description": "Book a service.", "input_schema": {"type": "object", "properties": {}},
     "cache_control": {"type": "ephemeral", "ttl": "1h"}}]

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
    [{"name": "a", "description": "Find a service.", "input_schema": {"type": "object", "properties": {}}},
     {"name": "b", "description": "Book a service.", "input_schema": {"type": "object", "properties": {}}}]

Mend: Remove the marks from the tool definitions and name checkpoints in the template; where requests are built
elsewhere, put the longest life first.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from ctxc.model.finding import Finding
from ctxc.rules._tools import toolsets
from ctxc.rules.engine import Context, rule

_MINUTES = {"5m": 5, "30m": 30, "1h": 60, "12h": 720, "24h": 1440}
_DEFAULT = "5m"
_KEYS = ("cache_control", "cachePoint", "cache_point", "prompt_cache_breakpoint")


def check(context: Context) -> Iterator[Finding]:
    """Marks in the definitions of a tool set, in their order."""
    for toolset in toolsets(context):
        shortest: tuple[int, str] | None = None
        for tool in toolset.tools:
            key = next((k for k in _KEYS if isinstance(tool.extra.get(k), Mapping)), "")
            if not key:
                continue
            life = str(tool.extra[key].get("ttl") or _DEFAULT)
            minutes = _MINUTES.get(life, 5)
            if shortest is not None and minutes > shortest[0]:
                yield RULE.finding(
                    context,
                    f"the mark on tool {tool.name!r} lives {life} and stands after one that lives {shortest[1]}",
                    at=tool.origin.child(key),
                    help="set marks with `checkpoints` of the template; elsewhere, the longest life stands first",
                    data={"tool": tool.name, "ttl": life},
                )
            if shortest is None or minutes < shortest[0]:
                shortest = (minutes, life)


RULE = rule(__name__, __doc__, check, detectors=("R5",))
