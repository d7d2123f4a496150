"""For people at a terminal: the summary first, then what changed, largest effect first.

Removed and added words are marked as well as coloured, so that a copy without colour says the same. Off a terminal
nothing is wrapped.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from ctxc.model.change import Change, ContractChange, Edit, FixtureChange, Hunk, Run, SchemaChange, ToolChange
from ctxc.report._draw import Cell
from ctxc.report._encode import cells, visible
from ctxc.report._paint import Style, paint
from ctxc.report._tally import plural
from ctxc.report.diffs import DiffView, _words
from ctxc.report.diffs._groups import drops, grouped

_EDITS = 25  # of a change that are shown unless everything is asked for
_LINES = 12  # of a text that is only on one side
_GUTTER = 7


def render(change: Change, view: DiffView) -> str:
    """The change as text that ends with a line feed."""
    painter = _Painter(view)
    lines = [*painter.head(change)]
    if _words.differing(change) or change.versions or change.sources:
        lines += painter.body(change)
    return "\n".join(lines).rstrip("\n") + "\n"


class _Painter:
    def __init__(self, view: DiffView) -> None:
        self.view = view.view
        self.stat = view.stat
        self.full = view.full or view.view.verbosity > 0

    def paint(self, text: str, style: Style) -> str:
        return paint(visible(text), style, self.view)

    # --- head -----------------------------------------------------------------------------------------------------

    def head(self, change: Change) -> Iterator[str]:
        yield f"{self.paint('ctxc diff', 'bold')}  {self.paint(_words.sides(change), 'dim')}"
        yield self.paint(_words.headline(change), "bold")
        found = _words.summary(change)
        if found:
            yield ""
            width = max(len(line.label) for line in found)
            for line in found:
                label = self.paint(f"{line.label:<{width}}", "dim")
                yield from self.wrapped(f"  {label}  ", visible(line.text), 4 + width, line.style)

    # --- body -----------------------------------------------------------------------------------------------------

    def body(self, change: Change) -> Iterator[str]:
        yield from self.edits(change)
        yield from self.tools(change)
        yield from self.contracts(change)
        yield from self.drops(change)
        yield from self.fixtures(change)
        yield from self.versions(change)
        yield from self.files(change)

    def row(self, prefix: str, indent: int, *parts: tuple[str, Style]) -> Iterator[str]:
        """Texts of a project with two blanks between them, on one line where the terminal is wide enough."""
        found: list[Cell] = []
        for text, style in parts:
            if text:
                found += [Cell("  ")] * bool(found) + [Cell(visible(text), style)]
        yield from self.folded(prefix, found, indent)

    def marked(self, mark: tuple[str, Style], *parts: tuple[str, Style], indent: int = 0) -> Iterator[str]:
        """A row behind a mark."""
        yield from self.row(" " * indent + paint(mark[0], mark[1], self.view) + " ", indent + 4, *parts)

    def title(self, text: str, note: str = "") -> Iterator[str]:
        yield ""
        yield from self.row("", 2, (text, "accent"), (note, "dim"))

    def edits(self, change: Change) -> Iterator[str]:
        edits = [e for e in change.edits if self.full or not _words.is_drop(e)]
        if not edits:
            return
        shown = edits if self.full else edits[:_EDITS]
        yield from self.title("sections", "largest effect first")
        for edit in shown:
            yield from self.edit(change, edit)
        left = len(edits) - len(shown)
        if left:
            yield self.paint(f"  {left:,} smaller changes are not shown; -v shows all", "dim")

    def edit(self, change: Change, edit: Edit) -> Iterator[str]:
        section = edit.section
        name, facts = _words.edit_title(edit)
        yield from self.marked(_MARKS[section.status], (name, "bold"), (facts, _tone(edit.most)))
        if self.stat:
            return
        notes = [_words.position_told(section)] if "order" in section.facets else []
        notes += [_words.field_told(f) for f in section.fields if f.name != "id"]
        if len(edit.fixtures) > 1:
            notes.append(f"in {_words.some(edit.fixtures)}")
        if edit.lost_tokens:
            notes.append(f"first difference of the prefix: {plural(edit.lost_tokens, 'token')} lose their cache")
        if section.masked and "content" in section.facets:
            notes.append("its text is sensitive and is not shown")
        for note in filter(None, notes):
            yield from self.wrapped("    ", visible(note), 4, "dim")
        yield from self.hunks(section.hunks)

    # --- hunks ----------------------------------------------------------------------------------------------------

    def hunks(self, hunks: Sequence[Hunk]) -> Iterator[str]:
        last = ""
        for hunk in hunks:
            place = _words.hunk_place(hunk)
            told = _words.times_told(hunk)
            if place.partition(":")[0] != last or hunk.pointer or told or hunk.kind == "moved":
                yield from self.row("    ", 6, (place, "dim"), (told, "warn"))
                last = place.partition(":")[0]
            if hunk.kind == "moved":
                yield from self.cut(hunk.runs[0].text, "~", "accent", hunk.head_line)
                continue
            yield from self.context(hunk.before, _first(hunk), -len(hunk.before))
            if hunk.kind in ("added", "removed") or (hunk.kind == "value" and len(hunk.runs) == 1):
                yield from self.side(hunk, hunk.runs[0])
            elif all(run.op in "-+" for run in hunk.runs):
                for run in hunk.runs:
                    yield from self.side(hunk, run)
            else:
                yield from self.words(hunk)
            yield from self.context(hunk.after, None, 0)

    def words(self, hunk: Hunk) -> Iterator[str]:
        """Lines with their edits marked inside them."""
        rows: list[list[Cell]] = [[]]
        for run in hunk.runs:
            for number, cell in enumerate(_marked(run)):
                if number:
                    rows.append([])
                rows[-1].append(cell)
        line = _first(hunk)
        for number, row in enumerate(rows):
            at = str(line + number) if line is not None else ""
            yield from self.folded(f"{at:>{_GUTTER - 2}} {paint('!', 'warn', self.view)} ", row, _GUTTER + 1)

    def side(self, hunk: Hunk, run: Run) -> Iterator[str]:
        """A text that stands on one side only."""
        if run.op == "-":
            yield from self.cut(run.text, "-", "bad", hunk.base_line)
        else:
            yield from self.cut(run.text, "+", "good", hunk.head_line)

    def cut(self, text: str, mark: str, style: Style, line: int | None) -> Iterator[str]:
        """The lines of a text; its first ones where it is long."""
        parts = text.split("\n") if text != "\n" else [""]
        limit = len(parts) if self.full else _LINES
        for number, part in enumerate(parts[:limit]):
            at = str(line + number) if line is not None else ""
            prefix = f"{at:>{_GUTTER - 2}} {paint(mark, style, self.view)} "
            yield from self.wrapped(prefix, visible(part), _GUTTER + 1, style)
        if len(parts) > limit:
            yield " " * (_GUTTER + 1) + self.paint(f"… {len(parts) - limit:,} more lines", "dim")

    def context(self, lines: Iterable[str], first: int | None, offset: int) -> Iterator[str]:
        for number, text in enumerate(lines):
            at = str(first + offset + number) if first is not None and first + offset + number > 0 else ""
            yield from self.wrapped(f"{at:>{_GUTTER - 2}}   ", visible(text), _GUTTER + 1, "dim")

    def wrapped(self, prefix: str, text: str, indent: int, style: Style) -> Iterator[str]:
        """A text in one style behind a prefix; on a terminal folded under its own start."""
        yield from self.folded(prefix, [Cell(text, style)], indent)

    def folded(self, prefix: str, row: Sequence[Cell], indent: int) -> Iterator[str]:
        """Pieces of a line behind a prefix; on a terminal folded under their own start."""
        text = "".join(cell.text for cell in row)
        width = self.view.width
        spans = [(0, len(text))]
        if width is not None and indent + cells(text) > width:
            spans = list(_folds(text, max(20, width - indent)))
        for number, (start, end) in enumerate(spans):
            line = "".join(paint(part, style, self.view) for part, style in _between(row, start, end))
            yield ((prefix if not number else " " * indent) + line).rstrip()

    # --- tools and contracts --------------------------------------------------------------------------------------

    def tools(self, change: Change) -> Iterator[str]:
        for fixtures, found in grouped((f, f.tools) for f in _words.differing(change)):
            yield from self.title("tools", f"in {_words.some([f.fixture_id for f in fixtures])}")
            yield f"  {self.paint(_words.tools_told(found), 'bold')}"
            if self.stat:
                continue
            quiet = [t for t in found.tools if t.status in ("reserialized", "moved", "unseen")]
            for tool in found.tools:
                if tool not in quiet:
                    yield from self.tool(tool)
            yield from self.quiet(quiet)

    def tool(self, tool: ToolChange) -> Iterator[str]:
        name = tool.name if not tool.renamed_from else f"{tool.renamed_from} → {tool.name}"
        place = f"{tool.path}:{tool.line}" if tool.line is not None else tool.path
        mark = _MARKS[tool.status if tool.status in _MARKS else "changed"]
        yield from self.marked(mark, (name, "bold"), (place, "dim"), indent=2)
        if tool.moved and tool.base_position is not None and tool.head_position is not None:
            yield f"      {self.paint(f'moved from place {tool.base_position + 1} to {tool.head_position + 1}', 'dim')}"
        yield from self.changes(tool.changes)
        yield from self.hunks(tool.hunks)
        for field in tool.unseen:
            yield f"      {self.paint(f'{_words.field_told(field)} (no provider sees it)', 'dim')}"

    def quiet(self, tools: Sequence[ToolChange]) -> Iterator[str]:
        for status, what in (
            ("moved", "moved, the same otherwise"),
            ("reserialized", "re-serialized: equal as values, other bytes"),
            ("unseen", "only in fields that no provider sees"),
        ):
            names = [t.name for t in tools if t.status == status]
            if names:
                yield from self.wrapped("    ", visible(f"{what}: {_words.some(names, 6)}"), 4, "dim")

    def changes(self, changes: Sequence[SchemaChange]) -> Iterator[str]:
        for change in changes:
            if change.kind == "description":
                continue
            word = self.paint("breaking", "bad") if change.breaking else self.paint("compatible", "good")
            yield from self.wrapped(f"      {word}  ", visible(f"{change.pointer or '/'}  {change.reason}"), 18, "")

    def contracts(self, change: Change) -> Iterator[str]:
        for fixtures, found in grouped((f, f.contract) for f in _words.differing(change)):
            yield from self.title("contract", f"in {_words.some([f.fixture_id for f in fixtures])}")
            yield f"  {self.paint(_contract(found), 'bold')}"
            if not self.stat:
                yield from self.changes(found.changes)
                yield from self.hunks(found.hunks)

    # --- the rest -------------------------------------------------------------------------------------------------

    def drops(self, change: Change) -> Iterator[str]:
        found = list(drops(change))
        if not found:
            return
        yield from self.title("left out")
        for section, told, tokens, names in found if self.full else found[:_EDITS]:
            size = f", {plural(tokens, 'token')}" if tokens is not None else ""
            where = f"in {_words.some(names)}{size}"
            yield from self.row("  ", 4, (section, "bold"), (told, "warn"), (where, "dim"))
        if len(found) > _EDITS and not self.full:
            yield self.paint(f"  {len(found) - _EDITS:,} more; -v shows all", "dim")

    def fixtures(self, change: Change) -> Iterator[str]:
        found = [
            f
            for f in _words.differing(change)
            if f.status in ("added", "removed") or (not self.stat and (f.problems or f.base_problems or f.fields))
        ]
        if not found:
            return
        yield from self.title("fixtures")
        for status in ("added", "removed"):
            for fixture in (f for f in found if f.status == status):
                yield from self.marked(_MARKS[status], (fixture.fixture_id, "bold"), (_single(fixture), "dim"))
        if self.stat:
            return
        for told in _words.problems(found):
            yield from self.wrapped("  ", visible(told), 4, "bad")
        facts: dict[str, list[str]] = {}
        for fixture in (f for f in found if f.status == "changed"):
            for field in fixture.fields:
                if field.name not in ("outcome", "problems"):
                    facts.setdefault(_words.field_told(field), []).append(fixture.fixture_id)
        for told, names in facts.items():
            yield from self.wrapped("  ", visible(f"{told}  in {_words.some(names)}"), 4, "")

    def versions(self, change: Change) -> Iterator[str]:
        if not change.versions:
            return
        yield from self.title("versions")
        for version in change.versions:
            style: Style = "bad" if version.breaking and version.missing else "warn" if version.missing else ""
            place = f"{version.path}:{version.line}" if version.line is not None else version.path
            name = f"{version.kind} {version.id}"
            yield from self.row("  ", 4, (name, "bold"), (_words.version_told(version), style), (place, "dim"))
            if version.reason and not self.stat:
                yield from self.wrapped("    ", visible(version.reason), 4, "dim")

    def files(self, change: Change) -> Iterator[str]:
        if not change.sources:
            return
        shown = change.sources if self.full else change.sources[:_EDITS]
        yield from self.title("files", "what each reaches")
        for source in shown:
            name = f"{source.old_path} → {source.path}" if source.old_path else source.path
            yield from self.marked(_FILES[source.status], (name, ""))
            yield from self.wrapped("    ", visible(_words.source_told(source)), 4, "dim")
        if len(shown) < len(change.sources):
            yield self.paint(f"  {len(change.sources) - len(shown):,} more files; -v shows all", "dim")


_GOOD: Style = "good"
_BAD: Style = "bad"
_MARKS: dict[str, tuple[str, Style]] = {
    "changed": ("!", "warn"),
    "added": ("+", "good"),
    "removed": ("-", "bad"),
    "moved": ("~", "accent"),
}
_FILES: dict[str, tuple[str, Style]] = {
    "modified": ("!", "warn"),
    "added": ("+", "good"),
    "removed": ("-", "bad"),
    "renamed": ("~", "accent"),
}


def _tone(delta: int) -> Style:
    return "warn" if delta > 0 else "good" if delta < 0 else "dim"


def _first(hunk: Hunk) -> int | None:
    return hunk.head_line if hunk.head_line is not None else hunk.base_line


def _single(fixture: FixtureChange) -> str:
    outcome = fixture.head_outcome or fixture.base_outcome
    used = fixture.tokens.head if fixture.status == "added" else fixture.tokens.base
    size = f", {used:,} tokens" if used is not None else ""
    return f"{fixture.status} ({outcome}{size}), template {fixture.template or 'unknown'}, {fixture.path}"


def _contract(change: ContractChange) -> str:
    if change.base == change.head:
        told = change.head
    else:
        told = f"{change.base or 'none'} → {change.head or 'none'}"
    return f"{told}: re-serialized, equal as a value" if change.reserialized else told


def _marked(run: Run) -> list[Cell]:
    """A run by lines, each marked by itself: a mark that spans lines is lost where a terminal folds them."""
    if run.op == "~":
        return [Cell(f" … {int(run.text):,} characters … ", "dim")]
    lines = visible(run.text, newlines=True).split("\n")
    if run.op == "=":
        return [Cell(line) for line in lines]
    opening, closing, style = ("[-", "-]", _BAD) if run.op == "-" else ("{+", "+}", _GOOD)
    return [Cell(f"{opening}{line}{closing}", style) if line or len(lines) == 1 else Cell("") for line in lines]


def _between(row: Sequence[Cell], start: int, end: int) -> Iterator[tuple[str, Style]]:
    """The pieces of a line between two places in it."""
    at = 0
    for cell in row:
        part = cell.text[max(0, start - at) : max(0, end - at)]
        if part:
            yield part, cell.style
        at += len(cell.text)


def _folds(text: str, width: int) -> Iterator[tuple[int, int]]:
    """Parts of at most ``width`` columns, broken at a blank where there is one in the second half."""
    start = 0
    while cells(text[start:]) > width:
        end = min(len(text), start + width)
        while cells(text[start:end]) > width:
            end -= 1
        blank = text.rfind(" ", start + (end - start) // 2, end)
        end = blank + 1 if blank >= 0 else max(end, start + 1)
        yield start, end
        start = end
    yield start, len(text)
