"""A value that looks like a secret by its place.

Why: Many are none; those that are leak like any other.

Bad:

    # file: fragments/a.md
    ---
    fragment_id: core.a
    version: 1
    kind: core
    load_mode: always
    ---
    The database is reached with password: 9fKq-27xT_bvLm0zR4

Good:

    # file: fragments/a.md
    ---
    fragment_id: core.a
    version: 1
    kind: core
    load_mode: always
    ---
    The database is reached through the tool run_query.

Mend: Take it out, or suppress the finding with a reason.
"""

from __future__ import annotations

from collections.abc import Iterator

from ctxc.model.finding import Finding
from ctxc.rules._content import possible, report, secrets
from ctxc.rules.engine import Context, rule


def check(context: Context) -> Iterator[Finding]:
    """A value that looks like a secret by its place."""
    return report(RULE, context, possible(secrets(context)), "take it out; if it is none, suppress this with a reason")


RULE = rule(__name__, __doc__, check, detectors=("secret.*",), heuristic=True)
