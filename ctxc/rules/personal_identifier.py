"""A card, account, identity or social security number in the application's own text.

Why: It is sent to a provider with every request, and is shown to everybody who may read the prompt.

Bad:

    # file: fragments/a.md
    ---
    fragment_id: core.a
    version: 1
    kind: core
    load_mode: always
    ---
    Example: the customer pays with card 4539981746205189.

Good:

    # file: fragments/a.md
    ---
    fragment_id: core.a
    version: 1
    kind: core
    load_mode: always
    ---
    Example: the customer pays with the card on file.

Mend: Replace it by a made-up value that is reserved for examples, or by a description.
"""

from __future__ import annotations

from collections.abc import Iterator

from ctxc.model.finding import Finding
from ctxc.rules._content import of, personal, report
from ctxc.rules.engine import Context, rule


def check(context: Context) -> Iterator[Finding]:
    """A card, account, identity or social security number in the application's own text."""
    return report(
        RULE,
        context,
        of(personal(context), "pii.card", "pii.iban", "pii.cn-id", "pii.us-ssn"),
        "replace it by a description",
    )


RULE = rule(__name__, __doc__, check, detectors=("pii.card", "pii.iban", "pii.cn-id", "pii.us-ssn"))
