"""One compiled fixture of one side, as it is compared: from a package with all its texts, or from a saved snapshot.

A snapshot holds hashes and numbers, and texts only where they were saved with it; a package holds everything. What is
compared is the same for both, so that a change can be told against either.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field
from typing import Any

from ctxc.base.errors import UnreadableSource
from ctxc.base.values import dataclass
from ctxc.compiler.snapshot import SCHEMA, content_hash
from ctxc.model.package import Dropped, Package, Placed
from ctxc.model.project import Project
from ctxc.model.section import Section


@dataclass(frozen=True, slots=True, kw_only=True)
class Item:
    """A section that was rendered (``position`` from 0) or a candidate that was left out (``position`` None).

    ``section``, ``content`` and ``rendered`` are None where only a snapshot is known. ``facts`` are its other keys of
    the snapshot's ``sections``.
    """

    section_id: str
    kind: str
    tokens: int
    position: int | None
    content_hash: str | None
    rendered_hash: str | None = None
    facts: Mapping[str, Any] = field(default_factory=dict)
    section: Section | None = None
    content: str | None = None
    rendered: str | None = None
    stable: bool = False
    sensitive: bool = False
    stage: str = ""
    reason: str = ""
    detail: str = ""
    is_counted: bool = True  # False: it left before it was, and ``tokens`` say nothing

    @property
    def slot(self) -> str:
        """The section of the template that it came from."""
        return self.section.slot if self.section is not None else self.section_id.partition("/")[0]

    @property
    def name(self) -> str:
        """The id that its author gave it: of a fragment, a record; else the section's own."""
        if self.section is not None and self.section.item_id:
            return self.section.item_id
        return self.section_id.partition("/")[2] or self.section_id

    @property
    def source(self) -> str:
        """Where its content came from, as the snapshot names it."""
        return str(self.facts.get("source_uri", "")) or (self.section.source_uri if self.section else "")

    @property
    def zone(self) -> str:
        """Where it lands in the request."""
        return str(self.facts.get("zone", "")) or (self.section.zone.value if self.section else "")

    @property
    def path(self) -> str:
        """The file that it stands in."""
        return self.section.origin.path if self.section else str(self.facts.get("location", {}).get("path", ""))


@dataclass(frozen=True, slots=True, kw_only=True)
class Piece:
    """A segment of the request in physical order; ``wire`` is None where only its hash is known."""

    id: str
    zone: str
    stable: bool
    tokens: int
    hash: str | None
    mark: str = ""
    wire: str | None = None
    frame: int = 0  # code points of protocol in front of the text


@dataclass(frozen=True, slots=True, kw_only=True)
class View:
    """A fixture as one side compiled it. ``project`` gives sources and definitions; None for a saved snapshot."""

    fixture_id: str
    outcome: str
    snapshot: Mapping[str, Any]
    items: tuple[Item, ...]
    left_out: tuple[Item, ...]
    pieces: tuple[Piece, ...]
    project: Project | None = None
    package: Package | None = None
    path: str = ""
    weight: int = 1
    problems: tuple[str, ...] = ()

    @property
    def has_request(self) -> bool:
        """Whether a request came out of it."""
        return self.outcome == "compiled"

    def part(self, *keys: str) -> Any:
        """A value of the snapshot by path; None where it is not there."""
        value: Any = self.snapshot
        for key in keys:
            value = value.get(key) if isinstance(value, Mapping) else None
        return value


def view_of(package: Package, project: Project) -> View:
    """The view of a compiled fixture."""
    facts = package.snapshot.get("sections", ())
    fixture = project.fixtures.get(package.fixture_id)
    return View(
        fixture_id=package.fixture_id,
        outcome=package.outcome.value,
        snapshot=package.snapshot,
        items=tuple(_placed(p, f) for p, f in zip(package.placed, facts, strict=True)),
        left_out=tuple(_dropped(d) for d in package.dropped),
        pieces=_pieces(package),
        project=project,
        package=package,
        path=fixture.origin.path if fixture is not None else "",
        weight=fixture.weight if fixture is not None else 1,
        problems=tuple(f"{f.location}: {f.code} {f.message}" for f in package.findings)
        if package.outcome.value == "invalid"
        else (),
    )


