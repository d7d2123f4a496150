"""A template, fragment, contract, tool set, request profile or policy without a version.

Why: A change to it has no name: no release can say what it ships, no reference can be pinned, and no gate can ask
for a bump.

Bad:

    # file: templates/t.yaml
    template_id: t
    sections:
      - {id: policy, source: literal, text: Answer briefly.}

Good:

    # file: templates/t.yaml
    template_id: t
    version: 1
    sections:
      - {id: policy, source: literal, text: Answer briefly.}

Mend: Add `version:`, a number (`3`, `v3`) or three parts (`1.4.0`).
"""

from __future__ import annotations

from collections.abc import Iterator

from ctxc.model.finding import Finding
from ctxc.rules._objects import objects
from ctxc.rules.engine import Context, rule


def check(context: Context) -> Iterator[Finding]:
    """Objects that are referred to and have no version."""
    for item in objects(context):
        if not item.version:
            yield RULE.finding(
                context,
                f"{item.kind} {item.id!r} has no version",
                at=item.origin.child(item.id_key),
                help="add `version: 1`",
                data={"kind": item.kind},
            )


RULE = rule(__name__, __doc__, check)
