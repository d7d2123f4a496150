"""A parsed file with the place of every value. Built only where a place is asked for or something is unusual."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

from ctxc.base.spans import Span
from ctxc.parse.problems import Problem


class Node:
    """One value: a scalar, a list, a mapping, or an alias of an earlier value.

    ``value`` is the scalar, the list of nodes, the mapping from key to key span and node, or the node that an alias
    stands for. ``size``, ``characters`` and ``height`` (levels of nesting) count it with its aliases expanded.
    """

    __slots__ = ("characters", "height", "kind", "size", "span", "value")

    def __init__(self, kind: str, value: Any, span: Span) -> None:
        self.kind = kind
        self.value = value
        self.span = span
        self.size = 1
        self.height = 0
        self.characters = 0


class Parsed(NamedTuple):
    """A parsed text: its value, and what is wrong with it (no value is to be used where one of these is an error)."""

    value: Any
    problems: tuple[Problem, ...] = ()
    root: Node | None = None


def plain_data(node: Node) -> Any:
    """The value of a node as lists, mappings and scalars; an alias is the same object as what it stands for."""
    return _plain(node, {})


def _plain(node: Node, shared: dict[int, Any]) -> Any:
    while node.kind == "alias":
        node = node.value
    if node.kind == "scalar":
        return node.value
    known = shared.get(id(node))
    if known is not None:
        return known
    if node.kind == "list":
        result: Any = [_plain(n, shared) for n in node.value]
    else:
        result = {k: _plain(n, shared) for k, (_, n) in node.value.items()}
    shared[id(node)] = result
    return result


def escape(key: str) -> str:
    """A key as a token of a JSON pointer."""
    return key if "/" not in key and "~" not in key else key.replace("~", "~0").replace("/", "~1")


def tokens(pointer: str) -> list[str]:
    """The keys of a JSON pointer."""
    return [t.replace("~1", "/").replace("~0", "~") for t in pointer.split("/")[1:]]


def marks(root: Node) -> dict[str, tuple[Span, Span | None]]:
    """Pointer to the spans of value and key. What is inside an alias has no entry: its place is the alias."""
    return dict(_marks(root, "", None))


def _marks(node: Node, pointer: str, key: Span | None) -> Iterator[tuple[str, tuple[Span, Span | None]]]:
    yield pointer, (node.span, key)
    if node.kind == "list":
        for number, child in enumerate(node.value):
            yield from _marks(child, f"{pointer}/{number}", None)
    elif node.kind == "map":
        for name, (span, child) in node.value.items():
            yield from _marks(child, f"{pointer}/{escape(name)}", span)
