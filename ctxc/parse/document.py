"""One file: bytes to a value with its problems, whatever of YAML, JSON, JSON Lines or Markdown it is."""

from __future__ import annotations

import re
from typing import Any

from ctxc.base.spans import Span
from ctxc.base.values import dataclass
from ctxc.parse import frontmatter
from ctxc.parse.nodes import Node, escape, marks
from ctxc.parse.problems import Problem, move, shift
from ctxc.parse.scalars import NULLS, Plain
from ctxc.parse.text import decode

_SYNTAXES = {
    "json": "json",
    "jsonl": "jsonl",
    "ndjson": "jsonl",
    "yaml": "yaml",
    "yml": "yaml",
    "md": "markdown",
    "markdown": "markdown",
}
_TOML_HEADER = re.compile(r"\s*+\[++([^\]]++)\]")
_TOML_ENTRY = re.compile(
    r"\s*(?:tool\s*\.\s*ctxc\s*\.\s*)?([A-Za-z0-9_-]+|\"[^\"]+\"|'[^']+')\s*=\s*(\"[^\"]*\"|'[^']*'|[^#\s]*)"
)


def syntax_of(path: str) -> str:
    """``yaml``, ``json``, ``jsonl``, ``markdown``, or ``text`` for any other name."""
    return _SYNTAXES.get(path.rpartition(".")[2].lower(), "text") if "." in path else "text"


@dataclass(frozen=True, slots=True, kw_only=True)
class Document:
    """A parsed file. ``value`` is None where there is none; for Markdown it is the front matter.

    ``body`` and ``body_line`` are Markdown's. ``has_value`` tells no front matter from an empty one.
    """

    syntax: str
    value: Any = None
    has_value: bool = False
    problems: tuple[Problem, ...] = ()
    body: str = ""
    body_line: int = 1

    @property
    def is_broken(self) -> bool:
        """Whether the value may not be used."""
        return any(p.is_error for p in self.problems)


def parse(path: str, data: bytes) -> Document:
    """The document of a file's bytes; never raises for what is in them."""
    syntax = syntax_of(path)
    text, problems = decode(data)
    if text is None:
        return Document(syntax=syntax, problems=problems)
    if syntax == "markdown":
        return _markdown(text, problems)
    value, found, _ = _read(syntax, text)
    if any(p.name == "conflict-marker" for p in problems):
        # What a merge left behind is no syntax; saying both would hide the reason.
        found = tuple(p for p in found if p.name != "syntax")
    return Document(syntax=syntax, value=value, has_value=True, problems=(*problems, *found))


def _markdown(text: str, problems: tuple[Problem, ...]) -> Document:
    split = frontmatter.split(text)
    common = {"syntax": "markdown", "body": split.body, "body_line": split.body_line}
    if split.problem is not None:
        return Document(**common, problems=(*problems, split.problem))  # type: ignore[arg-type]
    if split.matter is None:
        return Document(**common, problems=problems)  # type: ignore[arg-type]
    value, found, _ = _read("yaml", split.matter)
    found = tuple(shift(p, 1) for p in found)
    if value.__class__ is Plain and value in NULLS:
        value = {}
    elif not any(p.is_error for p in found) and not isinstance(value, dict):
        found = (*found, frontmatter.not_a_mapping("a list" if isinstance(value, list) else "text"))
    return Document(**common, value=value, has_value=True, problems=(*problems, *found))  # type: ignore[arg-type]


def _read(syntax: str, text: str) -> tuple[Any, tuple[Problem, ...], Node | None]:
    from ctxc.parse.json_text import parse_json, parse_jsonl

    if syntax == "json":
        return parse_json(text)
    if syntax == "jsonl":
        return parse_jsonl(text)
    if text.lstrip()[:1] in ("{", "["):
        # JSON is accepted wherever YAML is; libyaml does not read all of it (pairs of surrogate escapes).
        as_json = parse_json(text)
        if not any(p.name == "syntax" for p in as_json.problems):
            return as_json
    from ctxc.parse.yaml_text import parse_yaml

    return parse_yaml(text)


def nodes(path: str, data: bytes) -> tuple[Node | None, int]:
    """The nodes of a file, and how many lines stand before its first (front matter begins on line 2)."""
    from ctxc.parse.json_text import read_json_nodes, read_jsonl_nodes
    from ctxc.parse.yaml_nodes import read_nodes

    syntax = syntax_of(path)
    text = decode(data).text
    if text is None:
        return None, 0
    if syntax == "json":
        return read_json_nodes(text).root, 0
    if syntax == "jsonl":
        return read_jsonl_nodes(text).root, 0
    if syntax == "markdown":
        matter = frontmatter.split(text).matter
        return (read_nodes(matter).root, 1) if matter is not None else (None, 0)
    if text.lstrip()[:1] in ("{", "["):
        as_json = read_json_nodes(text)
        if as_json.root is not None:
            return as_json.root, 0
    return read_nodes(text).root, 0


def places(path: str, data: bytes) -> dict[str, tuple[Span, Span | None]]:
    """Pointer to the spans of value and key, for every value of a file; empty where it cannot be parsed.

    Of TOML, which only configures a project, those of the keys of ``[tool.ctxc]``.
    """
    if path.endswith(".toml"):
        return _toml_places(data)
    root, lines = nodes(path, data)
    if root is None:
        return {}
    found = marks(root)
    if not lines:
        return found
    return {k: (move(value, lines), key and move(key, lines)) for k, (value, key) in found.items()}


def _toml_places(data: bytes) -> dict[str, tuple[Span, Span | None]]:
    """Found by looking, as tomllib keeps no positions; the pointers are those inside the table."""
    found: dict[str, tuple[Span, Span | None]] = {}
    inside = False
    for number, line in enumerate(data.decode("utf-8", "replace").splitlines(), 1):
        header = _TOML_HEADER.match(line)
        if header:
            parts = [p.strip().strip("\"'") for p in header[1].split(".")]
            inside = parts[:2] == ["tool", "ctxc"]
            if inside:
                name = "/" + escape(parts[2]) if len(parts) > 2 else ""
                found.setdefault(name, (Span(number, 1, number, len(line) + 1), None))
            continue
        entry = _TOML_ENTRY.match(line)
        if inside and entry:
            key, value = (Span(number, entry.start(n) + 1, number, entry.end(n) + 1) for n in (1, 2))
            found.setdefault("/" + escape(entry[1].strip("\"'")), (value, key))
    return found


def find(spans: dict[str, tuple[Span, Span | None]], pointer: str, *, key: bool) -> Span | None:
    """The span of the value (or key) at a pointer; of the nearest value around it where there is none."""
    at = pointer
    while at not in spans:
        if not at:
            return None
        at = at.rpartition("/")[0]
    value, name = spans[at]
    if at != pointer:
        return start_of(value)
    return name if key and name is not None else value


def start_of(span: Span) -> Span:
    """The empty span where a span begins."""
    return Span(span.line, span.column, span.line, span.column)
