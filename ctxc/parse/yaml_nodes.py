"""YAML to nodes: every value with its place, and everything that is wrong with the text."""

from __future__ import annotations

import re
from typing import Any

from ctxc.base.spans import Span
from ctxc.parse import limits
from ctxc.parse.nodes import Node, Parsed, plain_data
from ctxc.parse.problems import Problem, shown
from ctxc.parse.scalars import Plain
from ctxc.parse.text import line_starts, span_at
from ctxc.parse.yaml_events import holds_surrogate, library, parser_of, stand_ins

_REFUSED = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x84\x86-\x9f\ufffe\uffff]")

_CORE = "tag:yaml.org,2002:"
_OPEN_TAGS = frozenset(_CORE + t for t in ("null", "bool", "int", "float"))
_TEXT_TAGS = frozenset((_CORE + "str", "!"))
_COLLECTION_TAGS = {"map": _CORE + "map", "list": _CORE + "seq"}


def read_nodes(text: str) -> Parsed:
    """The value, the problems and the nodes of a YAML text, every place exact."""
    refused = _refused_characters(text)
    if refused:
        return Parsed(None, tuple(refused))
    foreign, back = stand_ins(text)
    reader = _Reader(foreign, back)
    root = reader.read()
    return Parsed(plain_data(root) if root is not None else None, tuple(reader.problems), root)


def _refused_characters(text: str) -> list[Problem]:
    starts: list[int] = []
    found = []
    for match in _REFUSED.finditer(text):
        starts = starts or line_starts(text)
        found.append(
            Problem(
                "control-character",
                f"the control character U+{ord(match[0]):04X} may not stand in YAML",
                f'remove it, or write it as an escape in double quotes: "\\x{ord(match[0]):02x}"'
                if ord(match[0]) < 256
                else "remove it",
                span_at(starts, match.start(), match.end()),
            )
        )
        if len(found) >= limits.PROBLEMS:
            break
    return found


def _span(event: Any) -> Span:
    start, end = event.start_mark, event.end_mark
    return Span(start.line + 1, start.column + 1, end.line + 1, end.column + 1)


class _Open:
    """A collection whose end has not been read."""

    __slots__ = ("anchor", "block", "is_key", "key", "key_span", "last", "node")

    def __init__(self, node: Node, anchor: str | None, block: bool, is_key: bool) -> None:
        self.node = node
        self.anchor = anchor
        self.block = block
        self.is_key = is_key
        self.key: str | None = None
        self.key_span: Span | None = None
        self.last: Span | None = None  # where its last value ends


class _Stop(Exception):
    """Nothing more can be read."""


