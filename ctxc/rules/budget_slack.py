"""A lock of `budgets.lock` that is higher than it has to be, or that no fixture uses.

Why: Slack is growth that nobody will have to ask for.

Bad:

    # file: templates/t.yaml
    template_id: t
    version: 1
    provider: text
    sections:
      - {id: policy, source: literal, text: Answer briefly.}
    # file: tests/fixtures/f.yaml
    fixture_id: f
    template: t
    # file: budgets.lock
    {"schema": "ctxc.budgets/1", "fixtures": {"f": {"tokens": 4000, "tokenizer": "o200k_base", "method": "exact"}}}
    # file: policies/p.yaml
    policy_id: p
    version: 1
    gates: {budget: {ratchet: {slack_percent: 5}}}

Good:

    # file: templates/t.yaml
    template_id: t
    version: 1
    provider: text
    sections:
      - {id: policy, source: literal, text: Answer briefly.}
    # file: tests/fixtures/f.yaml
    fixture_id: f
    template: t
    # file: budgets.lock
    {"schema": "ctxc.budgets/1", "fixtures": {"f": {"tokens": 40, "tokenizer": "o200k_base", "method": "exact"}}}
    # file: policies/p.yaml
    policy_id: p
    version: 1
    gates: {budget: {ratchet: {slack_percent: 100}}}

Mend: `ctxc gate --update-locks` writes what is needed now.
"""

from __future__ import annotations

from collections.abc import Iterator

from ctxc.model.finding import Finding
from ctxc.rules._ground import ground, selected, told
from ctxc.rules._locks import BUDGETS
from ctxc.rules.budget_lock import ratchets
from ctxc.rules.engine import Context, rule


def check(context: Context) -> Iterator[Finding]:
    """Locks above what is needed by more than the policy's slack, and locks of fixtures that are gone."""
    help = "`ctxc gate --update-locks` writes what is needed now"
    used: set[str] = set()
    last = None
    for policy, slack, lock in ratchets(context):
        if lock is None or lock.fault:
            continue
        last = policy
        for measured in selected(context, policy, {}):
            locked = lock.fixtures.get(measured.fixture)
            used.add(measured.fixture)
            if locked is None or (locked.tokenizer, locked.method) != (measured.tokenizer, measured.method):
                continue
            allowed = max(slack.get("slack_tokens", 0), locked.tokens * slack.get("slack_percent", 0) / 100)
            left = locked.tokens - (measured.tokens or 0)
            if left > allowed:
                yield told(
                    context,
                    RULE,
                    policy,
                    ("budget", "ratchet"),
                    f"the lock of {measured.fixture!r} is {locked.tokens:,} tokens, {left:,} more than it takes",
                    at=lock.at(measured.fixture),
                    help=help,
                    fixture=measured.fixture,
                    data={"tokens": measured.tokens, "limit": locked.tokens, "slack": left},
                )
    lock = ground(context).budgets
    if last is None or lock is None:
        return
    known = ground(context).head
    for name in sorted(lock.fixtures.keys() - used):
        if name not in known or not known[name].has_request:
            yield told(
                context,
                RULE,
                last,
                ("budget", "ratchet"),
                f"{BUDGETS} holds {name!r}, of which no request is made any more",
                at=lock.at(name),
                help=help,
                data={"fixture": name},
            )


RULE = rule(__name__, __doc__, check, needs="packages")
