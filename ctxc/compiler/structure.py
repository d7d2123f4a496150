"""The structure of a request, read back from its bytes: what containment compares.

For every payload, the structure of the request has to be the same as with the payload ``X``, and the data has to come
back out unchanged (DESIGN section 6). A text that is made of blocks is read by its wrapper's own grammar: a header
line, body lines, the end line of the same kind. Compatibility normalisation may not add a block.
"""

from __future__ import annotations

import json
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ctxc.compiler.wrappers import Wrapper
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


def outline(leaves: Sequence[Leaf], wrapper: Wrapper) -> tuple[tuple[Any, ...], ...]:
    """Place, zone, role and kind of every text that a model reads, and the blocks in it.

    A leaf without blocks is a message of its own (the user's turn, a tool result): its text is one JSON string value
    of the protocol and cannot be anything else.
    """
    found: list[tuple[Any, ...]] = []
    for leaf in leaves:
        shape: tuple[Any, ...] = ()
        if wrapper.read(leaf.text.split("\n", 1)[0]) is not None:
            shape = tuple((b.kind, b.trust, b.attributes) for b in blocks(leaf.text, wrapper))
        found.append((leaf.pointer, leaf.zone, leaf.role, leaf.kind, shape))
    return tuple(found)


def folded_outline(leaves: Sequence[Leaf], wrapper: Wrapper) -> tuple[tuple[Any, ...], ...]:
    """The outline after NFKC: what a reader that normalises would see."""
    folded = [
        Leaf(pointer=x.pointer, zone=x.zone, role=x.role, kind=x.kind, text=unicodedata.normalize("NFKC", x.text))
        for x in leaves
    ]
    return outline(folded, wrapper)


def data_of(leaves: Sequence[Leaf], wrapper: Wrapper) -> tuple[Any, ...]:
    """Everything that is carried as data: decoded bodies of untrusted and semi-trusted blocks, other texts as is."""
    found: list[Any] = []
    for leaf in leaves:
        if leaf.zone != "messages":
            continue
        if wrapper.read(leaf.text.split("\n", 1)[0]) is None:
            found.append(leaf.text)
            continue
        for block in blocks(leaf.text, wrapper):
            if block.trust == "trusted":
                continue
            try:
                found.append(json.loads(block.body))
            except ValueError:
                found.append(None)
    return tuple(found)


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
