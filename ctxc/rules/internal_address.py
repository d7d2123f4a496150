"""An address inside a private network in the application's own text.

Why: It tells every reader of the prompt how the network is built, and a tool with network access where to go.

Bad:

    # file: fragments/a.md
    ---
    fragment_id: core.a
    version: 1
    kind: core
    load_mode: always
    ---
    Metrics are at http://grafana.prod.internal:3000/d/latency.

Good:

    # file: fragments/a.md
    ---
    fragment_id: core.a
    version: 1
    kind: core
    load_mode: always
    ---
    Metrics come from the tool query_metrics.

Mend: Take it out; let the tool know where the host is.
"""

from __future__ import annotations

from collections.abc import Iterator

from ctxc.model.finding import Finding
from ctxc.rules._content import addresses, named_hosts, report
from ctxc.rules.engine import Context, rule


def check(context: Context) -> Iterator[Finding]:
    """An address inside a private network in the application's own text."""
    return report(
        RULE, context, [*addresses(context), *named_hosts(context)], "take it out; let the tool know where the host is"
    )


RULE = rule(__name__, __doc__, check, detectors=("leak.internal-url",))
