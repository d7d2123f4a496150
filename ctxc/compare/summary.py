"""The change in numbers, and the same change of several fixtures told once."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import fields

from ctxc.model.change import (
    Edit,
    FixtureChange,
    Percentiles,
    SectionChange,
    SourceChange,
    Totals,
    VersionChange,
)

_PLACES = ("base_position", "head_position", "section_id", "base_id")


def edits(fixtures: Sequence[FixtureChange]) -> tuple[Edit, ...]:
    """Every different change of a section, with the fixtures that have it, largest effect first.

    The effect is what it does to all of them together: tokens more or less, and tokens that lose their cache because
    this section is the first that differs.
    """
    groups: dict[tuple[object, ...], list[tuple[str, SectionChange, int]]] = {}
    for fixture in fixtures:
        first = fixture.prefix.first_difference if fixture.prefix is not None else None
        for section in fixture.sections:
            is_first = first is not None and first.section_id in (section.section_id, section.base_id)
            lost = fixture.prefix.lost_tokens if fixture.prefix is not None and is_first else 0
            groups.setdefault(_key(section), []).append((fixture.fixture_id, section, lost))
    found = []
    for group in groups.values():
        lost = sum(tokens for _, _, tokens in group)
        deltas = [section.delta for _, section, _ in group]
        edit = Edit(
            section=group[0][1],
            fixtures=tuple(name for name, _, _ in group),
            effect=lost + sum(map(abs, deltas)),
            least=min(deltas),
            most=max(deltas),
            lost_tokens=lost,
        )
        found.append(edit)
    return tuple(sorted(found, key=_order))


def _key(section: SectionChange) -> tuple[object, ...]:
    """Everything about a change of a section but where it stands in its request, and how a model counts it.

    Without a text to tell it by, a change is another one where it has other tokens.
    """
    left_out = (*_PLACES, "base_tokens", "head_tokens", "facets") if section.hunks else _PLACES
    return tuple(getattr(section, f.name) for f in fields(section) if f.name not in left_out)


def _order(edit: Edit) -> tuple[object, ...]:
    says_something = bool(edit.section.hunks) or edit.section.status in ("added", "removed")
    return (-edit.effect, not says_something, -len(edit.fixtures), edit.section.path, edit.section.section_id)


def percentiles(values: Iterable[int]) -> Percentiles | None:
    """Nearest-rank P50, P95 and the maximum; None without any value."""
    ordered = sorted(values)
    if not ordered:
        return None

    def rank(percent: int) -> int:
        return ordered[max(0, -(-percent * len(ordered) // 100) - 1)]

    return Percentiles(p50=rank(50), p95=rank(95), max=ordered[-1])


def totals(
    fixtures: Sequence[FixtureChange],
    sources: Sequence[SourceChange],
    versions: Sequence[VersionChange],
    told: Sequence[Edit],
    *,
    compiled: int,
) -> Totals:
    """The totals. Percentiles, headroom and prefixes are those of fixtures that changed, were added or removed."""
    changed = [f for f in fixtures if f.status != "unchanged"]
    deltas = {f.fixture_id: d for f in changed if (d := f.tokens.delta) is not None}
    # What does not fit at all is an outcome, and is told as one.
    room = {
        f.fixture_id: f.budget.head_headroom
        for f in changed
        if f.budget.head_headroom is not None and f.head_outcome == "compiled"
    }
    tightest = min(room, key=lambda name: (room[name], name), default="")
    largest = max(deltas, key=lambda name: (abs(deltas[name]), name), default="")
    moved = [f for f in changed if f.prefix is not None and not f.prefix.stable]
    return Totals(
        files=len(sources),
        fixtures=len(fixtures),
        unchanged=len(fixtures) - len(changed),
        changed=sum(f.status == "changed" for f in changed),
        added=sum(f.status == "added" for f in changed),
        removed=sum(f.status == "removed" for f in changed),
        compiled=compiled,
        unseen=sum(f.status == "changed" and set(f.facets) <= {"meta"} for f in changed),
        sections=len(told),
        whitespace_sections=sum(e.section.whitespace for e in told),
        base_tokens=percentiles(f.tokens.base for f in changed if f.tokens.base is not None),
        head_tokens=percentiles(f.tokens.head for f in changed if f.tokens.head is not None),
        delta_tokens=percentiles(deltas.values()),
        largest=largest,
        least_headroom=room.get(tightest),
        least_headroom_fixture=tightest,
        crossed=tuple(f.fixture_id for f in changed if f.budget.crossed),
        prefixes_moved=len(moved),
        lost_tokens=sum(f.prefix.lost_tokens for f in moved if f.prefix is not None),
        dropped=sum(d.status == "dropped" for f in changed for d in f.drops),
        restored=sum(d.status == "restored" for f in changed for d in f.drops),
        breaking=len(_breaking(changed)),
        missing_bumps=sum(v.missing for v in versions),
        invalid=sum(f.head_outcome == "invalid" for f in changed),
    )


def _breaking(changed: Sequence[FixtureChange]) -> set[tuple[str, str, str]]:
    """Every breaking change of a tool or a contract, each once: what it is of, where, why."""
    found: set[tuple[str, str, str]] = set()
    for fixture in changed:
        for tool in fixture.tools.tools if fixture.tools is not None else ():
            found |= {(tool.name, c.pointer, c.reason) for c in tool.changes if c.breaking}
        if fixture.contract is not None:
            found |= {(fixture.contract.head, c.pointer, c.reason) for c in fixture.contract.changes if c.breaking}
    return found
