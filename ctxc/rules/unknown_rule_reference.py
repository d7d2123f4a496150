"""A text that refers to a rule id which no text defines.

Why: The model is sent to look for a rule that it is not shown.

Bad:

    # file: fragments/a.md
    ---
    fragment_id: core.a
    version: 1
    kind: core
    load_mode: always
    ---
    - CA-1 Name the source of each statement.
    - CA-2 Where CA-7 applies, leave the source out.

Good:

    # file: fragments/a.md
    ---
    fragment_id: core.a
    version: 1
    kind: core
    load_mode: always
    ---
    - CA-1 Name the source of each statement.
    - CA-2 Where CA-1 cannot be met, say so.

Mend: Write the id of a rule that exists, or define it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from ctxc.model.finding import Finding
from ctxc.rules._house_rules import definitions
from ctxc.rules._texts import application_texts
from ctxc.rules.engine import Context, rule

_ID = re.compile(r"(?<![\w-])([A-Z]{1,5})-(\d{1,3})(?![\w-])")


def check(context: Context) -> Iterator[Finding]:
    """Ids with a prefix under which at least two rules are defined, that are none of them."""
    known = set(definitions(context))
    counts: dict[str, int] = {}
    for name in known:
        prefix = name.partition("-")[0]
        counts[prefix] = counts.get(prefix, 0) + 1
    families = {prefix for prefix, count in counts.items() if count > 1}
    if not families:
        return
    for shown in application_texts(context):
        for match in _ID.finditer(shown.text):
            if match[1] in families and match[0] not in known:
                yield RULE.finding(
                    context,
                    f"{shown.what} refers to rule {match[0]}, which no text defines",
                    at=shown.place(context, match.start(), match.end()),
                    help="write the id of a rule that exists",
                    data={"rule": match[0]},
                )


RULE = rule(__name__, __doc__, check, tier="strict")
