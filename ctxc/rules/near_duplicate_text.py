"""Two fragments whose texts are almost the same.

Why: They began as copies. Where they differ, nobody can say which of the two is meant.

Bad:

    # file: fragments/a.md
    ---
    fragment_id: task.intake
    version: 1
    kind: task
    load_mode: route_match
    applies_when: {task: [intake]}
    ---
    Take what the latest message says and fill only the fields that the state allows. Ask for the next missing
    item, one question a turn, in the order of the state. Read back numbers and dates once, and never ask again
    for something that the state already holds.
    # file: fragments/b.md
    ---
    fragment_id: task.update
    version: 1
    kind: task
    load_mode: route_match
    applies_when: {task: [update]}
    ---
    Take what the latest message says and fill only the fields that the state allows. Ask for the next missing
    item, one question a turn, in the order of the state. Read back numbers and dates twice, and never ask
    again for something that the state already holds.

Good:

    # file: fragments/a.md
    ---
    fragment_id: task.intake
    version: 1
    kind: task
    load_mode: route_match
    applies_when: {task: [intake]}
    ---
    Take what the latest message says and fill only the fields that the state allows. Ask for the next missing
    item, one question a turn, in the order of the state. Read back numbers and dates once, and never ask again
    for something that the state already holds.
    # file: fragments/b.md
    ---
    fragment_id: task.update
    version: 1
    kind: task
    load_mode: route_match
    applies_when: {task: [update]}
    ---
    Name the field, its present value and the new value before you propose the change. Nothing has changed
    until a new claim version comes back.

Mend: Move what they share into a fragment that both require, or make the difference as large as it is meant.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from ctxc.base.spans import Origin
from ctxc.model.finding import Finding
from ctxc.model.fragment import Fragment
from ctxc.rules.duplicate_text import fragments, normalised
from ctxc.rules.engine import Context, rule

LEAST_WORDS = 24
"""Shortest text that is compared, in words or Han characters."""

SHARED = 0.75
"""Jaccard similarity of the sets of three successive words, from which two texts are called alike."""

_RARE = 8  # runs of words that more texts than this share say nothing about two of them
_ASCII_WORD = re.compile(r"[a-z0-9]+")
_WORD = re.compile(r"[^\W_\u3400-\u9fff]+|[\u3400-\u9fff]")


def check(context: Context) -> Iterator[Finding]:
    """Pairs that share most of their runs of three words. Linear: only texts that share a rare run are compared."""
    texts: dict[str, tuple[Fragment, str, frozenset[tuple[str, str, str]]]] = {}
    for fragment in sorted(fragments(context), key=lambda f: f.origin):
        text = normalised(context, fragment)
        words = (_ASCII_WORD if text.isascii() else _WORD).findall(text)
        if len(words) >= LEAST_WORDS:
            texts[fragment.id] = (fragment, text, frozenset(zip(words, words[1:], words[2:], strict=False)))
    owners: dict[tuple[str, str, str], list[str]] = {}
    for name, (_, _, runs) in texts.items():
        for run in runs:
            owners.setdefault(run, []).append(name)
    shared: dict[tuple[str, str], int] = {}
    for names in owners.values():
        if 1 < len(names) <= _RARE:
            for number, one in enumerate(names):
                for other in names[number + 1 :]:
                    shared[one, other] = shared.get((one, other), 0) + 1
    for (one, other), common in shared.items():
        first, text, mine = texts[one]
        second, second_text, others = texts[other]
        if 2 * common < SHARED * min(len(mine), len(others)) or text == second_text:
            continue
        both = len(mine & others)
        similarity = both / (len(mine) + len(others) - both)
        if similarity >= SHARED:
            yield RULE.finding(
                context,
                f"fragment {second.id!r} says {round(similarity * 100)} percent of what {first.id!r} says",
                at=Origin(second.text_path),
                help="move what they share into a fragment that both require",
                related=[(Origin(first.text_path), f"fragment {first.id}")],
                data={"fragments": [first.id, second.id], "similarity_percent": round(similarity * 100)},
            )


RULE = rule(__name__, __doc__, check)
