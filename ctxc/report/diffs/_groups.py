"""The same thing in several fixtures, once."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TypeVar

from ctxc.model.change import Change, FixtureChange
from ctxc.report.diffs import _words

T = TypeVar("T")


def grouped(pairs: Iterable[tuple[FixtureChange, T | None]]) -> list[tuple[list[FixtureChange], T]]:
    """The same change of several fixtures, once, with the fixtures."""
    found: list[tuple[list[FixtureChange], T]] = []
    for fixture, change in pairs:
        if change is None:
            continue
        known = next((group for group, other in found if other == change), None)
        if known is not None:
            known.append(fixture)
        else:
            found.append(([fixture], change))
    return found


def drops(change: Change) -> Iterator[tuple[str, str, int | None, list[str]]]:
    """Section, what became of it, its tokens, and in which fixtures; what costs most first."""
    found: dict[tuple[str, str, int | None], list[str]] = {}
    for fixture in _words.differing(change):
        for drop in fixture.drops:
            told = _words.drop_told(drop.status, drop.base_reason, drop.head_reason)
            found.setdefault((drop.section_id, told, drop.tokens), []).append(fixture.fixture_id)
    for (section, told, tokens), names in sorted(found.items(), key=lambda i: (-(i[0][2] or 0) * len(i[1]), i[0][:2])):
        yield section, told, tokens, names
