"""For a pull request or a step summary: the summary, one table, and everything else folded away.

Texts of a project stand in fences that are longer than any run of backticks inside them, or as characters that mean
nothing; what does not fit into a comment is left out from the end, whole, and counted.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from ctxc.base.escaping import fence_for
from ctxc.model.change import Change, Edit, Hunk, Run, SchemaChange
from ctxc.report._encode import markdown_code, markdown_text, visible
from ctxc.report._tally import plural
from ctxc.report.diffs import DiffView, _words
from ctxc.report.diffs._groups import drops, grouped
from ctxc.report.markdown import MAX_CHARACTERS

MARKER = "<!-- ctxc diff -->"
"""First line: by it a bot finds its own comment again."""

_ROOM = 400  # characters that are kept for saying what was left out
_LINES = 40  # of one text on one side
_TABLE_HEAD = "\n| | change | tokens | fixtures | facets | where |\n|---|---|---:|---:|---|---|\n"
_MARKS = {"changed": "!", "added": "+", "removed": "−", "moved": "~"}

_PROBLEMS = 20


def render(change: Change, view: DiffView) -> str:
    """The change as GitHub's Markdown, of at most ``MAX_CHARACTERS`` characters."""
    text = "".join(_head(change))
    rows = list(_rows(change))
    text, kept = _fill(text, rows, _TABLE_HEAD, MAX_CHARACTERS * 2 // 3)
    left = [plural(len(rows) - kept, "row")] if kept < len(rows) else []
    if not view.stat:
        blocks = list(_details(change))
        text, kept = _fill(text, blocks, "", MAX_CHARACTERS)
        if kept < len(blocks):
            left.append(plural(len(blocks) - kept, "detail"))
    if left:
        told = " and ".join(left)
        text += f"\n{told} left out: a comment has at most {MAX_CHARACTERS:,} characters. `ctxc diff` shows all.\n"
    return text


def _fill(text: str, parts: Sequence[str], opening: str, limit: int) -> tuple[str, int]:
    """The text with as many parts as fit, in order, and how many those are."""
    for number, part in enumerate(parts):
        more = (opening if not number else "") + part
        if len(text) + len(more) > limit - _ROOM:
            return text, number
        text += more
    return text, len(parts)


def _head(change: Change) -> Iterator[str]:
    yield f"{MARKER}\n### ctxc diff: {markdown_text(_words.headline(change))}\n\n"
    yield f"{markdown_text(_words.sides(change))}\n"
    found = _words.summary(change)
    if found:
        yield "\n"
    for line in found:
        strong = f"**{markdown_text(line.label)}** " if line.label else ""
        yield f"{'- ' if line.label else '  - '}{strong}{markdown_text(line.text)}\n"
    problems = _words.problems(_words.differing(change))
    if problems:
        yield "\n"
    for problem in problems[:_PROBLEMS]:
        yield f"- {markdown_text(problem)}\n"
    if len(problems) > _PROBLEMS:
        yield f"- {len(problems) - _PROBLEMS:,} more problems; `ctxc compile` shows all\n"


def _rows(change: Change) -> Iterator[str]:
    for edit in change.edits:
        if _words.is_drop(edit):
            continue
        section = edit.section
        where = f"{section.path}:{section.line}" if section.path and section.line else section.path
        cells = [
            _MARKS[section.status],
            markdown_text(section.section_id),
            _words.delta_told(edit),
            f"{len(edit.fixtures):,}" if len(edit.fixtures) > 1 else markdown_text(edit.fixtures[0]),
            ", ".join(section.facets),
            _code(where),
        ]
        yield f"| {' | '.join(cells)} |\n"


def _code(text: str) -> str:
    """A code span in a table cell; a bar would end the cell."""
    return "" if not text else markdown_text(text) if "|" in text else markdown_code(text)


def _details(change: Change) -> Iterator[str]:
    for edit in change.edits:
        if (edit.section.hunks or edit.section.fields or edit.lost_tokens) and not _words.is_drop(edit):
            yield _edit(edit)
    for fixtures, tools in grouped((f, f.tools) for f in _words.differing(change)):
        body = [_where(f.fixture_id for f in fixtures)]
        for tool in tools.tools:
            body += [f"\n**{markdown_text(tool.name)}** {tool.status}\n", *_schema(tool.changes), *_hunks(tool.hunks)]
            for field in tool.unseen:
                body.append(f"- {markdown_text(_words.field_told(field))} (no provider sees it)\n")
        yield _folded(f"tools: {_words.tools_told(tools)}", body)
    for fixtures, contract in grouped((f, f.contract) for f in _words.differing(change)):
        body = [_where(f.fixture_id for f in fixtures), *_schema(contract.changes), *_hunks(contract.hunks)]
        name = contract.head or contract.base
        yield _folded(f"contract {name}{': re-serialized, equal as a value' if contract.reserialized else ''}", body)
    left_out = list(drops(change))
    if left_out:
        yield _folded(f"left out: {plural(len(left_out), 'change')}", [
            f"- {markdown_code(section)} {markdown_text(told)}"
            f"{'' if tokens is None else ', ' + plural(tokens, 'token')}, in {markdown_text(_words.some(names))}\n"
            for section, told, tokens, names in left_out
        ])  # fmt: skip
    yield from _tail(change)


def _tail(change: Change) -> Iterator[str]:
    found = _words.differing(change)
    if found:
        head = "| fixture | | tokens | | facets |\n|---|---|---:|---:|---|\n"
        lines = []
        for fixture in found:
            used = fixture.tokens.head if fixture.tokens.head is not None else fixture.tokens.base
            delta = fixture.tokens.delta
            cells = [
                markdown_text(fixture.fixture_id),
                fixture.status,
                "" if used is None else f"{used:,}",
                "" if delta is None else _words.signed(delta),
                ", ".join(fixture.facets),
            ]
            lines.append(f"| {' | '.join(cells)} |\n")
        yield _folded(plural(len(found), "fixture"), [head, *lines])
    if change.versions:
        yield _folded(plural(len(change.versions), "version"), [
            f"- {markdown_text(f'{v.kind} {v.id}')}: {markdown_text(_words.version_told(v))}"
            f"{f' ({markdown_text(v.reason)})' if v.reason else ''}\n"
            for v in change.versions
        ])  # fmt: skip
    if change.sources:
        yield _folded(plural(len(change.sources), "file"), [
            f"- {markdown_code(s.path)} {s.status}: {markdown_text(_words.source_told(s))}\n" for s in change.sources
        ])  # fmt: skip


def _edit(edit: Edit) -> str:
    section = edit.section
    name, facts = _words.edit_title(edit)
    notes = [_words.position_told(section)] if "order" in section.facets else []
    notes += [_words.field_told(f) for f in section.fields if f.name != "id"]
    if edit.lost_tokens:
        notes.append(f"first difference of the prefix: {plural(edit.lost_tokens, 'token')} lose their cache")
    if section.masked and "content" in section.facets:
        notes.append("its text is sensitive and is not shown")
    body = [_where(edit.fixtures), *(f"- {markdown_text(n)}\n" for n in notes if n), *_hunks(section.hunks)]
    return _folded(f"{name}: {facts.replace('  ', ', ')}", body)


def _where(names: Iterable[str]) -> str:
    return f"In {markdown_text(_words.some(list(names), 10))}.\n\n"


def _folded(title: str, body: Iterable[str]) -> str:
    """A block that is closed until somebody opens it; the empty lines let Markdown be read inside."""
    return f"\n<details><summary>{markdown_text(title)}</summary>\n\n{''.join(body)}\n</details>\n"


def _schema(changes: Iterable[SchemaChange]) -> Iterator[str]:
    for change in changes:
        if change.kind != "description":
            word = "**breaking**" if change.breaking else "compatible"
            yield f"- {word} {markdown_code(change.pointer or '/')} {markdown_text(change.reason)}\n"


def _hunks(hunks: Iterable[Hunk]) -> Iterator[str]:
    for hunk in hunks:
        told = _words.times_told(hunk)
        place = markdown_code(_words.hunk_place(hunk)) + (f" {markdown_text(told)}" if told else "")
        text = "\n".join(visible(line) for line in _lines(hunk))
        fence = fence_for(text)
        yield f"\n{place}\n\n{fence}diff\n{text}\n{fence}\n"


def _lines(hunk: Hunk) -> Iterator[str]:
    """The lines of a hunk in the form that GitHub colours, with the changed words marked inside them."""
    yield from (f"  {line}" for line in hunk.before)
    if hunk.kind == "moved":
        yield from _cut("~", hunk.runs[0].text)
    else:
        sides = (("-", "+"), ("+", "-"))
        for mine, other in sides:
            # A line into which words came has an old form too: alone it would look like a new line.
            if hunk.kind == "edit" or any(r.op == mine for r in hunk.runs):
                alone = all(r.op in "-+" for r in hunk.runs)
                yield from _cut(mine, "".join(_shown(r, alone) for r in hunk.runs if r.op != other))
    yield from (f"  {line}" for line in hunk.after)


def _shown(run: Run, alone: bool) -> str:
    if run.op == "~":
        return f" … {int(run.text):,} characters … "
    if run.op == "=" or alone:
        return run.text
    opening, closing = ("[-", "-]") if run.op == "-" else ("{+", "+}")
    return "\n".join(f"{opening}{part}{closing}" if part else "" for part in run.text.split("\n"))


def _cut(mark: str, text: str) -> Iterator[str]:
    lines = text.rstrip("\n").split("\n")
    yield from (f"{mark} {line}" for line in lines[:_LINES])
    if len(lines) > _LINES:
        yield f"{mark} … {len(lines) - _LINES:,} more lines"
