"""The texts that a model is shown, each with whose text it is and with the way back to its place in a file.

Application texts are the bodies of section sources and fragments, literals, values of variables, tool definitions and
contracts. Data are the inputs of fixtures. A place inside a value is exact where the file writes the value as it is
(plain or quoted on one line, or a block scalar), else it is the place of the whole value.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from ctxc.base.errors import UnreadableSource
from ctxc.base.spans import Location, Origin
from ctxc.base.values import dataclass
from ctxc.model.fixture import Fixture
from ctxc.model.section import DEFAULTS, Authority, Kind
from ctxc.model.template import SectionSpec, Template
from ctxc.parse.lazy_inputs import is_set_apart
from ctxc.parse.spots import place_in_value, span_of
from ctxc.rules.engine import Context

if TYPE_CHECKING:
    from ctxc.detect.match import Match

_CONTENT_KEYS = ("text", "content", "body", "snippet", "summary", "data", "result", "output")

WORDS = frozenset({"fragments", "retrieval", "literal", "toolset", "contract", ""})
"""Sources of a section that are no files (besides ``runtime`` and ``runtime.KEY``)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Shown:
    """One text. ``body``: it is a file without its front matter; else it is the value at ``origin``."""

    text: str
    origin: Origin
    authority: Authority
    what: str
    body: bool = False
    key: bool = False  # the text is the key of a mapping

    def place(self, context: Context, start: int, end: int) -> Location:
        """The location of a part of the text, by code-point offsets."""
        if self.body:
            whole = context.text(self.origin.path)
            before = len(whole) - len(self.text)
            return Location(self.origin.path, span_of(whole, before + start, before + end))
        whole = context.text(self.origin.path)
        # A record or a message knows its own place; its text stands under one of these keys.
        for origin in (self.origin, *(self.origin.child(key) for key in _CONTENT_KEYS)):
            location = context.locate(origin, key=self.key)
            span = place_in_value(whole, location.span, self.text, start, end)
            if span is not None and span != location.span:
                return location._replace(span=span)
        return context.locate(self.origin, key=self.key)


def search(
    context: Context, about: str, texts: Iterable[Shown], find: Callable[[str], Iterable[Match]]
) -> Iterator[tuple[Shown, Match]]:
    """What a search finds in texts. A file in whose body it found nothing before is not searched again.

    ``about`` names the search with everything but the text that decides what it finds.
    """
    clean = context.clean
    for shown in texts:
        kept = clean if shown.body else None
        if kept is not None and kept.has(about, shown.origin.path):
            continue
        matches = tuple(find(shown.text))
        if kept is not None and not matches:
            kept.note(about, shown.origin.path)
        for match in matches:
            yield shown, match


def templates(context: Context) -> Iterator[Template]:
    """Every template in every version."""
    for versions in context.project.templates.values():
        yield from versions


def sections(context: Context) -> tuple[SectionSpec, ...]:
    """Every section of every template once; what a template takes over from another belongs to that one."""
    return tuple({s.origin: s for t in templates(context) for s in t.sections}.values())


def read(context: Context, path: str) -> str | None:
    """The text of a file without front matter; None where it cannot be read (which loading reports)."""
    try:
        return context.project.sources.body(path)
    except UnreadableSource:
        return None


def is_file(spec: SectionSpec) -> bool:
    """Whether the section's text is a file of the project."""
    return spec.source not in WORDS and not spec.source.startswith("runtime") and spec.kind is not Kind.TOOLS


def authority_of(spec: SectionSpec) -> Authority:
    """Whose text the section holds."""
    return spec.authority if spec.authority is not None else DEFAULTS[spec.kind].authority


def application_texts(context: Context) -> tuple[Shown, ...]:
    """Texts that the application itself shows, each once."""
    return context.shared(_application_texts)


