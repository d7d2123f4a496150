"""A finding with the lines of source that it is about."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import lru_cache

from ctxc.base.spans import Location
from ctxc.model.finding import Finding, Severity
from ctxc.report import View
from ctxc.report._encode import cells, clip, visible
from ctxc.report._paint import Style, paint
from ctxc.report._tally import folded

_NAMED = 3  # fixtures of a finding that many have

MAX_COLUMNS = 120
"""Columns of a source line that are shown off a terminal; a prompt may be one line of a megabyte."""

_STYLES: dict[Severity, Style] = {Severity.ERROR: "bad", Severity.WARNING: "warn", Severity.INFO: "accent"}


def severity_style(severity: Severity) -> Style:
    """The style in which a severity is printed."""
    return _STYLES[severity]


def frame(finding: Finding, view: View, fixtures: Sequence[str] = ()) -> str:
    """Severity, code and message; the place with its source line and a mark under it; help and related places.

    ``fixtures``: all those that have it; without them the finding's own.
    """
    return "\n".join(_lines(finding, view, fixtures)) + "\n"


def frames(findings: Iterable[Finding], view: View) -> list[str]:
    """Frames of findings. What several fixtures have alike, in the same place, is told once and names them."""
    return [frame(finding, view, fixtures) for finding, fixtures in folded(findings)]


def fixtures_told(fixtures: Sequence[str], write: Callable[[str], str] = visible) -> str:
    """``fixture a``, ``fixtures a, b, c and 22 more``, each name as ``write`` makes it; empty where there are none."""
    named = [write(f) for f in fixtures if f]
    if len(named) < 2:
        return f"fixture {named[0]}" if named else ""
    more = f" and {len(named) - _NAMED:,} more" if len(named) > _NAMED else ""
    return f"fixtures {', '.join(named[:_NAMED])}{more}"


def _lines(finding: Finding, view: View, fixtures: Sequence[str]) -> Iterator[str]:
    style = severity_style(finding.severity)
    head = paint(f"{finding.severity.label}[{visible(finding.code)}]", style, view)
    yield f"{head} {paint(visible(finding.name), 'dim', view)}: {paint(visible(finding.message), 'bold', view)}"
    place = visible(str(finding.location))
    told = fixtures_told(fixtures or [finding.fixture])
    notes = [told] if told else []
    if finding.revision:
        notes.append(f"at {visible(finding.revision)}")
    about = paint(f"  ({', '.join(notes)})", "dim", view) if notes else ""
    source = _source_line(finding.location, view)
    gutter = len(str(finding.location.span.line)) if finding.location.span and source is not None else 1
    yield f"{paint(' ' * gutter + '-->', 'accent', view)} {place}{about}"
    bar = paint(" " * gutter + " |", "accent", view)
    if source is not None and finding.location.span:
        text, offset, length = source
        yield bar
        yield f"{paint(f'{finding.location.span.line} |', 'accent', view)} {text}".rstrip()
        yield f"{bar} {' ' * offset}{paint('^' * length, style, view)}"
    if finding.help:
        for i, line in enumerate(visible(finding.help, newlines=True).split("\n")):
            yield f"{paint(' ' * gutter + ' =', 'accent', view)} {'help: ' if i == 0 else '      '}{line}"
    for related in finding.related:
        text = f"{related.location}: {related.message}"
        yield f"{paint(' ' * gutter + ' =', 'accent', view)} {visible(text)}"
    if finding.fix is not None:
        kind = "--fix" if finding.fix.safe else "--fix --unsafe-fixes"
        yield f"{paint(' ' * gutter + ' =', 'accent', view)} fix ({kind}): {visible(finding.fix.title)}"


def _source_line(location: Location, view: View) -> tuple[str, int, int] | None:
    """The line to show, the columns before the mark, and the columns of the mark; None without source."""
    if location.span is None:
        return None
    text = view.source(location.path)
    if text is None:
        return None
    lines = _split(text)
    number, column = location.span.line, location.span.column
    if not 1 <= number <= len(lines):
        return None
    line = lines[number - 1]
    end = location.span.end_column if location.span.end_line == number else len(line) + 1
    start, stop = min(column - 1, len(line)), max(min(end - 1, len(line)), column - 1)
    limit = (view.width or MAX_COLUMNS + 8) - 8
    first = max(0, start - limit // 2) if len(line) > limit else 0
    before, marked, after = line[first:start], line[start:stop], line[stop:]
    lead = "…" if first else ""
    shown_before = lead + _shown(before)
    shown_mark = _shown(marked)
    room = max(1, limit - cells(shown_before))
    mark = max(1, min(cells(shown_mark), room))
    shown = shown_before + shown_mark + _shown(after[: limit + 1])  # one more, so that a cut is seen
    return clip(shown, limit), cells(shown_before), mark


@lru_cache(maxsize=4)  # findings come sorted by file, and a file may have thousands
def _split(text: str) -> list[str]:
    # CR, LF and CRLF end lines in what is read; form feeds and Unicode separators do not.
    return text.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n").split("\n")


def _shown(text: str) -> str:
    return visible(text.replace("\t", "    "))
