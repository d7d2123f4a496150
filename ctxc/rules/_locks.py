"""The files that a gate ratchets by: ``budgets.lock`` (tokens a fixture) and ``tools.lock.json`` (tool definitions).

Both are JSON, sorted, written only on purpose (``ctxc gate --update-locks``), and come with the project: what cannot be
read of them is a reason to fail, never an empty lock.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import field
from typing import Any

from ctxc.base.errors import CtxcError
from ctxc.base.values import dataclass
from ctxc.source.tree import Tree

BUDGETS = "budgets.lock"
TOOLS = "tools.lock.json"
BUDGETS_SCHEMA = "ctxc.budgets/1"
TOOLS_SCHEMA = "ctxc.tools-lock/1"
_MAX_BYTES = 16 << 20


@dataclass(frozen=True, slots=True, kw_only=True)
class Locked:
    """Tokens of one fixture when the lock was written, and what counted them."""

    tokens: int
    tokenizer: str
    method: str


@dataclass(frozen=True, slots=True, kw_only=True)
class BudgetLock:
    """``budgets.lock``; ``fault`` says why it cannot be used."""

    fixtures: Mapping[str, Locked] = field(default_factory=dict)
    fault: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Pin:
    """One approved tool definition: digest of the whole definition as the server gave it, and who approved it."""

    toolset: str
    name: str
    version: str
    digest: str
    trust: str = ""
    approved_by: str = ""
    date: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolLock:
    """``tools.lock.json`` by tool set and name; ``fault`` says why it cannot be used.

    A tool may have several pins: the definition that is used, and one that was approved before anybody uses it.
    """

    pins: Mapping[tuple[str, str], tuple[Pin, ...]] = field(default_factory=dict)
    fault: str = ""


def read_budgets(tree: Tree) -> BudgetLock | None:
    """The lock of a tree; None where it has none."""
    value = _read(tree, BUDGETS)
    if value is None:
        return None
    try:
        if isinstance(value, str):
            raise ValueError(value)
        _check_schema(value, BUDGETS_SCHEMA)
        return BudgetLock(fixtures={str(k): _locked(v) for k, v in value["fixtures"].items()})
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        return BudgetLock(fault=_why(error))


def _locked(value: Any) -> Locked:
    tokens = value["tokens"]
    if type(tokens) is not int or tokens < 0:
        raise ValueError("`tokens` is no number of tokens")
    return Locked(tokens=tokens, tokenizer=_text(value, "tokenizer"), method=_text(value, "method"))


def read_tools(tree: Tree) -> ToolLock | None:
    """The lock of a tree; None where it has none."""
    value = _read(tree, TOOLS)
    if value is None:
        return None
    try:
        if isinstance(value, str):
            raise ValueError(value)
        _check_schema(value, TOOLS_SCHEMA)
        pins: dict[tuple[str, str], tuple[Pin, ...]] = {}
        for pin in map(_pin, value["tools"]):
            pins[pin.toolset, pin.name] = (*pins.get((pin.toolset, pin.name), ()), pin)
        return ToolLock(pins=pins)
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        return ToolLock(fault=_why(error))


def _pin(value: Any) -> Pin:
    needed = {key: _text(value, key) for key in ("toolset", "name", "version")}
    digest = _text(value, "sha256")
    if len(digest) != 64 or not all(c in "0123456789abcdef" for c in digest):
        raise ValueError("`sha256` is no digest")
    more = {key: _text(value, key) for key in ("trust", "approved_by", "date") if key in value}
    return Pin(**needed, digest=digest, **more)


def _read(tree: Tree, path: str) -> Any:
    """The value of a file; None where it is not there, a text that says what is wrong where it cannot be read."""
    if not tree.exists(path):
        return None
    try:
        return json.loads(tree.read(path, limit=_MAX_BYTES).decode("utf-8"), object_pairs_hook=_unique)
    except CtxcError as error:
        return error.message
    except (ValueError, RecursionError) as error:
        return f"it is not JSON: {error}"


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError("a key stands twice")
    return found


def _check_schema(value: Any, wanted: str) -> None:
    told = value.get("schema")
    if told != wanted:
        raise ValueError(f"its schema is {str(told)[:40]!r}, not {wanted}")


def _text(value: Any, key: str) -> str:
    found = value[key]
    if not isinstance(found, str):
        raise ValueError(f"`{key}` is no text")
    return found


def _why(error: Exception) -> str:
    return f"`{error.args[0]}` is missing" if isinstance(error, KeyError) else str(error)