class _Reader:
    """Events to nodes. A problem does not end the reading unless what follows would be meaningless."""

    def __init__(self, text: str, back: dict[int, str]) -> None:
        self.back = back
        self.problems: list[Problem] = []
        self.parser = parser_of(text)
        self.text = text
        self.open: list[_Open] = []
        self.anchors: dict[str, Node] = {}
        self.root: Node | None = None
        self.count = 0
        self.aliased = self.aliased_characters = 0

    def read(self) -> Node | None:
        """The root, or None where the text ends in an error."""
        yaml = library()
        try:
            self._loop(yaml)
        except _Stop:
            return None
        except yaml.YAMLError as error:
            self.problems.append(_syntax(error, self.text))
            return None
        return self.root or Node("scalar", Plain(""), Span(1, 1, 1, 1))

    def _problem(self, name: str, message: str, help: str, span: Span, related: tuple[Any, ...] = ()) -> None:
        self.problems.append(Problem(name, message, help, span, related=related))
        if len(self.problems) >= limits.PROBLEMS:
            raise _Stop

    def _loop(self, yaml: Any) -> None:
        documents = 0
        while True:
            event = self.parser.get_event()
            kind = event.__class__
            if kind is yaml.ScalarEvent:
                self._scalar(event)
            elif kind is yaml.MappingStartEvent:
                self._start("map", event)
            elif kind is yaml.SequenceStartEvent:
                self._start("list", event)
            elif kind is yaml.MappingEndEvent or kind is yaml.SequenceEndEvent:
                self._end(event)
            elif kind is yaml.AliasEvent:
                self._alias(event)
            elif kind is yaml.StreamEndEvent:
                return
            elif kind is yaml.DocumentStartEvent:
                documents += 1
                if documents > 1:
                    self._problem(
                        "multiple-documents",
                        "a second YAML document begins here; expected one a file",
                        "put it into a file of its own",
                        _span(event),
                    )
                    raise _Stop

    # --- values ---------------------------------------------------------------------------------------------------

    def _scalar(self, event: Any) -> None:
        text = event.value
        if self.back:
            text = text.translate(self.back)
        span = _span(event)
        if holds_surrogate(text):
            self.problems.append(_half_a_pair(span))
            text = ""
        plain = event.implicit[0]
        if event.tag is not None:
            plain = event.tag in _OPEN_TAGS
            if not plain and event.tag not in _TEXT_TAGS:
                self._custom_tag(event.tag, span)
        if self._wants_key():
            if event.anchor:
                self._anchor(event.anchor, Node("scalar", text, span))
            self._key(text, span, plain and event.tag is None)
            return
        node = Node("scalar", Plain(text) if plain else text, span)
        node.characters = len(text)
        if event.anchor:
            self._anchor(event.anchor, node)
        self._place(node, event)

    def _start(self, kind: str, event: Any) -> None:
        span = _span(event)
        if event.tag is not None and event.tag != _COLLECTION_TAGS[kind]:
            self._custom_tag(event.tag, span)
        is_key = self._wants_key()
        if is_key and not any(o.is_key for o in self.open):
            self._problem(
                "wrong-type",
                "a list or mapping stands here as a key; expected text",
                "quote text that begins with `{` or `[`",
                span,
            )
        node = Node(kind, [] if kind == "list" else {}, span)
        opened = _Open(node, event.anchor, not event.flow_style, is_key)
        self._count(span)
        self.open.append(opened)
        if len(self.open) > limits.DEPTH:
            self._too_deep(span)

    def _end(self, event: Any) -> None:
        opened = self.open.pop()
        node = opened.node
        start, end = node.span, _span(event)
        if opened.block:
            # The end event of a block collection stands at the next token, which may be many lines further down.
            last = opened.last or start
            node.span = Span(start.line, start.column, last.end_line, last.end_column)
        else:
            node.span = Span(start.line, start.column, end.end_line, end.end_column)
        if opened.anchor:
            self._anchor(opened.anchor, node)
        if opened.is_key:
            self._filler_key(node.span)
            return
        self._attach(node)

    def _place(self, node: Node, event: Any) -> None:
        self._count(node.span)
        self._attach(node)

    def _attach(self, node: Node) -> None:
        if not self.open:
            self.root = node
            return
        parent = self.open[-1]
        into = parent.node
        parent.last = node.span
        into.size += node.size
        into.characters += node.characters
        into.height = max(into.height, node.height + 1)
        if into.kind == "list":
            into.value.append(node)
        else:
            key, span = parent.key, parent.key_span
            assert key is not None and span is not None
            parent.key = None
            into.value.setdefault(key, (span, node))

    def _wants_key(self) -> bool:
        return bool(self.open) and self.open[-1].node.kind == "map" and self.open[-1].key is None

    def _key(self, text: str, span: Span, plain: bool) -> None:
        opened = self.open[-1]
        opened.key, opened.key_span = text, span
        opened.last = span
        if plain and text == "<<":
            self._problem(
                "merge-key",
                "the merge key `<<` is not supported",
                "write the keys out; a template may use `extends`",
                span,
            )
        elif text in opened.node.value:
            first = opened.node.value[text][0]
            self._problem(
                "duplicate-key",
                f"the key {shown(text)} stands twice in this mapping",
                f"remove one; the first is on line {first.line}",
                span,
                ((first, f"first {shown(text)}"),),
            )

    def _filler_key(self, span: Span) -> None:
        """A key in place of one that is no text: none that can be written is the same."""
        self._key(f"\0{len(self.open[-1].node.value)}", span, False)

    # --- anchors and aliases --------------------------------------------------------------------------------------

    def _anchor(self, name: str, node: Node) -> None:
        self.anchors[name] = node

    def _alias(self, event: Any) -> None:
        span = _span(event)
        name = event.anchor
        target = self.anchors.get(name)
        if any(o.anchor == name for o in self.open):
            self._problem(
                "bad-alias",
                f"the alias *{name} stands inside what it names: a value cannot hold itself",
                "write the value out",
                span,
            )
            target = None
        elif target is None:
            self._problem(
                "bad-alias",
                f"the alias *{name} names nothing",
                f"define &{name} before it is used; quote text that begins with `*`",
                span,
            )
        if self._wants_key():
            while target is not None and target.kind == "alias":
                target = target.value
            if target is not None and target.kind != "scalar":
                message = "a list or mapping stands here as a key; expected text"
                self._problem("wrong-type", message, "write the key out", span)
                target = None
            if target is not None:
                self._key(str(target.value), span, False)
            else:
                self._filler_key(span)
            return
        if target is None:
            node = Node("scalar", Plain(""), span)
            self._place(node, event)
            return
        self.aliased += target.size
        self.aliased_characters += target.characters
        if self.aliased > limits.ALIAS_NODES or self.aliased_characters > limits.ALIAS_CHARACTERS:
            self._problem(
                "alias-expansion",
                f"the aliases of this file stand for more than {limits.ALIAS_NODES:,} values or "
                f"{limits.ALIAS_CHARACTERS:,} characters",
                "write the values out, or move them into files of their own",
                span,
            )
            raise _Stop
        if len(self.open) + target.height > limits.DEPTH:
            self._too_deep(span)
        node = Node("alias", target, span)
        node.size, node.characters, node.height = target.size, target.characters, target.height
        self._place(node, event)

    # --- bounds and tags ------------------------------------------------------------------------------------------

    def _count(self, span: Span) -> None:
        self.count += 1
        if self.count > limits.NODES:
            self._problem(
                "too-large",
                f"the file holds more than {limits.NODES:,} values",
                "split it, or keep recorded data in JSON Lines",
                span,
            )
            raise _Stop

    def _too_deep(self, span: Span) -> None:
        self.problems.append(_deep(span))
        raise _Stop

    def _custom_tag(self, tag: str, span: Span) -> None:
        written = "!!" + tag.removeprefix(_CORE) if tag.startswith(_CORE) else tag
        self._problem(
            "custom-tag",
            f"the tag {shown(written)} is not supported: a file is plain data",
            "remove the tag; quote a value that has to stay text",
            Span(span.line, span.column, span.line, span.column + len(written)),
        )


