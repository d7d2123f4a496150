"""Fixtures that a change gave another id: the same route and the same inputs under two names are one request."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from ctxc.base.canonical import canonical

if TYPE_CHECKING:
    from ctxc.app.gates._side import GateSide
    from ctxc.model.fixture import Fixture


def renamed(base: GateSide, head: GateSide) -> Mapping[str, str]:
    """Id at the head to id at the base, of fixtures that differ in their id, template or expectations alone.

    Two that cannot be told apart are not paired; neither is a fixture without inputs, which is like any other.
    """
    gone, new = base.measured.keys() - head.measured.keys(), head.measured.keys() - base.measured.keys()
    if not gone or not new:
        return {}
    before, after = _by_inputs(base, gone), _by_inputs(head, new)
    return {
        after[key][0]: names[0] for key, names in sorted(before.items()) if len(names) == len(after.get(key, ())) == 1
    }


def _by_inputs(side: GateSide, names: frozenset[str] | set[str]) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for name in sorted(names):
        key = _inputs(side.project.fixtures[name])
        if key:
            found.setdefault(key, []).append(name)
    return found


def _inputs(fixture: Fixture) -> str:
    asked = fixture.inputs
    records = (*asked.evidence, *asked.memory, *asked.tool_results, *asked.handoff)
    if not (asked.values or asked.history or records):
        return ""
    return canonical(
        [
            {k: list(v) for k, v in fixture.route.items()},
            asked.values,
            [[m.role, m.content] for m in asked.history],
            [[r.id, r.text, r.value] for r in records],
        ]
    )
