"""What made a request grow: the files whose sections did. A reviewer looks at their diff, and not at the fixture."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Literal

from ctxc.base.spans import Origin
from ctxc.base.values import dataclass
from ctxc.model.measured import Measured, MeasuredSection
from ctxc.rules._ground import origin_of
from ctxc.rules.engine import Context

Unit = Literal["tokens", "bytes"]

_TOLD = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """A file and by how much its sections grew together; ``at`` is the one of them that grew most."""

    at: Origin
    growth: int

    def told(self, unit: Unit) -> str:
        """``fragments/refund.md (+40 tokens)``."""
        return f"{self.at.path} ({self.growth:+,} {unit})"


@dataclass(frozen=True, slots=True, kw_only=True)
class Grown:
    """A request that grew more than a bound allows: by how much, in the bound's unit, and from which files."""

    before: Measured
    after: Measured
    delta: int
    sources: tuple[Source, ...]


def sources(before: Iterable[MeasuredSection], after: Iterable[MeasuredSection], unit: Unit) -> tuple[Source, ...]:
    """The files whose sections grew, by their sections' ids; most first."""
    old = {s.id: _size(s, unit) for s in before}
    by_file: dict[str, list[tuple[int, Origin]]] = {}
    for section in after:
        grown = _size(section, unit) - old.get(section.id, 0)
        if grown and section.path:
            by_file.setdefault(section.path, []).append((grown, Origin(section.path, section.pointer)))
    found = [Source(at=max(members)[1], growth=sum(n for n, _ in members)) for members in by_file.values()]
    return tuple(sorted((s for s in found if s.growth > 0), key=lambda s: (-s.growth, s.at)))


def place_of(context: Context, grown: Grown) -> Origin:
    """The file that grew most; the template where only its reserve for the answer did, else the fixture."""
    if grown.sources:
        return grown.sources[0].at
    if grown.after.output != grown.before.output and grown.after.template_path:
        return Origin(grown.after.template_path)
    return origin_of(context, grown.after.fixture)


def by_place(context: Context, found: Iterable[Grown]) -> Iterator[tuple[Origin, Grown, Sequence[Grown]]]:
    """Requests that grew by the same file, with that file's place and the one of them that grew most."""
    groups: dict[str, list[Grown]] = {}
    for grown in found:
        groups.setdefault(place_of(context, grown).path, []).append(grown)
    for members in groups.values():
        worst = max(members, key=lambda g: g.delta)
        yield place_of(context, worst), worst, members


def told_of(grown: Sequence[Source], unit: Unit) -> str:
    """``, most of it from a.md (+40 tokens), b.md (+2 tokens)``; nothing where no file is known."""
    files = ", ".join(s.told(unit) for s in grown[:_TOLD])
    return f", most of it from {files}" if files else ""


def others(members: Sequence[Grown]) -> str:
    """``; so did 3 more fixtures``; nothing where there are none."""
    more = len(members) - 1
    return f"; so did {more:,} more fixture{'s' if more > 1 else ''}" if more else ""


def related(context: Context, grown: Grown, unit: Unit) -> list[tuple[Origin, str]]:
    """The other files that grew, and the fixture."""
    found = [(s.at, f"{s.growth:+,} {unit}") for s in grown.sources[1:_TOLD]]
    return [*found, (origin_of(context, grown.after.fixture), f"fixture {grown.after.fixture}")]


def _size(section: MeasuredSection, unit: Unit) -> int:
    return section.tokens if unit == "tokens" else section.bytes
