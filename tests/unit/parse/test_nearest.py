"""The name that was probably meant: the fewest edits, then the likeness of the beginning; nothing far away."""

from __future__ import annotations

import pytest

from ctxc.parse.problems import nearest

CUTS = ("refuse", "drop", "reference", "cut:tail", "cut:head", "cut:middle", "cut:role", "cut:evidence", "cut:lines")
KEYS = ("loaded", "not_loaded", "must_contain", "must_not_contain", "dropped", "outcome")


@pytest.mark.parametrize(
    ("wrong", "known", "meant"),
    [
        ("loadd", KEYS, "loaded"),
        ("laoded", KEYS, "loaded"),
        ("loadd", ("not_loaded", "outcome"), ""),
        ("must_contian", KEYS, "must_contain"),
        ("cut:center", CUTS, ""),
        ("cut:midle", CUTS, "cut:middle"),
        ("cut:evidense", CUTS, "cut:evidence"),
        ("sectoins", ("checkpoints", "version"), ""),
        ("xml", ("xml_v1", "json_v1"), "xml_v1"),
        ("policies/huose.md", ("policies/house.md", "policies/hours.md"), "policies/house.md"),
        ("POLICY", ("policy", "police"), "policy"),
        ("", KEYS, ""),
    ],
)
def test_the_nearest_name(wrong: str, known: tuple[str, ...], meant: str) -> None:
    assert nearest(wrong, known) == meant
