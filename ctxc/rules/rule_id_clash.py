"""A rule id that stands before two different texts.

Why: Evaluations, findings and people name rules by their ids. Where both texts reach one request, the id
contradicts itself.

Bad:

    # file: fragments/a.md
    ---
    fragment_id: core.a
    version: 1
    kind: core
    load_mode: always
    ---
    - CA-1 Answer in the language of the latest message.
    # file: fragments/b.md
    ---
    fragment_id: core.b
    version: 1
    kind: core
    load_mode: always
    ---
    - CA-1 Answer in English only.

Good:

    # file: fragments/a.md
    ---
    fragment_id: core.a
    version: 1
    kind: core
    load_mode: always
    ---
    - CA-1 Answer in the language of the latest message.
    # file: fragments/b.md
    ---
    fragment_id: core.b
    version: 1
    kind: core
    load_mode: always
    ---
    - CB-1 Cite only ids that stand in this request.

Mend: Give one of them another id, or keep one text.
"""

from __future__ import annotations

from collections.abc import Iterator

from ctxc.model.finding import Finding
from ctxc.rules._house_rules import definitions
from ctxc.rules.engine import Context, rule


def check(context: Context) -> Iterator[Finding]:
    """Later definitions of an id whose text is not that of the first; two templates' own texts never meet."""
    for versions in definitions(context).values():
        for number, later in enumerate(versions):
            first = next((v for v in versions[:number] if v.meets(later) and v.words != later.words), None)
            if first is not None:
                yield RULE.finding(
                    context,
                    f"rule id {later.id} already stands before another text",
                    at=later.place(context),
                    help="give one of them another id",
                    related=[(first.place(context), f"first {later.id}")],
                    data={"rule": later.id},
                )


RULE = rule(__name__, __doc__, check)
