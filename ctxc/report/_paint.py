"""Styles of a text by their names. Apart from tables and trees: a warm command that finds nothing draws neither."""

from __future__ import annotations

from typing import Literal

from ctxc.report import View

Style = Literal["", "bold", "dim", "good", "bad", "warn", "accent"]

# The eight base colours only: a theme maps them to something that can be read on its own background, dark or light.
_ANSI: dict[Style, str] = {"bold": "1", "dim": "2", "good": "32", "bad": "1;31", "warn": "33", "accent": "36"}


def paint(text: str, style: Style, view: View) -> str:
    """A text in a style, where the view has colour."""
    return f"\x1b[{_ANSI[style]}m{text}\x1b[0m" if view.color and style and text else text