def _application_texts(context: Context) -> tuple[Shown, ...]:
    found: dict[tuple[str, str], Shown] = {}

    def add(shown: Shown) -> None:
        key = (shown.origin.path, shown.origin.pointer + ("#" if shown.key else ""))
        known = found.get(key)
        if shown.text and (known is None or shown.authority < known.authority):
            found[key] = shown

    for template in templates(context):
        for spec in template.sections:
            if is_file(spec):
                text = context.body(spec.source)
                add(_body(text, spec.source, authority_of(spec), f"section {spec.id!r}"))
            elif spec.source == "literal":
                at = spec.origin.child("text")
                add(Shown(text=spec.text, origin=at, authority=authority_of(spec), what=f"section {spec.id!r}"))
        for name, value in template.variables.items():
            at = template.at("variables", name)
            add(Shown(text=value, origin=at, authority=Authority.T1, what=f"variable {name!r}"))
    for versions in context.project.fragments.values():
        for fragment in versions:
            text = context.body(fragment.text_path)
            add(_body(text, fragment.text_path, Authority.T1, f"fragment {fragment.id!r}"))
    for contract in (c for versions in context.project.contracts.values() for c in versions):
        for shown in strings({"schema": contract.schema, "refusal": contract.refusal}, contract.origin, contract.id):
            add(shown)
    return tuple(found.values())


def _body(text: str, path: str, authority: Authority, what: str) -> Shown:
    return Shown(text=text, origin=Origin(path), authority=authority, what=what, body=True)


def strings(value: Any, origin: Origin, what: str, authority: Authority = Authority.T1) -> Iterator[Shown]:
    """Every string inside a value, keys too, each with its place."""
    if isinstance(value, str):
        yield Shown(text=value, origin=origin, authority=authority, what=what)
    elif isinstance(value, Mapping):
        for key, item in value.items():
            at = origin.child(key)
            yield Shown(text=str(key), origin=at, authority=authority, what=what, key=True)
            yield from strings(item, at, what, authority)
    elif isinstance(value, (list, tuple)):
        for number, item in enumerate(value):
            yield from strings(item, origin.child(number), what, authority)


def data_texts(context: Context) -> tuple[Shown, ...]:
    """Texts that come with a request: what fixtures record of users, tools, retrieval and other agents."""
    return context.shared(_data_texts)


def _data_texts(context: Context) -> tuple[Shown, ...]:
    return _each_once(context.project.fixtures.values())


def data_texts_of(context: Context, is_wanted: Callable[[str], bool]) -> tuple[Shown, ...]:
    """The same, without those of fixtures that nobody has looked into and that lie in no wanted file."""
    fixtures = context.project.fixtures.values()
    return _each_once(f for f in fixtures if not is_set_apart(f.inputs) or is_wanted(f.origin.path))


def _each_once(fixtures: Iterable[Fixture]) -> tuple[Shown, ...]:
    found: dict[tuple[str, str], Shown] = {}
    for fixture in fixtures:
        for shown in _of_fixture(fixture):
            if shown.text:
                found.setdefault((shown.origin.path, shown.origin.pointer), shown)
    return tuple(found.values())


def _of_fixture(fixture: Fixture) -> Iterator[Shown]:
    at = fixture.origin.child("inputs")
    for name, value in fixture.inputs.values.items():
        level = Authority.T3 if name == "user" else Authority.T2
        yield from strings(value, at.child(name), f"inputs.{name}", level)
    for message in fixture.inputs.history:
        level = {"user": Authority.T3, "tool": Authority.T5}.get(message.role, Authority.T2)
        yield Shown(text=message.content, origin=message.origin, authority=level, what=f"{message.role} message")
    for name, level in (
        ("memory", Authority.T2),
        ("evidence", Authority.T4),
        ("tool_results", Authority.T5),
        ("handoff", Authority.T6),
        ("examples", Authority.T3),
    ):
        for record in getattr(fixture.inputs, name):
            what = f"{name} {record.id!r}"
            if record.text:
                yield Shown(text=record.text, origin=record.origin, authority=level, what=what)
            yield from strings(record.value, record.origin, what, level) if record.has_value else ()
