"""A space that is not the ASCII space, in a name, a key or a delimiter.

Why: It looks like the other and is not equal to it.

Bad:

    # file: templates/answer.yaml
    contract_id: answer
    version: 1
    schema: {type: object, properties: {"due⟨U+00A0⟩date": {type: string}}}
    refusal: {text: cannot be confirmed}

Good:

    # file: templates/answer.yaml
    contract_id: answer
    version: 1
    schema: {type: object, properties: {"due_date": {type: string}}}
    refusal: {text: cannot be confirmed}

Mend: Write an ordinary space, or `_`.
"""

from __future__ import annotations

from collections.abc import Iterator

from ctxc.model.finding import Finding
from ctxc.rules._content import characters, report
from ctxc.rules.engine import Context, rule


def check(context: Context) -> Iterator[Finding]:
    """A space that is not the ASCII space, in a name, a key or a delimiter."""
    return report(RULE, context, characters(context, "U013"), "write an ordinary space or `_`")


RULE = rule(__name__, __doc__, check, detectors=("U013",))
