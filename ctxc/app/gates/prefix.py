"""Step 9: the static prefix is one for a profile, is what it was, is kept along a conversation, and is long enough."""

from __future__ import annotations

from ctxc.app.gates import Gate, Lint, Looked, counted
from ctxc.app.gates._counts import NO_BASE
from ctxc.model.measured import Measured
from ctxc.rules._ground import ground, selected, settings
from ctxc.rules.engine import Context
from ctxc.rules.prefix_unstable import group_of


def look(context: Context, lint: Lint) -> Looked:
    """Prefixes, the requests that share them, and conversations."""
    del lint
    known = ground(context)
    fixtures: dict[str, Measured] = {}
    compared = False
    for policy, prefix in settings(context, "prefix"):
        chosen = selected(context, policy, prefix.get("where", {}))
        against = prefix.get("against_base", "require_version_bump") != "ignore"
        compared = compared or against
        if prefix.get("stable_over") != "ignore" or prefix.get("min_tokens") is not None:
            fixtures |= {m.fixture: m for m in chosen}
        if prefix.get("append_only") != "ignore":
            fixtures |= {m.fixture: m for m in chosen if m.conversation}
        if against:
            fixtures |= {m.fixture: m for m in chosen if m.fixture in (known.base or {})}
    groups = {group_of(m, "request_profile") for m in fixtures.values()}
    talks = {m.conversation for m in fixtures.values() if m.conversation}
    what = f"{counted(len(groups), 'prefix')} of {counted(len(fixtures), 'request')}"
    if talks:
        what += f", {counted(len(talks), 'conversation')}"
    note = f"not compared with a base: {NO_BASE}" if compared and known.base is None else ""
    return Looked(count=len(fixtures), what=what, note=note)


GATE = Gate(
    id="prefix",
    order=9,
    title="Cache prefix",
    rules=("prefix-unstable", "prefix-changed", "conversation-rewritten", "prefix-under-minimum"),
    advice=("CTX400", "CTX401"),
    look=look,
)