def _half_a_pair(span: Span) -> Problem:
    return Problem(
        "lone-surrogate",
        "the escape is half of a surrogate pair or no character at all, and it cannot be sent",
        "write the character itself, or \\U and its eight hex digits",
        span,
    )


def _deep(span: Span) -> Problem:
    message = f"lists and mappings are nested deeper than {limits.DEPTH} levels"
    return Problem("too-deep", message, "flatten the structure", span)


_HINTS = (
    ("mapping values are not allowed", 'quote the text: a plain value may not hold ": "'),
    ("found character that cannot start any token", 'quote the text: a plain value may not begin with "@", "`" or "%"'),
    ("found undefined tag handle", 'quote text that begins with "!"'),
    ("found unexpected end of stream", "close the quote or bracket that is still open"),
    ("while scanning a quoted scalar", "close the quote that is still open"),
    ("did not find expected alphabetic or numeric", 'quote text that begins with "*" or "&"'),
    ("did not find expected ',' or", "close the bracket, or quote text that holds one"),
    ("did not find expected key", "check the indentation of this line and the one before"),
    ("did not find expected '-' indicator", "check the indentation of this line and the one before"),
    ("could not find expected ':'", "check the indentation and quoting of this line and the one before"),
)


def _syntax(error: Any, text: str) -> Problem:
    mark = getattr(error, "problem_mark", None) or getattr(error, "context_mark", None)
    said = " ".join(str(p) for p in (getattr(error, "problem", None), getattr(error, "context", None)) if p)
    said = said or str(error).splitlines()[0]
    help = next((h for pattern, h in _HINTS if pattern in said), "check quoting and indentation at this place")
    span = Span(1, 1, 1, 1)
    if mark is not None:
        line, column = mark.line + 1, mark.column + 1
        lines = text.count("\n") + 1
        if line > lines:
            line, column = lines, len(text) - (text.rfind("\n") + 1) + 1
        span = Span(line, column, line, column + 1)
        if text.split("\n")[line - 1][column - 1 : column] == "\t":
            help = "indent with blanks: YAML allows no tabs there"
        elif help is _HINTS[0][1] and ":" not in text.split("\n")[line - 1][: column - 1]:
            help = "begin this line where the keys above it begin, or indent it under a key that has no value"
    if "maximum nesting depth" in said:
        return _deep(span)
    if "invalid Unicode character escape" in said:
        return _half_a_pair(span)
    return Problem("syntax", f"not valid YAML: {said}", help, span)
