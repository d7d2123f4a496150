"""A stack trace in the application's own text.

Why: It shows paths, versions and the inside of a system, and costs tokens in every request.

Bad:

    # file: fragments/a.md
    ---
    fragment_id: core.a
    version: 1
    kind: core
    load_mode: always
    ---
    Traceback (most recent call last):
      File "/srv/app/main.py", line 12, in handle
        raise ValueError("x")

Good:

    # file: fragments/a.md
    ---
    fragment_id: core.a
    version: 1
    kind: core
    load_mode: always
    ---
    When a call fails, name the call and its status.

Mend: Take it out; say what it means.
"""

from __future__ import annotations

from collections.abc import Iterator

from ctxc.model.finding import Finding
from ctxc.rules._content import report, traces
from ctxc.rules.engine import Context, rule


def check(context: Context) -> Iterator[Finding]:
    """A stack trace in the application's own text."""
    return report(RULE, context, traces(context), "take it out; say in words what it means")


RULE = rule(__name__, __doc__, check, detectors=("leak.stack-trace",))
