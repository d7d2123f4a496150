"""A request read back for containment: its structure, the data that it carries, and what stands in shared texts."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from ctxc.compiler.stage import Request
from ctxc.compiler.structure import Block, blocks, stands_alone
from ctxc.compiler.wrappers import Wrapper
from ctxc.detect.written import Written, folded, written
from ctxc.model.request import Leaf

WORDS, JSON = "words", "json"
UNREADABLE = object()
_TEXT = "text"  # the kind of a line outside of every block
_OUTSIDE = (_TEXT, "", ())


class Datum(NamedTuple):
    """Something that a request carries as data: words as they are, or the JSON of a value."""

    form: str
    text: str

    @property
    def value(self) -> Any:
        """What it says: the words, or the value; ``UNREADABLE`` where there should be JSON and is none."""
        if self.form == WORDS:
            return self.text
        try:
            return json.loads(self.text)
        except (ValueError, RecursionError):
            return UNREADABLE


class Reading(NamedTuple):
    """A request read back: its structure, its structure after NFKC, what it carries as data, its trusted zones, and the
    tokens and hidden characters in the texts that untrusted material shares with others, before and after NFKC."""

    outline: tuple[Any, ...]
    folded: tuple[Any, ...]
    data: tuple[Datum, ...]
    trusted: tuple[str, ...]
    written: tuple[Written, Written]


class Reader:
    """Reads requests of one shape, whose blocks were written by one wrapper.

    ``native`` are the places of messages of their own: each is one JSON string of the protocol, compared by its place.
    """

    def __init__(self, request: Request, wrapper: Wrapper, native: frozenset[str]) -> None:
        self._request = request
        self._heads = _Heads(wrapper)
        self._native = native
        self._is_native: dict[tuple[str, str, str], bool] = {}
        self._blocks: dict[str, tuple[Block, ...]] = {}
        self.in_prompt = request.shape.id == "chat_template"
        self.is_document = request.shape.id == "text"

    def read(self, request: Mapping[str, Any]) -> Reading:
        """The reading of a provider's request."""
        if self.in_prompt:
            return self._of_prompt(str(request["prompt"]))
        return self._of_leaves(self._request.shape.read_back(request), str(request["text"]) if self.is_document else "")

    def turns(self, request: Mapping[str, Any]) -> list[tuple[str, str, str]]:
        """The turns of a request and their zones, whatever stands in them."""
        if self.in_prompt:
            return [(before, zone, role) for before, zone, role, *_ in self._turns(str(request["prompt"]))[0]]
        return [(s.id, s.pointer, s.zone) for s in self._request.shape.segments(request)]

    def _of_prompt(self, prompt: str) -> Reading:
        """The reading of a request that a chat template wrote, by that template's own control tokens.

        Words outside of blocks are plain words, however many lines of them follow one another.
        """
        outline, data, trusted = self._turns(prompt)
        normal = folded(prompt)
        after = outline if normal == prompt else self._turns(normal)[0]
        return Reading(tuple(outline), tuple(after), tuple(data), tuple(trusted), written(prompt, normal))

    def _turns(self, prompt: str) -> tuple[list[Any], list[Datum], list[str]]:
        from ctxc.providers._templates import template_of
        from ctxc.providers.chat_template import turns_of, zoned

        outline: list[Any] = []
        data: list[Datum] = []
        trusted: list[str] = []
        for role, text, before, zone in zoned(turns_of(prompt, template_of(self._request.row.framing))):
            if zone == "system":
                trusted.append(text)
                outline.append((before, zone, role, "text", ()))
                continue
            shape: list[Any] = []
            here = self._parsed(text)
            data.extend(_carried(b for b in here if b.kind != _TEXT))
            for block in here:
                if block.kind != _TEXT:
                    shape.append((block.kind, block.trust, block.attributes))
                    continue
                # Words outside of a block: a quoted text, a call or its result as JSON, or the template's own.
                data.append(_line(block.body))
                if not shape or shape[-1] != _OUTSIDE:
                    shape.append(_OUTSIDE)
            if text.strip():
                outline.append((before, zone, role, "text", tuple(shape)))
        return outline, data, trusted

    def _of_leaves(self, leaves: Iterable[Leaf], document: str) -> Reading:
        """The reading of leaves; of a request that is one text, everything shares that text."""
        outline: list[Any] = []
        after: list[Any] = []
        data: list[Datum] = []
        trusted: list[str] = []
        shared, normal = [document], [folded(document)]
        for leaf in leaves:
            pointer, zone, kind, text = leaf.pointer, leaf.zone, leaf.kind, leaf.text
            native = self._is_native.get((pointer, zone, kind))
            if native is None:
                native = self._is_native[pointer, zone, kind] = stands_alone(leaf, self._native)
            if native:
                place = (pointer, zone, leaf.role, kind, ())
                outline.append(place)
                after.append(place)
                if zone != "messages":
                    trusted.append(text)
                else:
                    data.append(Datum(JSON if kind == "tool_use" and _is_json(text) else WORDS, text))
                continue
            here = self._parsed(text)
            data.extend(_carried(here))
            place = (pointer, zone, leaf.role, kind, _shapes(here))
            outline.append(place)
            other = folded(text)
            if other != text:
                place = (pointer, zone, leaf.role, kind, _shapes(self._parsed(other)))
            after.append(place)
            if not document:
                shared.append(text)
                normal.append(other)
        there = written("\n".join(shared), "\n".join(normal))
        return Reading(tuple(outline), tuple(after), tuple(data), tuple(trusted), there)

    def _parsed(self, text: str) -> tuple[Block, ...]:
        """The blocks of a text; what comes again and again (a system text) is parsed once."""
        known = self._blocks.get(text)
        if known is None:
            known = blocks(text, self._heads)
            if len(self._blocks) < 64:
                self._blocks[text] = known
        return known


class _Heads:
    """A wrapper that remembers how it read a line: most first lines are those of the trial before."""

    def __init__(self, wrapper: Wrapper) -> None:
        self._wrapper = wrapper
        self._known: dict[str, tuple[str, str, tuple[str, ...]] | None] = {}

    def open(self, kind: str, trust: str, attributes: tuple[tuple[str, str], ...]) -> str:
        """As the wrapper does."""
        return self._wrapper.open(kind, trust, attributes)

    def close(self, kind: str) -> str:
        """As the wrapper does."""
        return self._wrapper.close(kind)

    def read(self, line: str) -> tuple[str, str, tuple[str, ...]] | None:
        """As the wrapper does."""
        try:
            return self._known[line]
        except KeyError:
            found = self._wrapper.read(line)
            if len(self._known) < 256:
                self._known[line] = found
            return found


def _shapes(found: Iterable[Block]) -> tuple[Any, ...]:
    return tuple([(b.kind, b.trust, b.attributes) for b in found])


def _carried(found: Iterable[Block]) -> Iterator[Datum]:
    for block in found:
        if block.trust != "trusted":
            yield _line(block.body) if block.kind == _TEXT else Datum(JSON, block.body)


def _line(line: str) -> Datum:
    """A line outside of every block: the JSON that it is, or its words."""
    return Datum(JSON if line.startswith(('"', "{", "[")) and _is_json(line) else WORDS, line)


def _is_json(text: str) -> bool:
    try:
        json.loads(text)
    except (ValueError, RecursionError):
        return False
    return True
