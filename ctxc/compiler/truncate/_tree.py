"""A JSON value as a tree whose nodes know how many bytes they take, so that room can be shared out among them."""

from __future__ import annotations

import json
import math
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Literal

from ctxc.base.errors import UnreadableSource
from ctxc.base.text import snap_down
from ctxc.base.values import dataclass
from ctxc.compiler.truncate._marker import KEY, more

SHORT_BYTES = 256
"""A field that is to be kept stays whole up to this size; a longer one is only served first."""

MAX_DEPTH = 100
"""Levels of nesting that are looked into; a deeper value is not cut."""

_TOO_DEEP = f"it is nested more than {MAX_DEPTH} levels deep"
_MAX_DIGITS = 4_000  # Python refuses to make a number of more than 4,300
_MARK_BYTES = 40  # room for {"_truncated":1234567} and its comma
_WORTHWHILE = 48  # bytes below which no item is begun that does not fit whole


class NotJson(Exception):
    """A text is not JSON, or a value is nested too deeply to be cut."""


@dataclass(frozen=True, slots=True, eq=False)
class Tree:
    """A node. ``text`` is a string's content or a scalar as written; ``items`` are (key, node), key "" in a list.

    ``size`` is the bytes of its compact text, ``least`` the fewest that cutting can bring it to. ``keep`` marks a field
    that is served first, ``fixed`` one that its object never gives up. Where ``left_out`` is not 0, that many items or
    keys are gone and the last item says so.
    """

    kind: Literal["object", "array", "string", "scalar"]
    text: str
    items: tuple[tuple[str, Tree], ...]
    size: int
    least: int
    keep: bool = False
    fixed: bool = False
    left_out: int = 0


class _Literal(str):
    """A number as it was written."""

    __slots__ = ()


class _Pairs(list[tuple[str, object]]):
    """An object as read, repeated keys included."""

    __slots__ = ()


def parse(text: str, keep_keys: Collection[str]) -> Tree:
    """The tree of JSON text. Raises NotJson."""
    try:
        value = json.loads(
            text, object_pairs_hook=_Pairs, parse_float=_literal, parse_int=_literal, parse_constant=_no_constant
        )
    except RecursionError:
        raise NotJson(_TOO_DEEP) from None
    except ValueError as error:
        raise NotJson(str(error)) from None
    return node_of(value, keep_keys)


def _literal(text: str) -> _Literal:
    if len(text) > _MAX_DIGITS:
        raise ValueError(f"a number of {len(text):,} characters")
    return _Literal(text)


def _no_constant(text: str) -> object:
    raise ValueError(f"{text} is not JSON")


def node_of(value: object, keep_keys: Collection[str], depth: int = 0, key: str = "") -> Tree:
    """The tree of a value. Raises UnreadableSource for what JSON cannot hold, NotJson for too many levels."""
    keep = bool(key) and key in keep_keys
    if isinstance(value, _Literal):
        return _leaf("scalar", str(value), len(value), keep)
    if isinstance(value, str):
        return _leaf("string", value, _string_size(value), keep)
    if isinstance(value, (Mapping, list, tuple)):
        if depth >= MAX_DEPTH:
            raise NotJson(_TOO_DEEP)
        if isinstance(value, (Mapping, _Pairs)):
            pairs = value.items() if isinstance(value, Mapping) else value
            return _object([(str(k), node_of(v, keep_keys, depth + 1, str(k))) for k, v in pairs], keep)
        return _array([node_of(item, keep_keys, depth + 1) for item in value], keep)
    text = _scalar(value)
    return _leaf("scalar", text, len(text), keep)


def _scalar(value: object) -> str:
    if isinstance(value, float) and not math.isfinite(value):
        raise UnreadableSource(f"JSON cannot hold {value}", help="use a number, a string or null")
    if value is None or isinstance(value, (bool, int, float)):
        return json.dumps(value)
    raise UnreadableSource(f"JSON cannot hold a {type(value).__name__}", help="use a string")


# -- nodes -------------------------------------------------------------------------------------------------------------


