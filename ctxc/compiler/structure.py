"""The structure of a request, read back from its bytes: what containment compares.

For every payload, the structure of the request has to be the same as with the payload ``X``, and the data has to come
back out unchanged. A text that is made of blocks is read by its wrapper's own grammar: a header
line, body lines, the end line of the same kind. Compatibility normalisation may not add a block.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ctxc.base.values import dataclass
from ctxc.compiler.wrap import is_native
from ctxc.compiler.wrappers import Wrapper
from ctxc.model.package import Package
from ctxc.model.request import Leaf


@dataclass(frozen=True, slots=True, kw_only=True)
class Block:
    """A block of a text: kind and trust as its header says, names of its attributes, and its body."""

    kind: str
    trust: str
    attributes: tuple[str, ...]
    body: str


def blocks(text: str, wrapper: Wrapper) -> tuple[Block, ...]:
    """The blocks of a text; a line outside of any block is a block of kind ``text``, an open block ``unclosed``."""
    found: list[Block] = []
    lines = text.split("\n")
    position = 0
    while position < len(lines):
        line = lines[position]
        header = wrapper.read(line)
        position += 1
        if header is None:
            if line.strip():
                found.append(Block(kind="text", trust="", attributes=(), body=line))
            continue
        kind, trust, attributes = header
        end = wrapper.close(kind)
        body: list[str] = []
        while position < len(lines) and lines[position] != end:
            body.append(lines[position])
            position += 1
        closed = position < len(lines)
        position += 1
        found.append(
            Block(kind=kind if closed else "unclosed", trust=trust, attributes=attributes, body="\n".join(body))
        )
    return tuple(found)


def native_pointers(package: Package) -> frozenset[str]:
    """Where messages of their own stand in a package's request: the user's turn and the recorded conversation."""
    return frozenset(q for p in package.placed if is_native(p.section) for q in p.pointers)


def stands_alone(leaf: Leaf, native: frozenset[str]) -> bool:
    """Whether a text is one JSON string value of the protocol, which cannot be anything else, and shares no text."""
    if leaf.zone != "messages" or leaf.kind != "text":
        return True
    if leaf.pointer in native:
        # A request that is one text has one pointer for everything; its quoted texts have a kind of their own.
        return leaf.pointer.count("/") > 1
    return any(leaf.pointer.startswith(p + "/") for p in native)


def holds(data: Sequence[Any], payload: str) -> bool:
    """Whether a payload comes back out of the data unchanged."""
    return any(_inside(value, payload) for value in data)


def _inside(value: Any, payload: str) -> bool:
    if isinstance(value, str):
        return payload in value
    if isinstance(value, Mapping):
        return any(_inside(v, payload) for v in value.values())
    if isinstance(value, list):
        return any(_inside(v, payload) for v in value)
    return False
