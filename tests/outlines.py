"""A request's structure and its data as words of the specification say them, beside the reading that the gate makes."""

from __future__ import annotations

import json
import unicodedata
from collections.abc import Sequence
from typing import Any

from ctxc.compiler.structure import blocks, stands_alone
from ctxc.compiler.wrappers import Wrapper
from ctxc.model.request import Leaf


def outline(leaves: Sequence[Leaf], wrapper: Wrapper, native: frozenset[str]) -> tuple[tuple[Any, ...], ...]:
    """Place, zone, role and kind of every text that a model reads, and the blocks in it.

    A text that is a message of its own is one JSON string value of the protocol and cannot be anything else: its
    place is compared, not its content.
    """
    found: list[tuple[Any, ...]] = []
    for leaf in leaves:
        shape: tuple[Any, ...] = ()
        if not stands_alone(leaf, native):
            shape = tuple((b.kind, b.trust, b.attributes) for b in blocks(leaf.text, wrapper))
        found.append((leaf.pointer, leaf.zone, leaf.role, leaf.kind, shape))
    return tuple(found)


def folded_outline(leaves: Sequence[Leaf], wrapper: Wrapper, native: frozenset[str]) -> tuple[tuple[Any, ...], ...]:
    """The outline after NFKC: what a reader that normalises would see."""
    folded = [
        Leaf(pointer=x.pointer, zone=x.zone, role=x.role, kind=x.kind, text=unicodedata.normalize("NFKC", x.text))
        for x in leaves
    ]
    return outline(folded, wrapper, native)


def data_of(leaves: Sequence[Leaf], wrapper: Wrapper, native: frozenset[str]) -> tuple[Any, ...]:
    """Everything that is carried as data: decoded bodies of untrusted and semi-trusted blocks, other texts as is."""
    found: list[Any] = []
    for leaf in leaves:
        if leaf.zone != "messages":
            continue
        if stands_alone(leaf, native):
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
