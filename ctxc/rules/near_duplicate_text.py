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
from collections import Counter
from collections.abc import Iterator, Mapping
from itertools import combinations
from typing import NamedTuple

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


class _Text(NamedTuple):
    """A fragment with its text, and the hashes of its runs of three words (equal hashes are settled by the text)."""

    fragment: Fragment
    text: str
    words: list[str]
    runs: frozenset[int]


def check(context: Context) -> Iterator[Finding]:
    """Pairs that share most of their runs of three words. Linear: only texts that share a rare run are compared."""
    texts: dict[str, _Text] = {}
    for fragment in sorted(fragments(context), key=lambda f: f.origin):
        text = normalised(context, fragment)
        words = (_ASCII_WORD if text.isascii() else _WORD).findall(text)
        if len(words) >= LEAST_WORDS:
            hashes = frozenset(map(hash, zip(words, words[1:], words[2:], strict=False)))
            texts[fragment.id] = _Text(fragment, text, words, hashes)
    for one, other in _pairs(texts):
        first, second = texts[one], texts[other]
        if first.text == second.text:
            continue
        mine, others = _runs(first.words), _runs(second.words)
        both = len(mine & others)
        similarity = both / (len(mine) + len(others) - both)
        if similarity >= SHARED:
            yield RULE.finding(
                context,
                f"fragment {other!r} says {round(similarity * 100)} percent of what {one!r} says",
                at=Origin(second.fragment.text_path),
                help="move what they share into a fragment that both require",
                related=[(Origin(first.fragment.text_path), f"fragment {one}")],
                data={"fragments": [one, other], "similarity_percent": round(similarity * 100)},
            )


def _runs(words: list[str]) -> set[tuple[str, str, str]]:
    return set(zip(words, words[1:], words[2:], strict=False))


def _pairs(texts: Mapping[str, _Text]) -> Iterator[tuple[str, str]]:
    """Pairs that may be alike, in the order of the texts."""
    counts: Counter[int] = Counter()
    for text in texts.values():
        counts.update(text.runs)
    single = {run for run, number in counts.items() if number == 1}
    owners: dict[int, list[str]] = {}
    for name, text in texts.items():
        repeated = text.runs - single
        # Of a text that is alike to another, this share stands in the other as well.
        if len(repeated) >= SHARED * len(text.runs):
            for run in repeated:
                if counts[run] <= _RARE:
                    owners.setdefault(run, []).append(name)
    shared: Counter[tuple[str, str]] = Counter()
    for names in owners.values():
        shared.update(combinations(names, 2))
    place = {name: number for number, name in enumerate(texts)}
    for one, other in sorted(shared, key=lambda pair: (place[pair[0]], place[pair[1]])):
        # Half of it, because runs that many texts share are not counted here.
        if 2 * shared[one, other] >= SHARED * min(len(texts[one].runs), len(texts[other].runs)):
            yield one, other


RULE = rule(__name__, __doc__, check)
