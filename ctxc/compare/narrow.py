"""A change seen through some of its facets only."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace

from ctxc.model.change import Change, FixtureChange


def only(change: Change, facets: Collection[str]) -> Change:
    """The change with nothing but what has one of the facets; files, versions and totals stay as they are."""
    wanted = set(facets)
    if not wanted:
        return change
    return replace(
        change,
        fixtures=tuple(_fixture(f, wanted) for f in change.fixtures if wanted.intersection(f.facets)),
        edits=tuple(e for e in change.edits if wanted.intersection(e.section.facets)),
        versions=change.versions if wanted & {"meta", "contract", "tools", "content"} else (),
    )


def _fixture(fixture: FixtureChange, wanted: set[str]) -> FixtureChange:
    return replace(
        fixture,
        sections=tuple(s for s in fixture.sections if wanted.intersection(s.facets)),
        drops=fixture.drops if "drops" in wanted else (),
        tools=fixture.tools if "tools" in wanted else None,
        contract=fixture.contract if "contract" in wanted else None,
        fields=tuple(f for f in fixture.fields if f.facet in wanted),
    )
