"""An e-mail address, a telephone number or a public IP address in the application's own text.

Why: Contacts change without a release, and they belong to somebody.

Bad:

    # file: fragments/a.md
    ---
    fragment_id: core.a
    version: 1
    kind: core
    load_mode: always
    ---
    Write to maria.keller@northfield-insurance.com when in doubt.

Good:

    # file: fragments/a.md
    ---
    fragment_id: core.a
    version: 1
    kind: core
    load_mode: always
    ---
    Write to the address in the state when in doubt.

Mend: Pass it as state, or suppress the finding where it is a public mailbox.
"""

from __future__ import annotations

from collections.abc import Iterator

from ctxc.model.finding import Finding
from ctxc.rules._content import of, personal, report
from ctxc.rules.engine import Context, rule


def check(context: Context) -> Iterator[Finding]:
    """An e-mail address, a telephone number or a public IP address in the application's own text."""
    return report(
        RULE,
        context,
        of(personal(context), "pii.email", "pii.phone", "pii.cn-mobile", "pii.ip"),
        "pass it with the request; a public mailbox may be suppressed with a reason",
    )


RULE = rule(__name__, __doc__, check, detectors=("pii.email", "pii.phone", "pii.cn-mobile", "pii.ip"))
