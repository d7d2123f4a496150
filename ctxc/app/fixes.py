"""Applying the edits of findings to files, byte for byte apart from what they change.

Line ends and a byte order mark stay as they are unless an edit is about them: positions are those of the text as it is
read (line feeds, no mark), and are led back to the file as it stands. Column 0 of line 1 is the place before the mark.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from ctxc.base.spans import Span
from ctxc.base.values import dataclass
from ctxc.model.finding import Edit, Finding

_END = re.compile(r"\r\n|\r|\n")
_BOM = "\ufeff"


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """A file before and after its fixes; ``titles`` say what was done, ``left`` how many fixes overlapped others."""

    path: str
    before: str
    after: str
    titles: tuple[str, ...]
    left: int = 0


def plan(findings: Iterable[Finding], sources: Mapping[str, str], *, unsafe: bool) -> tuple[Change, ...]:
    """The changes of all fixes that may be applied, by path; of fixes that overlap, the first in the file counts.

    ``sources`` holds the texts of the files as they stand, line ends and byte order mark included.
    """
    by_path: dict[str, list[tuple[Finding, tuple[Edit, ...]]]] = {}
    for finding in findings:
        fix = finding.fix
        if fix is None or not fix.edits or not (fix.safe or unsafe):
            continue
        paths = {e.location.path for e in fix.edits}
        if len(paths) == 1 and (path := next(iter(paths))) in sources:
            by_path.setdefault(path, []).append((finding, fix.edits))
    return tuple(
        change
        for path, fixes in sorted(by_path.items())
        if (change := _apply(path, sources[path], fixes)).after != change.before
    )


def _apply(path: str, text: str, fixes: list[tuple[Finding, tuple[Edit, ...]]]) -> Change:
    index = _Lines(text)
    taken: list[tuple[int, int]] = []
    chosen: list[tuple[int, int, str]] = []
    titles = []
    left = 0
    for finding, edits in fixes:
        ranges = [index.range(e.location.span) for e in edits]
        if any(r is None or _overlaps(r, taken) for r in ranges):
            left += 1
            continue
        known = [r for r in ranges if r is not None]
        taken.extend(known)
        chosen.extend((start, end, edit.text) for (start, end), edit in zip(known, edits, strict=True))
        assert finding.fix is not None
        titles.append(f"{finding.location}: {finding.fix.title} ({finding.code})")
    after = text
    for start, end, new in sorted(chosen, reverse=True):
        after = after[:start] + new + after[end:]
    return Change(path=path, before=text, after=after, titles=tuple(titles), left=left)


def _overlaps(one: tuple[int, int] | None, taken: list[tuple[int, int]]) -> bool:
    return one is not None and any((one[0] < end and start < one[1]) or (one == (start, end)) for start, end in taken)


class _Lines:
    """Offsets of lines in a text as it stands."""

    def __init__(self, text: str) -> None:
        self.bom = len(_BOM) if text.startswith(_BOM) else 0
        self.text = text
        self.starts = [self.bom]
        self.ends = []
        for match in _END.finditer(text):
            self.ends.append(match.start())
            self.starts.append(match.end())
        self.ends.append(len(text))

    def range(self, span: Span | None) -> tuple[int, int] | None:
        """Start and end of a span; None where the text has no such place."""
        if span is None:
            return None
        start, end = self._offset(span.line, span.column), self._offset(span.end_line, span.end_column)
        return (start, end) if start is not None and end is not None and start <= end else None

    def _offset(self, line: int, column: int) -> int | None:
        if line == len(self.starts) + 1 and column == 1:
            return len(self.text)  # the end of a last line without a line end
        if not 1 <= line <= len(self.starts):
            return None
        if column == 0 and line == 1:
            return 0
        offset = self.starts[line - 1] + column - 1
        return offset if column >= 1 and offset <= self.ends[line - 1] else None


def unified(changes: Iterable[Change]) -> str:
    """The changes as one unified diff."""
    from difflib import unified_diff

    parts: list[str] = []
    for change in changes:
        before, after = _rows(change.before), _rows(change.after)
        lines = unified_diff(before, after, f"a/{change.path}", f"b/{change.path}", n=3)
        parts.extend(line if line.endswith("\n") else line + "\n\\ No newline at end of file\n" for line in lines)
    return "".join(parts)


def _rows(text: str) -> list[str]:
    """Lines with their ends; what is no line feed is shown, so that a change of it can be seen."""
    rows = []
    for row in text.split("\n"):
        shown = row.replace("\r", "\\r").replace(_BOM, "\\ufeff")
        rows.append(shown + "\n")
    last = rows.pop()
    return rows if last == "\n" else [*rows, last[:-1]]
