"""Two fragments with the same text.

Why: A correction reaches one of them; the other goes on saying what was wrong. Where both are loaded, the text is
paid for twice.

Bad:

    # file: fragments/a.md
    ---
    fragment_id: task.intake
    version: 1
    kind: task
    load_mode: route_match
    applies_when: {task: [intake]}
    ---
    Ask for one missing item a turn, in the order of the state, and read back numbers once.
    # file: fragments/b.md
    ---
    fragment_id: task.update
    version: 1
    kind: task
    load_mode: route_match
    applies_when: {task: [update]}
    ---
    Ask for one missing item a turn, in the order of the state, and read back numbers once.

Good:

    # file: fragments/a.md
    ---
    fragment_id: core.asking
    version: 1
    kind: core
    load_mode: route_match
    applies_when: {task: [intake, update]}
    ---
    Ask for one missing item a turn, in the order of the state, and read back numbers once.

Mend: Keep one fragment and let both conditions or `requires` lead to it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from ctxc.base.spans import Origin
from ctxc.model.finding import Finding
from ctxc.model.fragment import Fragment
from ctxc.rules.engine import Context, rule

LEAST = 40
"""Shortest text that is compared, in code points without white space: shorter ones are alike by chance."""

_SPACE = re.compile(r"\s+")


def check(context: Context) -> Iterator[Finding]:
    """Each fragment whose text an earlier one already has, white space apart."""
    seen: dict[str, Fragment] = {}
    for fragment in sorted(fragments(context), key=lambda f: f.origin):
        text = normalised(context, fragment)
        if len(text) < LEAST:
            continue
        first = seen.setdefault(text, fragment)
        if first is not fragment and first.id != fragment.id:
            same = first.text_path == fragment.text_path
            yield RULE.finding(
                context,
                f"fragment {fragment.id!r} has the same text as {first.id!r}"
                + (f": both are {fragment.text_path}" if same else ""),
                at=fragment.origin.child("path") if same else Origin(fragment.text_path),
                help="keep one of them",
                related=[(Origin(first.text_path), f"fragment {first.id}")],
                data={"fragments": [first.id, fragment.id]},
            )


def fragments(context: Context) -> Iterator[Fragment]:
    """Every fragment in its last version."""
    for versions in context.project.fragments.values():
        yield versions[-1]


def normalised(context: Context, fragment: Fragment) -> str:
    """A fragment's text without what does not change its meaning: white space and case."""
    return _SPACE.sub(" ", context.body(fragment.text_path)).strip().casefold()


RULE = rule(__name__, __doc__, check)
