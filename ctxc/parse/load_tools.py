"""Tool definitions in OpenAI's, Anthropic's, Bedrock's, Gemini's and MCP's form, as one shape."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ctxc.base.canonical import digest_json
from ctxc.base.spans import Origin
from ctxc.model.contract import ToolSet
from ctxc.model.section import Tool
from ctxc.parse.context import File, Shared, child, text_of
from ctxc.parse.problems import Problem, nearest, shown

_SCHEMA_KEYS = ("input_schema", "inputSchema", "parameters")
_OWN = ("name", "description", "strict", *_SCHEMA_KEYS)
_FORMS = "a list of tools, `{tools: [...]}`, or an MCP `tools/list` answer"


def read_toolset(value: dict[str, Any], file: File) -> ToolSet | None:
    """A tool set file; its tools stand in it or in the MCP answer that it names. None where they cannot be read."""
    tools: tuple[Tool, ...] | None = ()
    mcp = ""
    if "mcp" in value and "tools" in value:
        file.problem("bad-value", "the tool set has both `tools` and `mcp`", "keep one of them", at="/mcp", key=True)
    elif "mcp" in value:
        mcp = file.file_beside(value["mcp"], "/mcp")
        if mcp:
            file.shared.read_with[file.path] = mcp
            tools = read_tool_file(mcp, file)
    elif "tools" in value:
        tools = read_tools(value["tools"], file, "/tools")
    else:
        file.problem("missing-key", "the tool set has neither `tools` nor `mcp`", "add `tools: [...]`")
    if tools is None:
        return None
    namespace = text_of(value.get("namespace"))
    order = value.get("order", "name")
    return ToolSet(
        id=value["toolset_id"],
        version=text_of(value.get("version")),
        tools=tools,
        namespace=namespace,
        order=order,
        content_hash=_digest(tools, namespace, order),
        mcp=mcp,
        origin=file.origin(),
    )


def toolset_of_file(path: str, shared: Shared) -> ToolSet | None:
    """The tool set of a plain tools file that a template's section names; None where not all of it can be read.

    A set with the tools that happen to be in order would be sent in place of the one that was meant.
    """
    document = shared.recorded(path)
    if document is None:
        return None
    before = shared.error_count  # of all files: the list that `mcp` names is part of it
    here = File(path, shared)
    value = document.value
    if isinstance(value, dict) and "toolset_id" in value:
        problems: list[Problem] = []
        value = shared.validator("toolset").check(value, problems)
        for problem in problems:
            shared.report(path, problem)
        if any(p.is_error for p in problems):
            return None
        toolset = read_toolset(value, here)
        return toolset if shared.error_count == before else None
    tools = read_tool_file(path, here)
    if tools is None or shared.error_count != before:
        return None
    return ToolSet(
        id=path, version="", tools=tools, order="name", content_hash=_digest(tools, "", "name"), origin=Origin(path)
    )


def _digest(tools: tuple[Tool, ...], namespace: str, order: str) -> str:
    listed = [[t.name, t.description, t.input_schema, t.strict, dict(t.extra)] for t in tools]
    return digest_json([namespace, order, listed])


def read_tool_file(path: str, file: File) -> tuple[Tool, ...] | None:
    """The tools of a file in any of the forms; None where the file holds none (which is reported)."""
    from ctxc.parse.scalars import typed

    document = file.shared.recorded(path)
    if document is None:
        return None
    here = File(path, file.shared)
    value, at = typed(document.value), ""
    if isinstance(value, dict):
        for key in ("result", "params"):  # a JSON-RPC answer
            if isinstance(value.get(key), dict) and "tools" in value[key]:
                value, at = value[key], child(at, key)
        if isinstance(value.get("toolConfig"), dict):  # Bedrock
            value, at = value["toolConfig"], child(at, "toolConfig")
        if "tools" in value:
            value, at = value["tools"], child(at, "tools")
    if not isinstance(value, list):
        here.problem("wrong-type", "the file holds no tool definitions", f"expected {_FORMS}", at=at)
        return None
    return read_tools(value, here, at)


def read_tools(items: list[Any], file: File, pointer: str) -> tuple[Tool, ...]:
    """The tools of a list; what cannot be read is reported at its place and left out."""
    found: list[Tool] = []
    names: dict[str, str] = {}
    for number, item in enumerate(items):
        for definition, at in _unwrapped(item, child(pointer, number)):
            tool = _read(definition, file, at)
            if tool is None:
                continue
            if tool.name in names:
                file.problem(
                    "duplicate-tool",
                    f"two tools are called {shown(tool.name)}",
                    "give one another name: a model calls tools by name",
                    at=child(at, "name"),
                )
                continue
            names[tool.name] = at
            found.append(tool)
    return tuple(found)


def _unwrapped(item: Any, at: str) -> Iterator[tuple[Any, str]]:
    """The definition inside OpenAI's ``function``, Bedrock's ``toolSpec`` or Gemini's ``functionDeclarations``."""
    if isinstance(item, dict):
        for key in ("function", "toolSpec"):
            if isinstance(item.get(key), dict):
                yield item[key], child(at, key)
                return
        for key in ("functionDeclarations", "function_declarations"):
            if isinstance(item.get(key), list):
                for number, inner in enumerate(item[key]):
                    yield inner, child(at, key, number)
                return
    yield item, at


def _read(item: Any, file: File, at: str) -> Tool | None:
    if not isinstance(item, dict):
        file.problem("wrong-type", f"expected a tool, found {shown(str(item))}", "write a mapping", at=at)
        return None
    name = item.get("name")
    kind = item.get("type")
    if (
        isinstance(kind, str)
        and kind not in ("function", "custom", "object")
        and not any(k in item for k in _SCHEMA_KEYS)
    ):
        file.problem(
            "bad-value",
            f"{shown(str(kind))} is a tool of the provider's own; its definition is not known here",
            "list only tools whose definition the model is shown",
            at=child(at, "type"),
        )
        return None
    if not isinstance(name, str) or not name:
        file.problem("missing-key", "the tool has no name", "add `name:`", at=at)
        return None
    key = next((k for k in _SCHEMA_KEYS if k in item), "")
    schema: Any = item.get(key, {"type": "object", "properties": {}}) if key else {"type": "object", "properties": {}}
    if key == "inputSchema" and isinstance(schema, dict) and set(schema) == {"json"}:  # Bedrock
        schema, key = schema["json"], "inputSchema/json"
    place = at + "/" + key if key else at
    if not isinstance(schema, dict):
        file.problem("wrong-type", "the tool's input schema is no mapping", "write a JSON Schema", at=place)
        return None
    for other in item:
        near = nearest(other, _OWN) if other not in _OWN else ""
        if near and near not in item and not (near in _SCHEMA_KEYS and key) and abs(len(near) - len(other)) <= 2:
            file.problem(
                "unknown-key",
                f'unknown key {shown(other)}; did you mean "{near}"?',
                "keys that no provider sees may have any other name",
                at=child(at, other),
                key=True,
            )
    description = item.get("description")
    strict = item.get("strict")
    return Tool(
        name=name,
        description=description if isinstance(description, str) else "",
        input_schema=schema,
        strict=strict if isinstance(strict, bool) else None,
        extra={k: v for k, v in item.items() if k not in _OWN and not (k == "type" and v == "function")},
        origin=file.origin(at),
    )
