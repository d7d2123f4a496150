"""``ctxc.diff/1``: everything that is known of a change, in JSON's own types. Its schema is committed beside it."""

from __future__ import annotations

from typing import Any

from ctxc.compare.codec import encode
from ctxc.model.change import SCHEMA, Change, Edit, FixtureChange, SectionChange, Tokens
from ctxc.report._json import dump
from ctxc.report.diffs import DiffView


def render(change: Change, view: DiffView) -> str:
    """One canonical JSON object, with a line feed."""
    return dump(value_of(change)) + "\n"


def value_of(change: Change) -> dict[str, Any]:
    """The change as plain values."""
    return {
        "schema": SCHEMA,
        "tool": {"name": "ctxc", "version": change.version, "command": "diff"},
        "base": encode(change.base),
        "head": encode(change.head),
        "whole": change.whole,
        "sources": encode(change.sources),
        "settings": encode(change.settings),
        "fixtures": [_fixture(f) for f in change.fixtures],
        "edits": [_edit(e) for e in change.edits],
        "versions": encode(change.versions),
        "totals": encode(change.totals),
    }


def _fixture(fixture: FixtureChange) -> dict[str, Any]:
    value: dict[str, Any] = encode(fixture)
    value["tokens"] = _tokens(fixture.tokens)
    value["sections"] = [_section(s) for s in fixture.sections]
    value["layout"] = {"base": value.pop("base_layout"), "head": value.pop("head_layout")}
    value["outcome"] = {"base": value.pop("base_outcome"), "head": value.pop("head_outcome")}
    return value


def _section(section: SectionChange) -> dict[str, Any]:
    value: dict[str, Any] = encode(section)
    base, head = value.pop("base_tokens"), value.pop("head_tokens")
    comparable = value.pop("comparable")
    delta = head - base if comparable else None
    value["tokens"] = {"base": base, "head": head, "delta": delta, "comparable": comparable}
    value["position"] = {"base": value.pop("base_position"), "head": value.pop("head_position")}
    return value


def _tokens(tokens: Tokens) -> dict[str, Any]:
    value: dict[str, Any] = encode(tokens)
    return {**value, "delta": tokens.delta}


def _edit(edit: Edit) -> dict[str, Any]:
    """A change that several fixtures share: which, in which fixtures; its hunks stand with the section itself."""
    section = edit.section
    return {
        "section_id": section.section_id,
        "identity": section.identity,
        "path": section.path,
        "status": section.status,
        "facets": list(section.facets),
        "delta": {"least": edit.least, "most": edit.most},
        "fixtures": list(edit.fixtures),
        "effect": edit.effect,
        "lost_tokens": edit.lost_tokens,
    }
