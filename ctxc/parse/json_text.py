"""JSON and JSON Lines, stricter than the standard library: no repeated keys, no NaN, no lone surrogates, bounded depth.

The fast reader is the standard library's C scanner with hooks; whatever it refuses, or what needs a place, the careful
reader reads again and says where.
"""

from __future__ import annotations

import json
import re
from json.decoder import scanstring  # type: ignore[attr-defined]
from math import isinf
from typing import Any

from ctxc.base.spans import Span
from ctxc.parse import limits
from ctxc.parse.nodes import Node, Parsed, plain_data
from ctxc.parse.problems import Problem, shown
from ctxc.parse.scalars import Num
from ctxc.parse.text import line_starts, place, span_at

_BLANK = re.compile(r"[ \t\n\r]*")
_NUMBER = re.compile(r"-?(?:0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?")
_SURROGATE_ESCAPE = re.compile(r"\\u[dD][89a-fA-F]")
_ESCAPES = re.compile(
    r"\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}"  # a pair
    r"|\\u[dD][89a-fA-F][0-9a-fA-F]{2}"  # half of one
    r"|\\.",
    re.S,
)
_WORDS = {"true": True, "false": False, "null": None}
_FOREIGN_WORDS = ("NaN", "Infinity", "-Infinity")


class _Unusual(Exception):
    """The fast reader met something that the careful one has to look at."""


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    result = dict(pairs)
    if len(result) != len(pairs):
        raise _Unusual
    return result


def _fraction(text: str) -> Num:
    if isinf(float(text)):
        raise _Unusual
    return Num(text)


def _constant(name: str) -> Any:
    raise _Unusual


_DECODER = json.JSONDecoder(object_pairs_hook=_object, parse_float=_fraction, parse_constant=_constant)


def parse_json(text: str) -> Parsed:
    """The value of a JSON text; numbers with a fraction or exponent are ``Num``."""
    try:
        return Parsed(_fast(text))
    except (_Unusual, ValueError, RecursionError):
        return read_json_nodes(text)


def parse_jsonl(text: str) -> Parsed:
    """The values of a JSON Lines text, as a list; blank lines are passed over."""
    values = []
    try:
        for line in text.split("\n"):
            if line and not line.isspace():
                values.append(_fast(line))
    except (_Unusual, ValueError, RecursionError):
        return read_jsonl_nodes(text)
    return Parsed(values)


def _fast(text: str) -> Any:
    value = _DECODER.decode(text)
    if _SURROGATE_ESCAPE.search(text) and _holds_surrogate(value):
        raise _Unusual
    if text.count("[") + text.count("{") > limits.DEPTH and _deeper(value, limits.DEPTH):
        raise _Unusual
    return value


def _holds_surrogate(value: Any) -> bool:
    try:
        json.dumps(value, ensure_ascii=False).encode("utf-8")
    except UnicodeEncodeError:
        return True
    return False


def _deeper(value: Any, depth: int) -> bool:
    level: list[Any] = [value]
    for _ in range(depth):
        inner: list[Any] = []
        for v in level:
            if v.__class__ is list:
                inner.extend(v)
            elif v.__class__ is dict:
                inner.extend(v.values())
        level = [v for v in inner if v.__class__ in (list, dict)] if inner else []
        if not level:
            return False
    return True


def read_json_nodes(text: str) -> Parsed:
    """The value, the problems and the nodes of a JSON text, every place exact."""
    reader = _Reader(text, line_starts(text))
    root = reader.read_all()
    return Parsed(plain_data(root) if root is not None else None, tuple(reader.problems), root)


def read_jsonl_nodes(text: str) -> Parsed:
    """As ``read_json_nodes``, for JSON Lines: the root is the list of records. A bad line does not hide the next."""
    starts = line_starts(text)
    records: list[Node] = []
    problems: list[Problem] = []
    for number, start in enumerate(starts):
        end = starts[number + 1] - 1 if number + 1 < len(starts) else len(text)
        if not text[start:end].strip():
            continue
        reader = _Reader(text, starts, start, end)
        node = reader.read_all()
        problems.extend(reader.problems)
        if node is not None:
            records.append(node)
        if len(problems) >= limits.PROBLEMS:
            break
    last = place(starts, len(text))
    root = Node("list", records, Span(1, 1, *last))
    return Parsed(plain_data(root), tuple(problems), root)


class _Stop(Exception):
    """Nothing more can be read."""


