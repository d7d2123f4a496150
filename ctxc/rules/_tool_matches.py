"""What the detectors find in tool definitions, as findings at the place in the file."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

from ctxc.base.spans import Location, Origin
from ctxc.detect.match import Match
from ctxc.model.contract import ToolSet
from ctxc.model.finding import Finding, Severity
from ctxc.model.section import Tool
from ctxc.parse.spots import place_in_value
from ctxc.rules._tools import toolsets
from ctxc.rules.engine import Context, Rule

_SIZE = "tool.T114"
SCHEMA_KEYS = ("input_schema", "inputSchema", "parameters", "inputSchema/json")


class _Found(NamedTuple):
    match: Match
    tool: Tool
    origin: Origin


def of_tools(rule: Rule, context: Context, detectors: tuple[str, ...], help: str) -> Iterator[Finding]:
    """Findings of some detectors (``T101``) in every tool set; mere information only about sizes."""
    wanted = {f"tool.{d}" for d in detectors}
    for found in context.shared(_matches):
        match = found.match
        if match.detector in wanted and (match.severity > Severity.INFO or match.detector == _SIZE):
            yield rule.finding(
                context,
                f"tool {found.tool.name!r}: {match.message}",
                at=_place(context, found),
                help=help,
                severity=match.severity,
                data={"detector": match.detector, "tool": found.tool.name},
            )


def _matches(context: Context) -> tuple[_Found, ...]:
    from ctxc.detect.tools import find_in_toolset

    found = []
    for toolset in toolsets(context):
        definitions = [_definition(context, toolset, tool) for tool in toolset.tools]
        for match in find_in_toolset(definitions, key=context.key):
            _, number, rest = [*match.pointer.split("/", 2), ""][:3]
            tool = toolset.tools[int(number)]
            origin = Origin(tool.origin.path, tool.origin.pointer + (f"/{rest}" if rest else ""))
            found.append(_Found(match, tool, origin))
    return tuple(found)


def _definition(context: Context, toolset: ToolSet, tool: Tool) -> dict[str, Any]:
    """The definition with its schema under the key that the file has, so that pointers lead into the file."""
    key = schema_key(context, tool)
    schema: Any = {"json": tool.input_schema} if key == "inputSchema/json" else tool.input_schema
    made = {"name": tool.name, "description": tool.description, key.partition("/")[0]: schema, **tool.extra}
    if tool.strict is not None:
        made["strict"] = tool.strict
    return made


def schema_key(context: Context, tool: Tool) -> str:
    """Under which key the schema of a tool stands in its file."""
    places = getattr(context.project.sources, "places", None)
    known = places(tool.origin.path) if places is not None else {}
    return next((k for k in SCHEMA_KEYS if f"{tool.origin.pointer}/{k}" in known), SCHEMA_KEYS[0])


def _place(context: Context, found: _Found) -> Location:
    location = context.locate(found.origin)
    value: Any = found.tool.description if found.origin.pointer.endswith("/description") else None
    if isinstance(value, str) and found.match.end <= len(value):
        whole = context.text(location.path)
        span = place_in_value(whole, location.span, value, found.match.start, found.match.end)
        return location._replace(span=span)
    return location
