"""Tools as they are pinned: the whole definition as the server gave it, by tool set and name."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from ctxc.detect.tool_definition import definition_digest
from ctxc.model.contract import ToolSet
from ctxc.model.project import Project
from ctxc.model.section import Tool


def definition(tool: Tool) -> dict[str, Any]:
    """A tool as a definition in MCP's keys, with the fields that no provider sees."""
    found: dict[str, Any] = {"name": tool.name}
    if tool.description:
        found["description"] = tool.description
    found["inputSchema"] = tool.input_schema
    return {**found, **{k: v for k, v in tool.extra.items() if k not in found}}


def digest_of(tool: Tool) -> str:
    """64 hex digits over name, title, description, schemas, annotations and icons; nothing is normalised."""
    return definition_digest(definition(tool)).removeprefix("sha256:")


def each_tool(project: Project) -> Iterator[tuple[ToolSet, Tool]]:
    """Every tool of the newest version of every tool set, by set and name."""
    seen: set[str] = set()
    for _, versions in sorted(project.toolsets.items()):
        toolset = versions[-1]
        if toolset.origin.path in seen:
            continue  # a file that a section names by path is listed under its id as well
        seen.add(toolset.origin.path)
        for tool in sorted(toolset.tools, key=lambda t: t.name):
            yield toolset, tool


def named(toolset: ToolSet) -> str:
    """The name under which a set is pinned: its id, or the path of a file that has none."""
    return toolset.id or toolset.origin.path


def by_name(toolset: ToolSet) -> Mapping[str, Tool]:
    """The tools of a set by name."""
    return {t.name: t for t in toolset.tools}