class _Reader:
    def __init__(self, text: str, starts: list[int], start: int = 0, end: int | None = None) -> None:
        self.text = text if end is None or end == len(text) else text[:end]
        self.starts = starts
        self.at = start
        self.problems: list[Problem] = []
        self.count = 0

    def read_all(self) -> Node | None:
        """The only value of the text, or None where it ends in an error."""
        try:
            self._blank()
            node = self._value(0)
            self._blank()
            if self.at < len(self.text):
                self._fail("the value has ended, but more text follows", "remove it, or use JSON Lines (`.jsonl`)")
        except _Stop:
            return None
        return node

    def _blank(self) -> None:
        match = _BLANK.match(self.text, self.at)
        self.at = match.end() if match else self.at

    def _span(self, start: int, end: int) -> Span:
        return span_at(self.starts, start, end)

    def _problem(self, name: str, message: str, help: str, span: Span, related: tuple[Any, ...] = ()) -> None:
        self.problems.append(Problem(name, message, help, span, related=related))
        if len(self.problems) >= limits.PROBLEMS:
            raise _Stop

    def _fail(self, message: str, help: str, at: int | None = None) -> None:
        at = self.at if at is None else at
        self._problem("syntax", f"not valid JSON: {message}", help, self._span(at, min(at + 1, len(self.text))))
        raise _Stop

    def _value(self, depth: int) -> Node:
        start = self.at
        self.count += 1
        if self.count > limits.NODES:
            self._problem(
                "too-large",
                f"the file holds more than {limits.NODES:,} values",
                "split it, or keep recorded data in JSON Lines",
                self._span(start, start),
            )
            raise _Stop
        head = self.text[start : start + 1]
        if head == '"':
            text = self._string()
            return Node("scalar", text, self._span(start, self.at))
        if head in ("{", "["):
            if depth >= limits.DEPTH:
                self._problem(
                    "too-deep",
                    f"lists and mappings are nested deeper than {limits.DEPTH} levels",
                    "flatten the structure",
                    self._span(start, start + 1),
                )
                raise _Stop
            return self._mapping(depth) if head == "{" else self._list(depth)
        return self._scalar(start, head)

    def _scalar(self, start: int, head: str) -> Node:
        for word, value in _WORDS.items():
            if self.text.startswith(word, start):
                self.at = start + len(word)
                return Node("scalar", value, self._span(start, self.at))
        for word in _FOREIGN_WORDS:
            if self.text.startswith(word, start):
                self.at = start + len(word)
                span = self._span(start, self.at)
                self._problem("bad-number", f"{word} is not a JSON number", "write null or a finite number", span)
                return Node("scalar", None, span)
        match = _NUMBER.match(self.text, start)
        if not match:
            if not head:
                self._fail("the text ends where a value was expected", "complete the value")
            help = "text is written in double quotes" if head.isalpha() or head == "'" else "remove the comma before it"
            self._fail(f"expected a value, found {head!r}", help if head not in "}]" else "remove the comma before it")
        assert match is not None
        self.at = match.end()
        return Node("scalar", self._number(match), self._span(start, self.at))

    def _number(self, match: re.Match[str]) -> Any:
        text = match[0]
        span = self._span(match.start(), match.end())
        if match[1] is None and match[2] is None:
            if len(text) > limits.DIGITS:
                self._problem(
                    "bad-number", f"a whole number of {len(text):,} digits; at most {limits.DIGITS:,} are read",
                    "write it as text in quotes", span,
                )  # fmt: skip
                return None
            return int(text)
        if isinf(float(text)):
            self._problem(
                "bad-number", "the number is larger than any that a double holds (about 1.8e308)",
                "write it as text in quotes", span,
            )  # fmt: skip
            return None
        return Num(text)

    def _string(self) -> str:
        start = self.at
        try:
            text, self.at = scanstring(self.text, start + 1, True)
        except json.JSONDecodeError as error:
            said = error.msg[0].lower() + error.msg[1:].removesuffix(" at")
            self._fail(said, "close the quote, and write line breaks as \\n and tabs as \\t", error.pos)
        result: str = text
        if not result.isascii() and any("\ud800" <= c <= "\udfff" for c in result):
            self._surrogates(start, self.at)
        return result

    def _surrogates(self, start: int, end: int) -> None:
        for match in _ESCAPES.finditer(self.text, start, end):
            if match[0][1] == "u" and len(match[0]) == 6:
                at = match.start()
                self._problem(
                    "lone-surrogate",
                    f"{match[0]} is half of a surrogate pair: no character, and it cannot be sent",
                    "write both halves (`\\ud83d\\ude00`) or the character itself",
                    self._span(at, at + 6),
                )

    def _list(self, depth: int) -> Node:
        start = self.at
        self.at += 1
        node = Node("list", [], Span(1, 1, 1, 1))
        self._blank()
        if self.text[self.at : self.at + 1] == "]":
            self.at += 1
        else:
            while True:
                self._blank()
                node.value.append(self._value(depth + 1))
                if self._closed("]", start):
                    break
        node.span = self._span(start, self.at)
        return node

    def _mapping(self, depth: int) -> Node:
        start = self.at
        self.at += 1
        node = Node("map", {}, Span(1, 1, 1, 1))
        self._blank()
        if self.text[self.at : self.at + 1] == "}":
            self.at += 1
        else:
            while True:
                self._blank()
                self._member(node, depth)
                if self._closed("}", start):
                    break
        node.span = self._span(start, self.at)
        return node

    def _member(self, node: Node, depth: int) -> None:
        start = self.at
        head = self.text[start : start + 1]
        if head != '"':
            help = "remove the comma before it" if head == "}" else "keys are written in double quotes"
            self._fail(
                f"expected a key in double quotes, found {head!r}" if head else "the text ends in a mapping", help
            )
        key = self._string()
        span = self._span(start, self.at)
        self._blank()
        if self.text[self.at : self.at + 1] != ":":
            self._fail("expected ':' after the key", 'write `"key": value`')
        self.at += 1
        self._blank()
        value = self._value(depth + 1)
        if key in node.value:
            first = node.value[key][0]
            self._problem(
                "duplicate-key",
                f"the key {shown(key)} stands twice in this mapping",
                f"remove one; the first is on line {first.line}",
                span,
                ((first, f"first {shown(key)}"),),
            )
            return
        node.value[key] = (span, value)

    def _closed(self, bracket: str, opened: int) -> bool:
        self._blank()
        head = self.text[self.at : self.at + 1]
        if head == bracket:
            self.at += 1
            return True
        if head != ",":
            line = place(self.starts, opened)[0]
            self._fail(
                f"expected ',' or '{bracket}'" + (f", found {head!r}" if head else ", but the text ends"),
                f"close the bracket opened on line {line}, or add the comma that is missing",
            )
        self.at += 1
        return False
