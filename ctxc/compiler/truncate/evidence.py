"""evidence: sentences that hold what is to be supported stay; others fill what room is left, from the start.

``keep`` holds supporting spans, citation ids and numbers. An entry counts as found where it stands as it is and is not
part of a longer word or number (``30`` is not in ``1,300`` or ``30.5``). First every entry gets the sentence of its
first occurrence, in the order of ``keep``; then come the other sentences that hold an entry, then sentences from the
beginning until one does not fit. Sentences keep their order in the text; ``[…]`` stands where some were left out, and
the mark with the number stands at the end.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from ctxc.base.text import snap_down, snap_up
from ctxc.compiler.truncate._ends import only_mark, whole
from ctxc.compiler.truncate._marker import GAP, joined, tokens_cut
from ctxc.compiler.truncate._result import Cut, Range
from ctxc.model.counting import Tokenizer

SHORTEST, LONGEST = 40, 400
"""A sentence of more code points than LONGEST (or than half the limit would hold, but at least SHORTEST) is split."""

_SENTENCE_END = re.compile(r"(?:(?<![.!?…])[.!?…]++[\"'»”’)\]]*+(?=\s)|[。！？；]++[」』”’）]*+|\n)\s*+")
_SPACE = re.compile(r"\s+")


def cut(text: str, limit: int, tokenizer: Tokenizer, keep: Sequence[str] = ()) -> Cut:
    """Keep the sentences that hold an entry of ``keep``, at most ``limit`` tokens with all marks.

    ``lost`` of the result names the entries that are in the text but not in the result.
    """
    before = tokenizer.count(text)
    if before <= limit:
        return whole(text, "evidence", before)
    found = {entry: places for entry in keep if entry and (places := tuple(_occurrences(text, entry)))}
    longest = min(max(limit * len(text) // (2 * max(before, 1)), SHORTEST), LONGEST)
    sentences = tuple(_sentences(text, _merged(found), longest))
    wanted = _wanted(sentences, found)
    sizes = tokenizer.count_many([text[start:end] for start, end in sentences])
    gap = tokenizer.count(f" {GAP} ")
    budget = limit - tokenizer.count(joined("x", tokens_cut(before), ""))
    while budget > 0:
        runs = _runs(sentences, _chosen(wanted, sizes, gap, budget))
        if not runs:
            break
        left_out = max(1, before - sum(tokenizer.count_many([text[start:end] for start, end in runs])))
        result = joined(_composed(text, runs), tokens_cut(left_out), "")
        after = tokenizer.count(result)
        if after <= limit:
            return Cut(
                text=result,
                strategy="evidence",
                tokens_before=before,
                tokens_after=after,
                cut=True,
                fits=True,
                kept_ranges=runs,
                lost=tuple(entry for entry, places in found.items() if not _within(places, runs)),
            )
        budget -= after - limit
    return replace(only_mark(text, "evidence", before, limit, tokenizer), lost=tuple(found))


# -- what is to be kept ------------------------------------------------------------------------------------------------


def _occurrences(text: str, entry: str) -> Iterator[Range]:
    at = text.find(entry)
    while at >= 0:
        end = at + len(entry)
        if _continues(entry[0], text[max(at - 2, 0) : at][::-1]) or _continues(entry[-1], text[end : end + 2]):
            at = text.find(entry, at + 1)
        else:
            yield at, end
            at = text.find(entry, end)


def _continues(edge: str, outside: str) -> bool:
    """Whether the characters outside, nearest first, go on with the word or number that has this edge."""
    if not outside or not (edge.isascii() and edge.isalnum()):
        return False
    nearest, next_ = outside[0], outside[1:]
    return (nearest.isascii() and nearest.isalnum()) or (edge.isdigit() and nearest in ".," and next_.isdigit())


def _merged(found: Mapping[str, Sequence[Range]]) -> list[Range]:
    merged: list[Range] = []
    for start, end in sorted(place for places in found.values() for place in places):
        if merged and start < merged[-1][1]:
            merged[-1] = (merged[-1][0], max(end, merged[-1][1]))
        else:
            merged.append((start, end))
    return merged


def _wanted(sentences: Sequence[Range], found: Mapping[str, Sequence[Range]]) -> list[int]:
    """Sentences that hold an entry, by rank. An occurrence lies in one sentence."""
    ends = [end for _, end in sentences]
    first = [bisect_left(ends, places[0][1]) for places in found.values()]
    others = sorted(bisect_left(ends, end) for places in found.values() for _, end in places)
    return list(dict.fromkeys([*first, *others]))


# -- sentences ---------------------------------------------------------------------------------------------------------


def _sentences(text: str, matches: Sequence[Range], longest: int) -> Iterator[Range]:
    """Ranges that cover the text without a gap; none begins or ends inside a grapheme or a match."""
    starts = [start for start, _ in matches]

    def free(at: int) -> int:
        while True:
            at = snap_up(text, at)
            index = bisect_left(starts, at) - 1
            if index < 0 or matches[index][1] <= at:
                return at
            at = matches[index][1]

    start = 0
    for found in [*(match.end() for match in _SENTENCE_END.finditer(text)), len(text)]:
        end = free(found)
        while end - start > longest:
            piece = free(_split(text, start, start + longest))
            if piece >= end:
                break
            yield start, piece
            start = piece
        if end > start:
            yield start, end
            start = end


def _split(text: str, start: int, end: int) -> int:
    """Where to split a long sentence: after the last white space of its second half, else at its end."""
    spaces = [match.end() for match in _SPACE.finditer(text, (start + end) // 2, end)]
    at = snap_down(text, spaces[-1] if spaces else end)
    return at if at > start else end


# -- choosing and composing --------------------------------------------------------------------------------------------


def _chosen(wanted: Sequence[int], sizes: Sequence[int], gap: int, budget: int) -> set[int]:
    """Sentences of at most about ``budget`` tokens: those that are wanted, then from the start."""
    chosen: set[int] = set()

    def take(index: int) -> bool:
        nonlocal budget
        # One gap for each run of sentences: a sentence between two chosen ones closes it.
        size = sizes[index] + gap * (1 - (index - 1 in chosen) - (index + 1 in chosen))
        if size > budget:
            return False
        budget -= size
        chosen.add(index)
        return True

    for index in wanted:
        take(index)
    for index in range(len(sizes)):
        if index not in chosen and not take(index):
            break
    return chosen


def _runs(sentences: Sequence[Range], chosen: set[int]) -> tuple[Range, ...]:
    runs: list[Range] = []
    for index in sorted(chosen):
        start, end = sentences[index]
        if runs and runs[-1][1] == start:
            runs[-1] = (runs[-1][0], end)
        else:
            runs.append((start, end))
    return tuple(runs)


def _composed(text: str, runs: Sequence[Range]) -> str:
    parts: list[str] = []
    for start, end in runs:
        if start > 0:
            if parts and not parts[-1][-1].isspace():
                parts.append(" ")
            parts.append(f"{GAP} ")
        parts.append(text[start:end])
    return "".join(parts)


def _within(places: Sequence[Range], runs: Sequence[Range]) -> bool:
    return any(run[0] <= start and end <= run[1] for start, end in places for run in runs)
