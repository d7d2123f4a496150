"""A problem: a finding that does not yet know its file."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from posixpath import commonprefix
from typing import Any, NamedTuple

from ctxc.base.escaping import visible
from ctxc.base.spans import Location, Span
from ctxc.model.codes import code_of, severity_of
from ctxc.model.finding import Finding, Related, Severity


class Problem(NamedTuple):
    """What is wrong, where, and how to mend it. Without a span, ``pointer`` says where; the span is looked up."""

    name: str
    message: str
    help: str = ""
    span: Span | None = None
    pointer: str = ""
    on_key: bool = False
    related: tuple[tuple[Span, str], ...] = ()
    data: Mapping[str, Any] = {}
    level: Severity | None = None  # where it is not the code's default

    @property
    def severity(self) -> Severity:
        """How bad it is."""
        return self.level or severity_of(self.name)

    @property
    def is_error(self) -> bool:
        """Whether the file is unusable because of it."""
        return self.severity is Severity.ERROR


def finding(problem: Problem, path: str, *, span: Span | None = None) -> Finding:
    """The finding of a problem in a file; ``span`` is used where the problem has none of its own."""
    return Finding(
        code=code_of(problem.name),
        name=problem.name,
        severity=problem.severity,
        message=problem.message,
        help=problem.help,
        location=Location(path, problem.span or span, problem.pointer),
        related=tuple(Related(location=Location(path, s), message=m) for s, m in problem.related),
        data=problem.data,
    )


def shift(problem: Problem, lines: int) -> Problem:
    """The same problem that many lines further down."""
    if not lines:
        return problem
    related = tuple((move(s, lines), m) for s, m in problem.related)
    return problem._replace(span=problem.span and move(problem.span, lines), related=related)


def move(span: Span, lines: int) -> Span:
    """The same span that many lines further down."""
    return Span(span.line + lines, span.column, span.end_line + lines, span.end_column)


def nearest(wrong: str, known: Iterable[str]) -> str:
    """The known name that was most likely meant, or nothing: of those that look alike the one that the fewest edits
    give, of several the one that begins most alike, unless more than two fifths of the letters would have to change."""
    from difflib import get_close_matches

    if len(wrong) > 100:
        return ""
    options = sorted(known)
    folded = {o.lower(): o for o in reversed(options)}
    if wrong.lower() in folded:
        return folded[wrong.lower()]
    near = get_close_matches(wrong, options, n=5, cutoff=0.6)
    ranked = sorted((edits(wrong, name), -len(commonprefix((wrong, name))), n, name) for n, name in enumerate(near))
    return next((name for edits, _, _, name in ranked if _is_likely(wrong, name, edits)), "")


def _is_likely(wrong: str, name: str, edits: int) -> bool:
    if name.startswith(wrong) or wrong.startswith(name):
        return True
    alike = commonprefix((wrong, name))
    own = len(wrong) - 1 - max(alike.rfind(c) for c in ":/.")  # what follows a folder or group that both name
    return edits <= max(1, own * 2 // 5)


def edits(one: str, other: str) -> int:
    """Letters to add, drop, change, or swap with their neighbour, to make one text of the other."""
    before: list[int] = []
    row = list(range(len(other) + 1))
    for i, a in enumerate(one, start=1):
        last, before, row = before, row, [i]
        for j, b in enumerate(other, start=1):
            row.append(min(before[j] + 1, row[j - 1] + 1, before[j - 1] + (a != b)))
            if i > 1 and j > 1 and a == other[j - 2] and one[i - 2] == b:
                row[j] = min(row[j], last[j - 2] + 1)
    return row[-1]


def did_you_mean(wrong: str, known: Iterable[str]) -> str:
    """``; did you mean "x"?`` or nothing."""
    near = nearest(wrong, known)
    return f'; did you mean "{near}"?' if near else ""


def shown(value: object, limit: int = 40) -> str:
    """A value as a message shows it: quoted, on one line, the invisible as escapes, cut to so many code points."""
    return f'"{visible(value if isinstance(value, str) else repr(value), limit)}"'
