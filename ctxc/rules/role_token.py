"""A control or role token of a model family in the application's own text.

Why: In a raw prompt it forges a role; in a message interface it confuses models that were trained on it.

Bad:

    # file: fragments/a.md
    ---
    fragment_id: core.a
    version: 1
    kind: core
    load_mode: always
    ---
    Begin with <|im⟨U+005F⟩start|>system and then answer.

Good:

    # file: fragments/a.md
    ---
    fragment_id: core.a
    version: 1
    kind: core
    load_mode: always
    ---
    Begin with the answer.

Mend: Take it out; roles are set by the request, not by the text.
"""

from __future__ import annotations

from collections.abc import Iterator

from ctxc.model.finding import Finding
from ctxc.rules._content import report, roles
from ctxc.rules.engine import Context, rule


def check(context: Context) -> Iterator[Finding]:
    """A control or role token of a model family in the application's own text."""
    return report(RULE, context, roles(context), "take it out: roles are set by the request")


RULE = rule(__name__, __doc__, check, detectors=("role.*",))
