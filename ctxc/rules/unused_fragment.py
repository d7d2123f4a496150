"""A fragment that no fixture loads.

Why: Nothing shows what it does in a request; a change to it passes every check unseen.

Bad:

    # file: templates/t.yaml
    template_id: t
    version: 1
    provider: text
    sections:
      - {id: fragments, source: fragments}
    # file: fragments/a.md
    ---
    fragment_id: task.intake
    version: 1
    kind: task
    load_mode: route_match
    applies_when: {task: [intake]}
    ---
    Ask for one missing item a turn.
    # file: tests/fixtures/f.yaml
    fixture_id: f
    template: t
    route: {task: update}

Good:

    # file: templates/t.yaml
    template_id: t
    version: 1
    provider: text
    sections:
      - {id: fragments, source: fragments}
    # file: fragments/a.md
    ---
    fragment_id: task.intake
    version: 1
    kind: task
    load_mode: route_match
    applies_when: {task: [intake]}
    ---
    Ask for one missing item a turn.
    # file: tests/fixtures/f.yaml
    fixture_id: f
    template: t
    route: {task: intake}

Mend: Add a fixture with a route that loads it, or remove the fragment.
"""

from __future__ import annotations

from collections.abc import Iterator

from ctxc.model.finding import Finding
from ctxc.rules._known import FIXTURES, all_known
from ctxc.rules._routes import fixtures_by_route, ids, index, newest, required
from ctxc.rules.engine import Context, rule


def check(context: Context) -> Iterator[Finding]:
    """Fragments that are no candidate of any fixture and that no candidate requires."""
    known = newest(context)
    if not known or not context.project.fixtures or not all_known(context, "fragment", *FIXTURES):
        return
    reached: set[str] = set()
    for fixture in fixtures_by_route(context).values():
        reached.update(f.id for f in index(context).candidates(fixture.route))
    for fixture in context.project.fixtures.values():
        reached.update(ids(context, fixture.inputs.fragments))
    for name in sorted(reached):
        if name in known:
            reached.update(chain[-1] for chain in required(context, known[name]))
    for fragment in known.values():
        if fragment.id not in reached:
            yield RULE.finding(
                context,
                f"no fixture loads fragment {fragment.id!r}",
                at=fragment.origin.child("fragment_id"),
                help="add a fixture whose route meets its conditions, or remove it",
            )


RULE = rule(__name__, __doc__, check, tier="strict")
