"""A schema whose references lead back to themselves.

Why: Whoever resolves the references never ends; several providers refuse such a schema, and others show the model
only its first levels.

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
    [{"name": "build_tree", "description": "Build a tree.", "input_schema": {"type": "object",
     "properties": {"root": {"$ref": "#/$defs/A"}},
     "$defs": {"A": {"type": "object", "properties": {"next": {"$ref": "#/$defs/B"}}}, "B": {"type": "object",
     "properties": {"back": {"$ref": "#/$defs/A"}}}}}}]

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
    [{"name": "build_tree", "description": "Build a tree.", "input_schema": {"type": "object",
     "properties": {"root": {"$ref": "#/$defs/A"}},
     "$defs": {"A": {"type": "object", "properties": {"next_id": {"type": "string"}}}}}}]

Mend: Bound the depth: write the levels out, or refer to parts by an id.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from ctxc.base.spans import Origin
from ctxc.model.finding import Finding
from ctxc.parse.nodes import tokens
from ctxc.rules._tools import toolsets
from ctxc.rules.engine import Context, rule


def check(context: Context) -> Iterator[Finding]:
    """Schemas of tools and contracts; nothing is ever fetched."""
    for toolset in toolsets(context):
        for tool in toolset.tools:
            yield from _judge(context, tool.input_schema, tool.origin, f"tool {tool.name!r}")
    for contract in (c for versions in context.project.contracts.values() for c in versions):
        yield from _judge(context, contract.schema, contract.origin.child("schema"), f"contract {contract.id!r}")


def _judge(context: Context, schema: Mapping[str, Any], at: Origin, what: str) -> Iterator[Finding]:
    loop = loop_of(schema)
    if loop:
        yield RULE.finding(
            context,
            f"the schema of {what} refers to itself: {' -> '.join(loop)}",
            at=at,
            help="bound the depth: write the levels out, or refer to parts by an id",
            data={"loop": list(loop)},
        )


def loop_of(schema: Mapping[str, Any]) -> tuple[str, ...]:
    """The first circle of references inside a schema, by name; empty where there is none."""
    state: dict[str, int] = {}  # 1: on the way, 2: done

    def walk(name: str, chain: tuple[str, ...]) -> tuple[str, ...]:
        state[name] = 1
        for target in _targets(_resolve(schema, name)):
            if state.get(target) == 1:
                circle = (*chain, name)
                return (*circle[circle.index(target) :], target)
            if target not in state and len(chain) < 200:
                found = walk(target, (*chain, name))
                if found:
                    return found
        state[name] = 2
        return ()

    return tuple(_short(n) for n in walk("#", ()))


def _short(ref: str) -> str:
    return ref.rpartition("/")[2] if "/" in ref else ref


def _targets(value: Any) -> list[str]:
    """Local references anywhere in a value, in order; definitions are entered only through a reference."""
    found: dict[str, None] = {}
    pending: list[Any] = [value]
    while pending:
        here = pending.pop(0)
        if isinstance(here, Mapping):
            ref = here.get("$ref")
            if isinstance(ref, str) and ref.startswith("#"):
                found[ref] = None
            pending.extend(v for k, v in here.items() if k not in ("$defs", "definitions", "enum", "const", "default"))
        elif isinstance(here, list):
            pending.extend(here)
    return list(found)


def _resolve(schema: Mapping[str, Any], ref: str) -> Any:
    here: Any = schema
    for token in tokens(ref[1:]) if ref.startswith("#/") else ():
        if isinstance(here, Mapping) and token in here:
            here = here[token]
        elif isinstance(here, list) and token.isdigit() and int(token) < len(here):
            here = here[int(token)]
        else:
            return None
    return here


RULE = rule(__name__, __doc__, check)
