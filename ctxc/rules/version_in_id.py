"""An id that names a version which is not the object's.

Why: `answer_v5` with version 6 is called 5 in every reference and 6 in every snapshot.

Bad:

    # file: templates/c.yaml
    contract_id: answer_v5
    version: 6
    schema: {type: object}
    refusal: {text: cannot be confirmed}

Good:

    # file: templates/c.yaml
    contract_id: answer_v5
    version: 5
    schema: {type: object}
    refusal: {text: cannot be confirmed}

Mend: Correct one of the two, or leave the version out of the id (`answer_v5` then means version 5 of `answer`).
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from ctxc.model.finding import Finding
from ctxc.rules._objects import objects
from ctxc.rules.engine import Context, rule

_VERSION = re.compile(r"[_.-]v(\d+)\Z")


def check(context: Context) -> Iterator[Finding]:
    """Ids that end in ``_vN`` against the first part of the version."""
    for item in objects(context):
        named = _VERSION.search(item.id)
        major = re.match(r"v?(\d+)", item.version)
        if named and major and int(named[1]) != int(major[1]):
            yield RULE.finding(
                context,
                f"{item.kind} {item.id!r} has version {item.version}, and its id says {named[1]}",
                at=item.origin.child("version"),
                help="correct one of the two, or leave the version out of the id",
            )


RULE = rule(__name__, __doc__, check)
