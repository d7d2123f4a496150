"""A `data:`, `javascript:` or `vbscript:` address.

Why: It runs where the text is rendered.

Bad:

    # file: fragments/a.md
    ---
    fragment_id: core.a
    version: 1
    kind: core
    load_mode: always
    ---
    [open](javascript:alert(1))

Good:

    # file: fragments/a.md
    ---
    fragment_id: core.a
    version: 1
    kind: core
    load_mode: always
    ---
    [open](https://example.com)

Mend: Use an ordinary address.
"""

from __future__ import annotations

from collections.abc import Iterator

from ctxc.model.finding import Finding
from ctxc.rules._content import characters, report
from ctxc.rules.engine import Context, rule


def check(context: Context) -> Iterator[Finding]:
    """A `data:`, `javascript:` or `vbscript:` address."""
    return report(RULE, context, characters(context, "U018"), "use an ordinary address")


RULE = rule(__name__, __doc__, check, detectors=("U018",))
