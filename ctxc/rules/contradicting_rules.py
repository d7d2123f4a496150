"""Two rules that say the same with and without a negation.

Why: Whichever the model follows, it breaks the other, and an evaluation measures a coin.

Bad:

    # file: fragments/a.md
    ---
    fragment_id: core.a
    version: 1
    kind: core
    load_mode: always
    ---
    - CA-1 Quote the policy number in the first sentence of an answer.
    # file: fragments/b.md
    ---
    fragment_id: core.b
    version: 1
    kind: core
    load_mode: always
    ---
    - CB-1 Never quote the policy number in the first sentence of an answer.

Good:

    # file: fragments/a.md
    ---
    fragment_id: core.a
    version: 1
    kind: core
    load_mode: always
    ---
    - CA-1 Quote the policy number in the first sentence of an answer.
    # file: fragments/b.md
    ---
    fragment_id: core.b
    version: 1
    kind: core
    load_mode: always
    ---
    - CB-1 Never quote the claim of another customer.

Mend: Remove one, or say under which condition each holds.
"""

from __future__ import annotations

from collections.abc import Iterator

from ctxc.model.finding import Finding
from ctxc.rules._house_rules import Stated, definitions
from ctxc.rules.engine import Context, rule

_LEAST_WORDS = 4


def check(context: Context) -> Iterator[Finding]:
    """Pairs of rules with the same words but for a negation; linear, by the words that are left without it."""
    found: dict[frozenset[str], Stated] = {}
    for stated in (s for versions in definitions(context).values() for s in versions):
        if len(stated.core) < _LEAST_WORDS:
            continue
        other = found.setdefault(stated.core, stated)
        if other is not stated and other.negated != stated.negated and other.meets(stated) and other.id != stated.id:
            yield RULE.finding(
                context,
                f"rule {stated.id} says the opposite of {other.id}",
                at=stated.place(context),
                help="remove one, or say when each holds",
                related=[(other.place(context), f"rule {other.id}")],
                data={"rules": [other.id, stated.id]},
            )


RULE = rule(__name__, __doc__, check, heuristic=True)
