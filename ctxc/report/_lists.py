"""Listings, settings and checks as text and as JSON."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ctxc.report import View
from ctxc.report._draw import Cell, Column, Table, draw_table
from ctxc.report._encode import visible
from ctxc.report._json import dump
from ctxc.report._paint import Style, paint
from ctxc.report._wrap import hang

LIST_SCHEMA, SETTINGS_SCHEMA, DOCTOR_SCHEMA = "ctxc.list/1", "ctxc.settings/1", "ctxc.doctor/1"


_ROOMY = 110  # columns from which a list of rules has one more
_FOR = ("counts_for", "estimates_for", "could_count_for")


def lists_json(groups: Mapping[str, Sequence[Mapping[str, Any]]]) -> str:
    """``ctxc.list/1``."""
    value = [{"kind": kind, "items": [dict(i) for i in items]} for kind, items in groups.items()]
    return dump({"schema": LIST_SCHEMA, "groups": value}) + "\n"


def lists_text(groups: Mapping[str, Sequence[Mapping[str, Any]]], view: View) -> str:
    """A table for each kind that has items; columns that are empty throughout are left out."""
    parts = []
    for kind, items in groups.items():
        if not items:
            parts.append(f"{paint(kind, 'bold', view)}: none\n")
            continue
        columns = [name for name in items[0] if any(item.get(name) not in ("", 0, None) for item in items)]
        columns.sort(key=lambda name: name == "path")
        table = Table(
            columns=tuple(
                Column(
                    title=kind.upper() if name == "id" else name.upper().replace("_", " "),
                    right=all(isinstance(item[name], int) for item in items),
                    flexible=name in ("id", "path", "when", "gates", "needs", "shape", "default_model", *_FOR),
                    spare=name in ("path", "when", "gates", "required", "route", "digest", *_FOR),
                )
                for name in columns
            ),
            rows=tuple(tuple(Cell(str(item[name]), _style(name)) for name in columns) for item in items),
        )
        parts.append(draw_table(table, view))
    return "\n".join(parts)


def rules_text(rules: Sequence[tuple[str, str, str, str, str]], view: View) -> str:
    """Rules as a table: code, name, severity, tier (where there is room), what is found."""
    roomy = view.width is None or view.width >= _ROOMY
    titles = ("CODE", "NAME", "SEVERITY", "TIER", "WHAT IS FOUND")
    styles: Mapping[str, Style] = {"error": "bad", "warning": "warn", "info": "accent"}
    shown = [0, 1, 2, *([3] if roomy else []), 4]
    columns = tuple(Column(title=titles[i], flexible=i == 4) for i in shown)
    rows = []
    for code, name, severity, tier, what in rules:
        cells = (Cell(code), Cell(name, "bold"), Cell(severity, styles[severity]), Cell(tier, "dim"), Cell(what))
        rows.append(tuple(cells[i] for i in shown))
    return draw_table(Table(columns=columns, rows=tuple(rows)), view)


def _style(name: str) -> Style:
    return "" if name == "id" else "dim" if name == "path" else ""


def settings_json(root: str, file: str, values: Sequence[tuple[str, Any, str]]) -> str:
    """``ctxc.settings/1``."""
    listed = [{"name": name, "value": value, "origin": origin} for name, value, origin in values]
    return dump({"schema": SETTINGS_SCHEMA, "root": root, "file": file, "values": listed}) + "\n"


def settings_text(file: str, values: Sequence[tuple[str, Any, str]], view: View, *, origins: bool) -> str:
    """One setting a line as it would stand in ``ctxc.yaml``; with ``origins``, where each value comes from."""
    import json

    lines = []
    rows = [(name, json.dumps(value, ensure_ascii=False) if value != "" else '""') for name, value, _ in values]
    width = max(len(name) + len(text) for name, text in rows) + 3 if origins else 0
    for (name, text), (_, _, origin) in zip(rows, values, strict=True):
        line = f"{name}: {visible(text)}"
        if origins:
            style: Style = "dim" if origin == "default" else "accent"
            line = f"{line:<{min(width, 60)}}{paint('# ' + visible(origin), style, view)}"
        lines.append(line)
    head = f"# {visible(file)}\n" if file else "# no configuration file; these are the defaults\n"
    return paint(head.rstrip("\n"), "dim", view) + "\n" + "\n".join(lines) + "\n"


def doctor_json(checks: Sequence[Mapping[str, str]]) -> str:
    """``ctxc.doctor/1``."""
    return dump({"schema": DOCTOR_SCHEMA, "checks": [dict(c) for c in checks]}) + "\n"


_MARKS: Mapping[str, tuple[str, Style]] = {"ok": ("✓", "good"), "warning": ("!", "warn"), "error": ("✗", "bad")}


def doctor_text(checks: Sequence[Mapping[str, str]], view: View) -> str:
    """One check a line, with its remedy under it."""
    width = max(len(c["id"]) for c in checks)
    lines = []
    for check in checks:
        mark, style = _MARKS[check["status"]]
        head = f"{paint(mark, style, view)} {check['id']:<{width}}  "
        lines.append(hang(head, visible(check["message"]), view.width))
        if check["remedy"]:
            head = f"  {'':<{width}}  {paint('help:', 'accent', view)} "
            lines.append(hang(head, visible(check["remedy"]), view.width))
    return "\n".join(lines) + "\n"
