"""A finding about a version stands at the key, also in a list and in a mapping of one line."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from ctxc.base.spans import Span
from ctxc.model.change import VersionChange
from ctxc.rules.breaking_change import place_of


@pytest.mark.parametrize(
    ("row", "column"),
    [
        ("version: 1.0.0", 1),
        ("    version: 1.0.0", 5),
        ("  - {fragment_id: a, version: 1.0.0}", 22),
        ('  "version": "v1",', 4),
        ("template_id: t", 1),
    ],
)
def test_the_column_is_that_of_the_key(row: str, column: int) -> None:
    change = VersionChange(kind="fragment", id="a", status="changed", path="fragments/m.yaml", line=2)
    context = SimpleNamespace(text=lambda path: f"fragments:\n{row}\n")
    place = place_of(context, change)  # type: ignore[arg-type]
    assert (place.path, place.span) == ("fragments/m.yaml", Span(2, column, 2, column))
