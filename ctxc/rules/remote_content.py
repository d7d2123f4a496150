"""An image, frame or script that is fetched from another host when it is rendered.

Why: With a placeholder in its address it carries data away as soon as somebody looks at the answer.

Bad:

    # file: fragments/a.md
    ---
    fragment_id: core.a
    version: 1
    kind: core
    load_mode: always
    ---
    ![logo](https://cdn.northfield-insurance.com/logo.png?session={{session}})

Good:

    # file: fragments/a.md
    ---
    fragment_id: core.a
    version: 1
    kind: core
    load_mode: always
    ---
    See the logo in the header.

Mend: Take it out, or use a file of your own host without parameters.
"""

from __future__ import annotations

from collections.abc import Iterator

from ctxc.model.finding import Finding
from ctxc.rules._content import characters, report
from ctxc.rules.engine import Context, rule


def check(context: Context) -> Iterator[Finding]:
    """An image, frame or script that is fetched from another host when it is rendered."""
    return report(RULE, context, characters(context, "U017"), "take it out")


RULE = rule(__name__, __doc__, check, detectors=("U017",))