def compact(value: object) -> str:
    """Compact JSON text of a value, keys in its own order."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    try:
        text.encode()
    except UnicodeEncodeError:  # a lone surrogate came in as an escape and may only leave as one
        return json.dumps(value, separators=(",", ":"))
    return text


def _string_size(text: str) -> int:
    return len(compact(text).encode())


def _leaf(kind: Literal["string", "scalar"], text: str, size: int, keep: bool) -> Tree:
    fixed = keep and size <= SHORT_BYTES
    least = size
    if kind == "string" and not fixed:
        least = min(size, _string_size(more(len(text))))
    return Tree(kind, text, (), size, least, keep, fixed)


def _array(items: Sequence[Tree], keep: bool = False, left_out: int = 0) -> Tree:
    size = 2 + sum(item.size for item in items) + max(len(items) - 1, 0)
    return _branch("array", [("", item) for item in items], size, 2 + _MARK_BYTES, keep, left_out)


def _object(items: Sequence[tuple[str, Tree]], keep: bool = False, left_out: int = 0) -> Tree:
    size = 2 + sum(_entry(key) + item.size for key, item in items) - bool(items)
    least = 2 + _MARK_BYTES + sum(_entry(key) + item.size for key, item in items if item.fixed)
    return _branch("object", items, size, least, keep, left_out)


def _branch(
    kind: Literal["array", "object"],
    items: Sequence[tuple[str, Tree]],
    size: int,
    least: int,
    keep: bool,
    left_out: int,
) -> Tree:
    fixed = keep and size <= SHORT_BYTES
    return Tree(kind, "", tuple(items), size, size if fixed else min(size, least), keep, fixed, left_out)


def _entry(key: str) -> int:
    return _string_size(key) + 2  # colon and comma


# -- sharing out room --------------------------------------------------------------------------------------------------


def allot(node: Tree, room: int) -> Tree:
    """The node in about ``room`` bytes, or in as few as it can be; the node itself where it needs no cut."""
    if node.size <= max(room, node.least):
        return node
    if node.kind == "string":
        return _shorter_string(node, room)
    if node.kind == "array":
        return _shorter_array(node, room)
    return _shorter_object(node, room) if node.kind == "object" else node


def _shorter_string(node: Tree, room: int) -> Tree:
    text = node.text
    room -= _string_size(more(len(text))) - 2

    def fits(length: int) -> bool:
        return _string_size(text[:length]) <= room

    low, high = 0, min(len(text), max(room, 0))
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if fits(middle) else (low, middle - 1)
    end = snap_down(text, low)
    return node_of(text[:end] + more(len(text) - end), ())


def _shorter_array(node: Tree, room: int) -> Tree:
    room -= 2 + _MARK_BYTES
    kept: list[Tree] = []
    for _, item in node.items:
        if item.size + 1 <= room:
            kept.append(item)
            room -= item.size + 1
            continue
        if room >= _WORTHWHILE:
            shorter = allot(item, room - 1)
            if shorter.size + 1 <= room:
                kept.append(shorter)
        break
    left_out = len(node.items) - len(kept)
    return _array([*kept, node_of({KEY: left_out}, ())] if left_out else kept, left_out=left_out)


def _shorter_object(node: Tree, room: int) -> Tree:
    costs = [_entry(key) for key, _ in node.items]
    items = [item for _, item in node.items]
    room -= 2 + _MARK_BYTES + sum(cost + item.size for cost, item in zip(costs, items, strict=True) if item.fixed)
    served: list[int] = []
    # Long fields that are to be kept come first, then the order of the object.
    for n in sorted(range(len(items)), key=lambda n: not items[n].keep):
        if not items[n].fixed and costs[n] + items[n].least <= room:
            served.append(n)
            room -= costs[n] + items[n].least
    extra: dict[int, int] = {}
    for n in served:
        if items[n].keep:
            extra[n] = min(room, items[n].size - items[n].least)
            room -= extra[n]
    hungry = sorted((n for n in served if not items[n].keep), key=lambda n: (items[n].size - items[n].least, n))
    for at, n in enumerate(hungry):
        extra[n] = min(room // (len(hungry) - at), items[n].size - items[n].least)
        room -= extra[n]
    kept: list[tuple[str, Tree]] = []
    for n, (key, item) in enumerate(node.items):
        if item.fixed:
            kept.append((key, item))
        elif n in extra:
            kept.append((key, allot(item, item.least + extra[n])))
    left_out = len(items) - len(kept)
    if left_out:
        kept.append((free_key(node), node_of(left_out, ())))
    return _object(kept, left_out=left_out)


def free_key(node: Tree) -> str:
    """The key under which an object says how many keys it has lost: one that it did not have."""
    names, key = {name for name, _ in node.items}, KEY
    while key in names:
        key += "_"
    return key


# -- back to text and values -------------------------------------------------------------------------------------------


def written(node: Tree) -> str:
    """Compact JSON text of a tree."""
    if node.kind == "string":
        return compact(node.text)
    if node.kind == "array":
        return f"[{','.join(written(item) for _, item in node.items)}]"
    if node.kind == "object":
        return f"{{{','.join(f'{compact(key)}:{written(item)}' for key, item in node.items)}}}"
    return node.text


def plain(node: Tree) -> object:
    """The value of a tree as Python holds it (of repeated keys the last)."""
    if node.kind == "string":
        return node.text
    if node.kind == "array":
        return [plain(item) for _, item in node.items]
    if node.kind == "object":
        return {key: plain(item) for key, item in node.items}
    value: object = json.loads(node.text)
    return value


def changed_places(before: Tree, after: Tree, pointer: str = "") -> Iterator[str]:
    """JSON pointers of the values of ``before`` that were shortened or lost items, outermost first."""
    if before is after:
        return
    if before.kind in ("string", "scalar"):
        yield pointer
        return
    if after.left_out:
        yield pointer
    rest = list(after.items[:-1] if after.left_out else after.items)
    for index, (key, item) in enumerate(before.items):
        if rest and rest[0][0] == key:
            name = str(index) if before.kind == "array" else key.replace("~", "~0").replace("/", "~1")
            yield from changed_places(item, rest.pop(0)[1], f"{pointer}/{name}")
