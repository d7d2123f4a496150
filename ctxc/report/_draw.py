"""Tables and trees that know nothing of a terminal, and the two ways in which they are drawn.

Off a terminal a table is plain text in columns, never wrapped or shortened. On one, Rich draws it: cells are handed
over as ``Text``, so nothing that a user wrote is parsed as markup, as an emoji name or as a highlight.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

from ctxc.report import View
from ctxc.report._encode import cells, pad, visible

if TYPE_CHECKING:
    from rich.console import Console
    from rich.text import Text

Style = Literal["", "bold", "dim", "good", "bad", "warn", "accent"]

# The eight base colours only: a theme maps them to something that can be read on its own background, dark or light.
_ANSI: dict[Style, str] = {"bold": "1", "dim": "2", "good": "32", "bad": "1;31", "warn": "33", "accent": "36"}
_RICH: dict[Style, str] = {
    "bold": "bold",
    "dim": "dim",
    "good": "green",
    "bad": "bold red",
    "warn": "yellow",
    "accent": "cyan",
}


def paint(text: str, style: Style, view: View) -> str:
    """A text in a style, where the view has colour."""
    return f"\x1b[{_ANSI[style]}m{text}\x1b[0m" if view.color and style and text else text


@dataclass(frozen=True, slots=True)
class Cell:
    """A text in one style; the text is made visible when it is drawn."""

    text: str
    style: Style = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Column:
    """A column; the one that is ``flexible`` gives way where the terminal is too narrow."""

    title: str
    right: bool = False
    flexible: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """Rows of cells under column titles."""

    columns: tuple[Column, ...]
    rows: tuple[tuple[Cell, ...], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Node:
    """A line of a tree, and what hangs from it."""

    label: tuple[Cell, ...]
    children: tuple[Node, ...] = field(default=())


def draw_table(table: Table, view: View) -> str:
    """The table as text that ends with a line feed."""
    return _plain_table(table, view) if view.width is None else _rich_table(table, view)


def draw_tree(root: Node, view: View) -> str:
    """The tree as text that ends with a line feed."""
    lines = list(_tree_lines(root, view))
    return "\n".join(lines) + "\n"


def _plain_table(table: Table, view: View) -> str:
    texts = [[visible(c.text) for c in row] for row in table.rows]
    widths = [max([cells(column.title), *(cells(row[i]) for row in texts)]) for i, column in enumerate(table.columns)]
    out = [_line(((c.title, "bold") for c in table.columns), table.columns, widths, view)]
    for row, shown in zip(table.rows, texts, strict=True):
        styled = ((text, cell.style) for text, cell in zip(shown, row, strict=True))
        out.append(_line(styled, table.columns, widths, view))
    return "\n".join(out) + "\n"


def _line(parts: Iterable[tuple[str, Style]], columns: Sequence[Column], widths: Sequence[int], view: View) -> str:
    last = len(columns) - 1
    shown = [
        paint(text if i == last and not column.right else pad(text, width, right=column.right), style, view)
        for i, ((text, style), column, width) in enumerate(zip(parts, columns, widths, strict=True))
    ]
    return "  ".join(shown).rstrip()


def _rich_table(table: Table, view: View) -> str:
    from rich.box import SIMPLE_HEAD
    from rich.table import Table as RichTable

    drawn = RichTable(box=SIMPLE_HEAD, pad_edge=False, header_style="bold" if view.color else "", padding=(0, 1))
    for column in table.columns:
        drawn.add_column(
            column.title,
            justify="right" if column.right else "left",
            no_wrap=not column.flexible,
            overflow="fold" if column.flexible else "ellipsis",
            min_width=None if column.flexible else cells(column.title),
            ratio=None,
        )
    for row in table.rows:
        drawn.add_row(*(_rich_text(cell, view) for cell in row))
    console = _rich_console(view)
    with console.capture() as captured:
        console.print(drawn)
    # Rich fills lines with blanks up to the table's width; nobody wants them in a copy of the terminal.
    return "\n".join(line.rstrip() for line in captured.get().strip("\n").split("\n")) + "\n"


def _rich_text(cell: Cell, view: View) -> Text:
    from rich.text import Text

    return Text(visible(cell.text), style=_RICH.get(cell.style, "") if view.color else "")


def _rich_console(view: View) -> Console:
    from rich.console import Console

    return Console(
        width=view.width,
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
