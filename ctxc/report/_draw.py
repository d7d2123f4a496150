"""Tables and trees that know nothing of a terminal, and the two ways in which they are drawn.

Off a terminal a table is plain text in columns, never wrapped or shortened. On one, cells that are too long are folded,
and Rich draws it: it knows how many columns a terminal gives to emoji and to scripts that combine. Cells reach it as
``Text``, so nothing that a user wrote is parsed as markup, as an emoji name or as a highlight.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import field
from typing import TYPE_CHECKING

from ctxc.base.values import dataclass
from ctxc.report import View
from ctxc.report._encode import cells, pad, visible
from ctxc.report._paint import Style, paint

if TYPE_CHECKING:
    from rich.console import Console

_RICH: dict[Style, str] = {
    "bold": "bold",
    "dim": "dim",
    "good": "green",
    "bad": "bold red",
    "warn": "yellow",
    "accent": "cyan",
}


@dataclass(frozen=True, slots=True)
class Cell:
    """A text in one style; the text is made visible when it is drawn."""

    text: str
    style: Style = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Column:
    """A column. Where a terminal is too narrow, one that is ``flexible`` is folded, one that is ``spare`` left out.

    ``name`` is what a column without a title is called then.
    """

    title: str
    name: str = ""
    right: bool = False
    flexible: bool = False
    spare: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """Rows of cells under column titles. ``left_out``: the titles of what a terminal of this width has no room for."""

    columns: tuple[Column, ...]
    rows: tuple[tuple[Cell, ...], ...]
    left_out: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Node:
    """A line of a tree, and what hangs from it."""

    label: tuple[Cell, ...]
    children: tuple[Node, ...] = field(default=())


def draw_table(table: Table, view: View) -> str:
    """The table as text that ends with a line feed."""
    return _plain_table(table, view) if view.width is None else _rich_table(table, view, view.width)


def draw_tree(root: Node, view: View) -> str:
    """The tree as text that ends with a line feed."""
    lines = list(_tree_lines(root, view))
    return "\n".join(lines) + "\n"


def _plain_table(table: Table, view: View) -> str:
    texts = [[visible(c.text) for c in row] for row in table.rows]
    widths = _natural(table.columns, texts)
    heads = [c.title for c in table.columns]
    out = [_line(heads, ["bold"] * len(heads), table.columns, widths, view)]
    out += [
        _line(shown, [cell.style for cell in row], table.columns, widths, view)
        for row, shown in zip(table.rows, texts, strict=True)
    ]
    return "\n".join(out) + "\n"


def _natural(
    columns: Sequence[Column], texts: Sequence[Sequence[str]], measure: Callable[[str], int] = cells
) -> list[int]:
    return [max([measure(c.title), *(measure(row[i]) for row in texts)]) for i, c in enumerate(columns)]


def _line(
    texts: Sequence[str], styles: Sequence[Style], columns: Sequence[Column], widths: Sequence[int], view: View
) -> str:
    parts = [pad(text, width, right=column.right) for text, column, width in zip(texts, columns, widths, strict=True)]
    parts[-1] = parts[-1].rstrip()
    if view.color:
        parts = [paint(p, style, view) if p.strip() else p for p, style in zip(parts, styles, strict=True)]
    return "  ".join(parts).rstrip()


_LEAST = 6
_FOLDED = 22
"""Columns below which a flexible column is not folded as long as something else can give way."""


def _layout(columns: Sequence[Column], natural: Sequence[int], width: int) -> tuple[list[int], dict[int, int], int]:
    """Which columns a terminal shows, how wide each is, and the gap between them."""
    shown = list(range(len(columns)))
    for gap in (2, 1):
        if sum(natural) + gap * (len(shown) - 1) <= width:
            return shown, dict(enumerate(natural)), gap
    for floor in (_FOLDED, _FOLDED // 2):
        while True:
            fixed = sum(natural[i] for i in shown if not columns[i].flexible) + len(shown) - 1
            flexible = [i for i in shown if columns[i].flexible]
            least = sum(min(natural[i], floor) for i in flexible)
            if fixed + least <= width:
                return (
                    shown,
                    _share({i: natural[i] for i in flexible}, width - fixed, floor)
                    | {i: natural[i] for i in shown if i not in flexible},
                    1,
                )
            spare = [i for i in shown if columns[i].spare]
            if not spare:
                break
            shown.remove(spare[-1])
    # Then every column of texts is folded.
    fixed = sum(natural[i] for i in shown if columns[i].right) + len(shown) - 1
    texts = {i: natural[i] for i in shown if not columns[i].right}
    return shown, _share(texts, width - fixed, _LEAST) | {i: natural[i] for i in shown if columns[i].right}, 1


def _share(natural: dict[int, int], room: int, floor: int) -> dict[int, int]:
    """Widths of the flexible columns: the widest gives way first, none below the floor."""
    widths = dict(natural)
    while sum(widths.values()) > room:
        widest = max(widths, key=lambda i: widths[i])
        if widths[widest] <= floor:
            break
        widths[widest] -= 1
    return widths


def _fold(text: str, width: int, measure: Callable[[str], int]) -> str:
    """Lines of at most ``width`` columns, broken at a blank, else after a separator, where one is in the second half.

    What follows the first line is indented, so that a name on two lines does not look like two names.
    """
    lines = []
    while measure(text) > width:
        cut = len(text)
        while measure(text[:cut]) > width:
            cut -= 1
        cut = max(cut, 3)
        better = text.rfind(" ", cut // 2, cut + 1) + 1
        better = better or max(text.rfind(mark, cut // 2, cut) + 1 for mark in "_./-:,")
        cut = better or cut
        lines.append(text[:cut].rstrip(" "))
        text = "  " + text[cut:].lstrip(" ")
    return "\n".join([*lines, text])


def _rich_table(table: Table, view: View, width: int) -> str:
    from rich.cells import cell_len
    from rich.table import Table as RichTable
    from rich.text import Text

    texts = [[visible(c.text) for c in row] for row in table.rows]
    shown, widths, gap = _layout(table.columns, _natural(table.columns, texts, cell_len), width)
    drawn = RichTable(box=None, pad_edge=False, padding=(0, gap, 0, 0), header_style="bold" if view.color else "")
    for i in shown:
        column = table.columns[i]
        drawn.add_column(
            column.title, justify="right" if column.right else "left", width=widths[i], no_wrap=True, overflow="fold"
        )
    for row, line in zip(table.rows, texts, strict=True):
        # As Text: nothing in it is markup.
        drawn.add_row(
            *(
                Text(_fold(line[i], widths[i], cell_len), style=_RICH.get(row[i].style, "") if view.color else "")
                for i in shown
            )
        )
    # A little wider than the layout may be, so that Rich has nothing to narrow.
    console = _rich_console(view, max(width, sum(widths[i] for i in shown) + gap * len(shown)))
    with console.capture() as captured:
        console.print(drawn)
    # Rich fills lines with blanks up to the table's width; nobody wants them in a copy of the terminal.
    lines = [line.rstrip() for line in captured.get().strip("\n").split("\n")]
    gone = [*table.left_out, *(c.title or c.name for i, c in enumerate(table.columns) if i not in shown)]
    if gone:
        note = f"A wider terminal also shows {', '.join(gone)}."
        lines += [paint(line, "dim", view) for line in _fold(note, max(width, _LEAST), cell_len).split("\n")]
    return "\n".join(lines) + "\n"


def _rich_console(view: View, width: int) -> Console:
    from rich.console import Console

    return Console(
        width=width,
        force_terminal=view.color,
        color_system="standard" if view.color else None,
        no_color=not view.color,
        markup=False,
        highlight=False,
        emoji=False,
        legacy_windows=False,
    )


def _tree_lines(root: Node, view: View) -> Iterator[str]:
    yield _label(root, view)
    yield from _branches(root.children, "", view)


def _branches(nodes: Sequence[Node], indent: str, view: View) -> Iterator[str]:
    for i, node in enumerate(nodes):
        last = i == len(nodes) - 1
        yield paint(indent + ("└─ " if last else "├─ "), "dim", view) + _label(node, view)
        yield from _branches(node.children, indent + ("   " if last else "│  "), view)


def _label(node: Node, view: View) -> str:
    return "".join(paint(visible(c.text), c.style, view) for c in node.label)
