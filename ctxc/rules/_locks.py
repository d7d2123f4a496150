"""The files that a gate ratchets by: ``budgets.lock`` (tokens a fixture) and ``tools.lock.json`` (tool definitions).

Both are JSON, sorted, written only on purpose (``ctxc gate --update-locks``), and come with the project: what cannot be
read of them is a reason to fail, never an empty lock.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from functools import lru_cache
from typing import Any

from ctxc.base.errors import CtxcError
from ctxc.base.spans import Location, Span
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
    """``budgets.lock``; ``fault`` says why it cannot be used, ``pointer`` and ``span`` where.

    ``text`` is what stands in the file, for places in it; None where these would not be those of the file that is
    judged.
    """

    fixtures: Mapping[str, Locked] = field(default_factory=dict)
    fault: str = ""
    pointer: str = ""
    span: Span | None = None
    text: str | None = None

    def at(self, fixture: str = "") -> Location:
        """Where a fixture stands in the file; without one, where the fault is."""
        if not fixture:
            return _place(BUDGETS, self.text, self.pointer, self.span)
        from ctxc.parse.nodes import escape

        return _place(BUDGETS, self.text, f"/fixtures/{escape(fixture)}", key=True)


@dataclass(frozen=True, slots=True, kw_only=True)
class Pin:
    """One approved tool definition: digest of the whole definition as the server gave it, and who approved it.

    ``row`` counts the entries of the file from 0; -1 for one that is not from a file.
    """

    toolset: str
    name: str
    version: str
    digest: str
    trust: str = ""
    approved_by: str = ""
    date: str = ""
    row: int = -1


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolLock:
    """``tools.lock.json`` by tool set and name; ``fault`` and its place, and ``text``, as of the other lock.

    A tool may have several pins: the definition that is used, and one that was approved before anybody uses it.
    """

    pins: Mapping[tuple[str, str], tuple[Pin, ...]] = field(default_factory=dict)
    fault: str = ""
    pointer: str = ""
    span: Span | None = None
    text: str | None = None

    def at(self, toolset: str = "", name: str = "") -> Location:
        """Where the first pin of a tool stands in the file; without one, where the fault is."""
        pins = self.pins.get((toolset, name))
        if not pins:
            return _place(TOOLS, self.text, self.pointer, self.span)
        return _place(TOOLS, self.text, f"/tools/{pins[0].row}")


def _place(path: str, text: str | None, pointer: str, span: Span | None = None, *, key: bool = False) -> Location:
    if text is None:
        return Location(path, None, pointer)
    if span is None:
        from ctxc.parse.document import find

        span = find(_marks(text), pointer, key=key) or Span(1, 1, 1, 1)
    return Location(path, span, pointer)


@lru_cache(maxsize=4)
def _marks(text: str) -> dict[str, tuple[Span, Span | None]]:
    from ctxc.parse.json_text import read_json_nodes
    from ctxc.parse.nodes import marks

    root = read_json_nodes(text).root
    return marks(root) if root is not None else {}


class _Fault(Exception):
    """Why a lock cannot be used, and where."""

    def __init__(self, message: str, pointer: str = "", span: Span | None = None) -> None:
        super().__init__(message)
        self.pointer = pointer
        self.span = span


def read_budgets(tree: Tree, shown: Tree | None = None) -> BudgetLock | None:
    """The lock of a tree; None where it has none. ``shown`` is the tree whose file a reader has before him."""
    if not tree.exists(BUDGETS):
        return None
    text = _shown(tree, shown, BUDGETS)
    try:
        fixtures = _under(_read(tree, BUDGETS, BUDGETS_SCHEMA), "fixtures", dict, "an object")
        return BudgetLock(fixtures={name: _locked(name, entry) for name, entry in fixtures.items()}, text=text)
    except _Fault as fault:
        return BudgetLock(fault=str(fault), pointer=fault.pointer, span=fault.span, text=text)


def _locked(name: str, entry: Any) -> Locked:
    from ctxc.parse.nodes import escape

    at = f"/fixtures/{escape(name)}"
    tokens = _under(entry, "tokens", int, "a number of tokens", at)
    if tokens < 0:
        raise _Fault("`tokens` is not a number of tokens", f"{at}/tokens")
    return Locked(tokens=tokens, tokenizer=_text(entry, "tokenizer", at), method=_text(entry, "method", at))


def read_tools(tree: Tree, shown: Tree | None = None) -> ToolLock | None:
    """The lock of a tree; None where it has none. ``shown`` as for the budgets."""
    if not tree.exists(TOOLS):
        return None
    text = _shown(tree, shown, TOOLS)
    try:
        pins: dict[tuple[str, str], tuple[Pin, ...]] = {}
        for row, entry in enumerate(_under(_read(tree, TOOLS, TOOLS_SCHEMA), "tools", list, "a list")):
            pin = _pin(row, entry)
            pins[pin.toolset, pin.name] = (*pins.get((pin.toolset, pin.name), ()), pin)
        return ToolLock(pins=pins, text=text)
    except _Fault as fault:
        return ToolLock(fault=str(fault), pointer=fault.pointer, span=fault.span, text=text)


def _pin(row: int, entry: Any) -> Pin:
    at = f"/tools/{row}"
    needed = {key: _text(entry, key, at) for key in ("toolset", "name", "version")}
    digest = _text(entry, "sha256", at)
    if len(digest) != 64 or not all(c in "0123456789abcdef" for c in digest):
        raise _Fault("`sha256` is not a digest", f"{at}/sha256")
    more = {key: _text(entry, key, at) for key in ("trust", "approved_by", "date") if key in entry}
    return Pin(**needed, digest=digest, row=row, **more)


def _read(tree: Tree, path: str, schema: str) -> Any:
    """The value of a file that says that it is of a schema."""
    from ctxc.parse.json_text import parse_json
    from ctxc.parse.text import decode

    try:
        decoded = decode(tree.read(path, limit=_MAX_BYTES))
    except CtxcError as error:
        raise _Fault(error.message) from error
    problem = next((p for p in decoded.problems if p.is_error), None)
    if decoded.text is not None and problem is None:
        parsed = parse_json(decoded.text)
        problem = next((p for p in parsed.problems if p.is_error), None)
        if problem is None:
            told = _under(parsed.value, "schema", str, "a text")
            if told != schema:
                raise _Fault(f"its schema is {told[:40]!r}, not {schema}", "/schema")
            return parsed.value
    raise _Fault(problem.message if problem else "it is not a text", problem.pointer if problem else "",
                 problem.span if problem else None)  # fmt: skip


def _shown(tree: Tree, shown: Tree | None, path: str) -> str | None:
    """The text of a file; None where another one is shown under its path."""
    try:
        data = tree.read(path, limit=_MAX_BYTES)
        here = shown if shown is not None else tree
        if here is not tree and not (here.exists(path) and here.read(path, limit=_MAX_BYTES) == data):
            return None
        return data.decode("utf-8-sig", "replace")
    except CtxcError:
        return None


def _under(value: Any, key: str, kind: type[Any], what: str, at: str = "") -> Any:
    """What an object holds under a key, if it is of a kind."""
    if type(value) is not dict:
        raise _Fault("an object was expected", at)
    if key not in value:
        raise _Fault(f"`{key}` is missing", at)
    if type(value[key]) is not kind:
        raise _Fault(f"`{key}` is not {what}", f"{at}/{key}")
    return value[key]


def _text(value: Any, key: str, at: str) -> str:
    found: str = _under(value, key, str, "a text", at)
    return found
