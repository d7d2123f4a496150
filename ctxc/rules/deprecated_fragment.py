"""A deprecated fragment that something still loads.

Why: It was marked so that it would go; as long as a route or a requirement leads to it, it stays.

Bad:

    # file: fragments/a.md
    ---
    fragment_id: core.old_tone
    version: 1
    kind: core
    load_mode: explicit
    deprecated: use core.tone
    ---
    Write plainly.
    # file: fragments/b.md
    ---
    fragment_id: core.facts
    version: 1
    kind: core
    load_mode: always
    requires: [core.old_tone]
    ---
    Name the source of each statement.

Good:

    # file: fragments/a.md
    ---
    fragment_id: core.tone
    version: 1
    kind: core
    load_mode: explicit
    ---
    Write plainly.
    # file: fragments/b.md
    ---
    fragment_id: core.facts
    version: 1
    kind: core
    load_mode: always
    requires: [core.tone]
    ---
    Name the source of each statement.

Mend: Let the successor be loaded in its place; keep the deprecated one only as long as a pinned version needs it.
"""

from __future__ import annotations

from collections.abc import Iterator

from ctxc.model.finding import Finding
from ctxc.model.fragment import Fragment, LoadMode
from ctxc.rules._routes import ids, newest
from ctxc.rules.engine import Context, rule


def check(context: Context) -> Iterator[Finding]:
    """Deprecated fragments that are always loaded, and requirements and fixtures that name one."""
    known = newest(context)
    gone = {f.id: f for f in known.values() if f.deprecated}
    for fragment in gone.values():
        if fragment.load_mode is LoadMode.ALWAYS:
            yield RULE.finding(
                context,
                f"fragment {fragment.id!r} is deprecated{_why(fragment)} and always loaded",
                at=fragment.origin.child("load_mode"),
                help="use load_mode explicit while it is phased out",
            )
    for fragment in known.values():
        for number, name in enumerate(ids(context, fragment.requires)):
            if name in gone and not fragment.deprecated:
                yield RULE.finding(
                    context,
                    f"fragment {fragment.id!r} requires {name!r}, which is deprecated{_why(gone[name])}",
                    at=fragment.origin.child("requires", number),
                    help="require its successor",
                    related=[(gone[name].origin.child("deprecated"), "deprecated here")],
                )
    for fixture in context.project.fixtures.values():
        for number, name in enumerate(ids(context, fixture.inputs.fragments)):
            if name in gone:
                yield RULE.finding(
                    context,
                    f"the fixture names fragment {name!r}, which is deprecated{_why(gone[name])}",
                    at=fixture.origin.child("inputs", "fragments", number),
                    help="name its successor",
                    fixture=fixture.id,
                )


def _why(fragment: Fragment) -> str:
    """What the author says beside the bare word."""
    return "" if fragment.deprecated in ("true", "deprecated") else f" ({fragment.deprecated})"


RULE = rule(__name__, __doc__, check)
