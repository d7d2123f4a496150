"""Edits of a text with their source lines: by line first, then by word inside the lines that differ."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import NamedTuple

from ctxc.base.values import dataclass
from ctxc.compare.lines import LineMap
from ctxc.compare.sequences import Block, blocks
from ctxc.compare.words import elided, is_space_apart, runs, similarity
from ctxc.model.change import Hunk, Run

_ALIKE = 0.4  # of two lines: above, one is a version of the other
_MOVED_CHARACTERS = 40  # a shorter text that stands elsewhere is a coincidence


@dataclass(frozen=True, slots=True, kw_only=True)
class Text:
    """A text of one side, and where its lines stand."""

    text: str
    places: LineMap


def text_hunks(base: Text, head: Text, context: int) -> tuple[Hunk, ...]:
    """The edits of a text, in order, with up to ``context`` equal lines around each; the same edit is told once."""
    if base.text == head.text:
        return ()
    old, new = base.text.split("\n"), head.text.split("\n")
    if not base.text:
        old = []
    if not head.text:
        new = []
    found: list[_Found] = []
    for block in blocks(old, new):
        if not block.equal:
            found.extend(_hunks(old, new, block, base.places, head.places))
    return tuple(_around(_once(_with_moves(found)), [at for _, at in found], old, new, context))


class _Found(NamedTuple):
    """An edit and the lines of both texts that it is about."""

    hunk: Hunk
    at: Block


def _hunks(old: Sequence[str], new: Sequence[str], block: Block, base: LineMap, head: LineMap) -> Iterable[_Found]:
    for part in _parts(old, new, block):
        before, after = "\n".join(old[part.i1 : part.i2]), "\n".join(new[part.j1 : part.j2])
        removed, added = part.i2 > part.i1, part.j2 > part.j1
        kind = "edit" if removed and added else "removed" if removed else "added"
        hunk = Hunk(
            kind=kind,
            path=head.path or base.path,
            base_path=base.path if base.path != head.path else "",
            base_line=base.at(part.i1) if removed else None,
            head_line=head.at(part.j1) if added else None,
            runs=_runs(before, after, kind),
            whitespace=is_space_apart(before, after) or not (before + after).strip(),
        )
        yield _Found(hunk, part)


def _runs(before: str, after: str, kind: str) -> tuple[Run, ...]:
    if kind == "edit":
        return elided(runs(before, after))
    # An empty line is a change of one line end.
    return (Run(op="-", text=before or "\n"),) if kind == "removed" else (Run(op="+", text=after or "\n"),)


def _parts(old: Sequence[str], new: Sequence[str], block: Block) -> Iterable[Block]:
    """A changed block by single lines, where its lines are versions of each other."""
    count = block.i2 - block.i1
    if count < 2 or count != block.j2 - block.j1:
        return (block,)
    pairs = zip(old[block.i1 : block.i2], new[block.j1 : block.j2], strict=True)
    if not all(one == other or similarity(one, other) >= _ALIKE for one, other in pairs):
        return (block,)
    singles = [Block(False, block.i1 + n, block.i1 + n + 1, block.j1 + n, block.j1 + n + 1) for n in range(count)]
    return [s for s in singles if old[s.i1] != new[s.j1]]


def _with_moves(found: list[_Found]) -> list[_Found]:
    """A text that is gone in one place and stands, whole, in another has moved."""
    gone: dict[str, list[int]] = {}
    for number, (hunk, _) in enumerate(found):
        if hunk.kind == "removed":
            gone.setdefault(hunk.runs[0].text.strip("\n"), []).append(number)
    taken: set[int] = set()
    result = list(found)
    for number, (hunk, at) in enumerate(found):
        text = hunk.runs[0].text.strip("\n")
        places = gone.get(text)
        if hunk.kind != "added" or not places or len(text.strip()) < _MOVED_CHARACTERS:
            continue
        source = places.pop(0)
        taken.add(source)
        line = found[source].hunk.base_line
        moved = replace(hunk, kind="moved", base_line=line, runs=(Run(op="=", text=text),), whitespace=False)
        result[number] = _Found(moved, at)
    return [each for number, each in enumerate(result) if number not in taken]


def _key(hunk: Hunk) -> tuple[object, ...] | None:
    """What makes two edits the same: the kind and what is gone and new, wherever it stands."""
    if hunk.kind == "edit":
        changed = [(r.op, r.text) for r in hunk.runs if r.op in "-+"]
        return ("edit", *dict.fromkeys(_pairs(changed)))
    if hunk.kind in ("added", "removed"):
        return (hunk.kind, hunk.runs[0].text)
    return None


def _pairs(changed: list[tuple[str, str]]) -> list[tuple[str, str]]:
    """Removed and added texts side by side."""
    found: list[tuple[str, str]] = []
    at = 0
    while at < len(changed):
        op, text = changed[at]
        following = changed[at + 1] if at + 1 < len(changed) else ("", "")
        if op == "-" and following[0] == "+":
            found.append((text, following[1]))
            at += 2
        else:
            found.append((text, "") if op == "-" else ("", text))
            at += 1
    return found


def _once(found: list[_Found]) -> list[_Found]:
    """The same edit in several places, told once with the number of places."""
    first: dict[tuple[object, ...], int] = {}
    result: list[_Found] = []
    for hunk, at in found:
        key, times = _key(hunk), _times(hunk)
        if key is None or key not in first:
            if key is not None:
                first[key] = len(result)
            result.append(_Found(replace(hunk, count=times), at))
            continue
        known = result[first[key]]
        line = hunk.head_line if hunk.head_line is not None else hunk.base_line
        also = (*known.hunk.also, line) if line is not None else known.hunk.also
        result[first[key]] = known._replace(hunk=replace(known.hunk, count=known.hunk.count + times, also=also))
    return result


def _times(hunk: Hunk) -> int:
    """How often one and the same pair stands in an edit; edits of several kinds are one place."""
    if hunk.kind != "edit":
        return 1
    pairs = _pairs([(r.op, r.text) for r in hunk.runs if r.op in "-+"])
    return len(pairs) if len(set(pairs)) == 1 else 1


def _around(
    told: Iterable[_Found], edits: Sequence[Block], old: Sequence[str], new: Sequence[str], context: int
) -> Iterable[Hunk]:
    """The hunks with equal lines before and after them, taken from head (of a removed text: from base).

    No line that another edit changes, and none that stands in the hunk before, is shown as an equal one.
    """
    if context <= 0:
        yield from (hunk for hunk, _ in told)
        return
    nothing, end_of_text = Block(False, 0, 0, 0, 0), Block(False, len(old), len(old), len(new), len(new))
    neighbours = dict(zip(edits, zip((nothing, *edits), (*edits[1:], end_of_text), strict=False), strict=True))
    behind: dict[Block, int] = {}  # how many equal lines are shown behind an edit
    for hunk, at in told:
        previous, following = neighbours[at]
        if at.j2 > at.j1:
            lines, start, end, first, last = new, at.j1, at.j2, previous.j2, following.j1
        else:
            lines, start, end, first, last = old, at.i1, at.i2, previous.i2, following.i1
        first, last = max(first + behind.get(previous, 0), start - context), min(last, end + context)
        behind[at] = last - end
        yield replace(hunk, before=tuple(lines[first:start]), after=tuple(lines[end:last]))