def _placed(placed: Placed, facts: Mapping[str, Any]) -> Item:
    section = placed.section
    return Item(
        section_id=section.section_id,
        kind=section.kind.value,
        tokens=placed.tokens,
        position=placed.position,
        # The snapshot leaves out the hash of what is sensitive; here nothing leaves the process.
        content_hash=content_hash(section, placed.content),
        rendered_hash=facts.get("rendered_hash"),
        facts=facts,
        section=section,
        content=placed.content,
        rendered=placed.rendered,
        stable=placed.stable,
        sensitive=section.sensitive,
    )


def _dropped(dropped: Dropped) -> Item:
    section = dropped.section
    text = ""
    if section is not None and not section.messages and not section.tools:
        text = section.text
    return Item(
        section_id=dropped.section_id,
        kind=dropped.kind,
        tokens=dropped.tokens or 0,
        is_counted=dropped.tokens is not None,
        position=None,
        content_hash=content_hash(section, text) if section is not None and not section.has_value else None,
        section=section,
        sensitive=section.sensitive if section is not None else False,
        stage=dropped.stage,
        reason=dropped.reason,
        detail=dropped.detail,
    )


def _pieces(package: Package) -> tuple[Piece, ...]:
    known = package.snapshot.get("cache", {}).get("segments", ())
    return tuple(
        Piece(
            id=s.id,
            zone=s.zone,
            stable=s.stable,
            tokens=k["tokens"],
            hash=k["hash"],
            mark=s.mark,
            wire=s.wire,
            frame=len(s.frame),
        )
        for s, k in zip(package.segments, known, strict=True)
    )


def view_of_snapshot(value: Any, texts: Mapping[str, str] | None = None) -> View:
    """The view of a saved ``ctxc.snapshot/1``; ``texts`` are rendered texts by section id.

    Raises UnreadableSource for any other value: a saved file is input like any other.
    """
    told = value.get("schema") if isinstance(value, Mapping) else None
    if not isinstance(told, str):
        raise UnreadableSource("no snapshot is in it", help="save it again: `ctxc snapshot save`")
    if told != SCHEMA:
        raise UnreadableSource(
            f"not comparable: the saved snapshot is {told!r}, this ctxc writes {SCHEMA}",
            help="save it again: `ctxc snapshot save`",
        )
    texts = texts or {}
    try:
        items = tuple(_saved(s, texts) for s in _rows(value, "sections"))
        left_out = tuple(
            Item(
                section_id=_text(d, "section_id"),
                kind=_text(d, "kind"),
                tokens=_number(d, "tokens") if d["tokens"] is not None else 0,
                is_counted=d["tokens"] is not None,
                position=None,
                content_hash=None,
                stage=_text(d, "stage"),
                reason=_text(d, "reason"),
                detail=_text(d, "detail"),
            )
            for d in _rows(value, "dropped_sections")
        )
        cache = value.get("cache") or {}
        marks = {_text(m, "after"): _text(m, "ttl") for m in _rows(cache, "marks")}
        pieces = tuple(
            Piece(
                id=_text(s, "id"),
                zone=_text(s, "zone"),
                stable=bool(s.get("stable")),
                tokens=_number(s, "tokens"),
                hash=s.get("hash"),
                mark=marks.get(_text(s, "id"), ""),
            )
            for s in _rows(cache, "segments")
        )
        return View(
            fixture_id=_text(value, "fixture_id"),
            outcome=_text(value, "outcome"),
            snapshot=value,
            items=items,
            left_out=left_out,
            pieces=pieces,
        )
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise UnreadableSource(
            f"the saved snapshot is damaged: {error}", help="save it again: `ctxc snapshot save`"
        ) from None


def _saved(facts: Any, texts: Mapping[str, str]) -> Item:
    name = _text(facts, "section_id")
    return Item(
        section_id=name,
        kind=_text(facts, "kind"),
        tokens=_number(facts, "tokens"),
        position=_number(facts, "position"),
        content_hash=facts.get("content_hash"),
        rendered_hash=facts.get("rendered_hash"),
        facts=facts,
        rendered=texts.get(name),
        stable=bool(facts.get("cacheable")) and facts.get("zone") in ("system", "tools"),
        sensitive=facts.get("content_hash") is None,
    )


def _rows(value: Mapping[str, Any], key: str) -> Sequence[Any]:
    rows = value.get(key, [])
    if not isinstance(rows, list):
        raise ValueError(f"`{key}` is no list")
    return rows


def _text(value: Any, key: str) -> str:
    found = value[key]
    if not isinstance(found, str):
        raise ValueError(f"`{key}` is no text")
    return found


def _number(value: Any, key: str) -> int:
    found = value[key]
    if type(found) is not int:
        raise ValueError(f"`{key}` is no number")
    return found
