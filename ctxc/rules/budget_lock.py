"""A fixture over the tokens that `budgets.lock` holds for it, or one that the lock does not know.

Why: The lock is a ratchet: whoever wants a larger request says so in a file that a reviewer sees. Where the base judges
its lock does too: there the new lock comes in a change of its own, before what needs it.

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
    {"schema": "ctxc.budgets/1", "fixtures": {"f": {"tokens": 3, "tokenizer": "o200k_base", "method": "exact"}}}
    # file: policies/p.yaml
    policy_id: p
    version: 1
    gates: {budget: {ratchet: true}}

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

Mend: Shorten the request, or write the lock again on purpose: `ctxc gate --update-locks`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from ctxc.base.spans import Location, Origin
from ctxc.model.contract import Policy
from ctxc.model.finding import Finding
from ctxc.model.measured import Measured
from ctxc.rules._ground import ground, judged_by_base, origin_of, selected, settings, told
from ctxc.rules._growth import sources
from ctxc.rules._locks import BUDGETS, BudgetLock, read_budgets
from ctxc.rules.engine import Context, rule

_UPDATE = "shorten the request, or write the lock again on purpose: `ctxc gate --update-locks`"
_FIRST = f"shorten the request, or bring {BUDGETS} in a change of its own; what needs it comes after it"


def ratchets(context: Context) -> Iterator[tuple[Policy, Mapping[str, Any], BudgetLock | None]]:
    """Each policy that ratchets, the slack that it allows, and the lock. A lock that is there judges unasked."""
    lock = ground(context).budgets
    for policy, budget in settings(context, "budget"):
        asked = budget.get("ratchet", lock is not None)
        if asked:
            yield policy, asked if isinstance(asked, Mapping) else {}, lock


def check(context: Context) -> Iterator[Finding]:
    """Fixtures over their lock, fixtures without one, and a lock that is missing or cannot be read."""
    update = "`ctxc gate --update-locks` writes it"
    own = read_budgets(context.tree) if judged_by_base(context) else None
    for policy, _, lock in ratchets(context):
        keys = ("budget", "ratchet")
        if lock is None or lock.fault:
            what = f"cannot be read: {lock.fault}" if lock else "is not there, and the policy asks for it"
            place = lock.at() if lock else Location(BUDGETS)
            yield told(context, RULE, policy, keys, f"{BUDGETS} {what}", at=place, help=update)
            continue
        for measured in selected(context, policy, {}):
            locked = lock.fixtures.get(measured.fixture)
            if locked is None and judged_by_base(context) and measured.fixture not in (ground(context).base or {}):
                continue  # it is new: its first lock comes with it
            if locked is None:
                message = f"{BUDGETS} does not hold fixture {measured.fixture!r}"
                data: dict[str, Any] = {"tokens": measured.tokens}
            elif (locked.tokenizer, locked.method) != (measured.tokenizer, measured.method):
                message = (
                    f"the lock was counted with {locked.tokenizer} ({locked.method}), "
                    f"this with {measured.tokenizer} ({measured.method})"
                )
                data = {"tokens": measured.tokens}
            elif (measured.tokens or 0) > locked.tokens:
                over = (measured.tokens or 0) - locked.tokens
                message = f"{measured.tokens:,} tokens, {over:,} over the {locked.tokens:,} of {BUDGETS}"
                data = {"tokens": measured.tokens, "limit": locked.tokens, "delta": over}
            else:
                continue
            mine = own.fixtures.get(measured.fixture) if own is not None else None
            counted = (measured.tokenizer, measured.method)
            brought = (
                mine is not None and (mine.tokenizer, mine.method) == counted and (measured.tokens or 0) <= mine.tokens
            )
            if brought:
                message += "; the base's lock judges, and this change writes another"
            yield told(
                context,
                RULE,
                policy,
                keys,
                message,
                at=origin_of(context, measured.fixture),
                help=_FIRST if brought else _UPDATE,
                fixture=measured.fixture,
                related=[(lock.at(measured.fixture), "the lock"), *_grown(context, measured)],
                data=data,
            )


def _grown(context: Context, measured: Measured) -> Iterator[tuple[Origin, str]]:
    """The files that made it grow since the base."""
    before = (ground(context).base or {}).get(measured.fixture)
    for source in sources(before.sections, measured.sections, "tokens")[:3] if before is not None else ():
        yield source.at, f"{source.growth:+,} tokens since the base"


RULE = rule(__name__, __doc__, check, needs="packages")
