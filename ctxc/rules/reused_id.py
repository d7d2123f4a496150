"""One id for objects of two kinds.

Why: Snapshots, waivers and people name things by id; `answer` that is a contract here and a tool set there is
looked for in the wrong place.

Bad:

    # file: templates/t.yaml
    template_id: t
    version: 1
    provider: text
    sections:
      - {id: policy, source: literal, text: Answer briefly.}
    # file: templates/c.yaml
    contract_id: t
    version: 1
    schema: {type: object}
    refusal: {text: cannot be confirmed}

Good:

    # file: templates/t.yaml
    template_id: t
    version: 1
    provider: text
    sections:
      - {id: policy, source: literal, text: Answer briefly.}
    # file: templates/c.yaml
    contract_id: t_answer
    version: 1
    schema: {type: object}
    refusal: {text: cannot be confirmed}

Mend: Give one of them another id.
"""

from __future__ import annotations

from collections.abc import Iterator

from ctxc.model.finding import Finding
from ctxc.rules._objects import Item, objects
from ctxc.rules.engine import Context, rule


def check(context: Context) -> Iterator[Finding]:
    """Ids that a later kind takes again."""
    first: dict[str, Item] = {}
    for item in objects(context):
        known = first.setdefault(item.id, item)
        if known.kind != item.kind:
            yield RULE.finding(
                context,
                f"the id {item.id!r} of this {item.kind} is also that of a {known.kind}",
                at=item.origin.child(item.id_key),
                help="give one of them another id",
                related=[(known.origin.child(known.id_key), f"the {known.kind}")],
            )


RULE = rule(__name__, __doc__, check)
