"""Assessments of a prompt cache in each of their formats."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ctxc.report import View
    from ctxc.usage.sequence import Assessment


def draw_cache(format: str, assessments: Sequence[Assessment], view: View) -> str:
    """The text of a format: text, json, markdown or html; raises KeyError for another."""
    match format:
        case "text":
            from ctxc.report._cache_text import cache_text

            return cache_text(assessments, view)
        case "json":
            from ctxc.report._cache_json import cache_json

            return cache_json(assessments)
        case "markdown":
            from ctxc.report._cache_markdown import cache_markdown

            return cache_markdown(assessments)
        case "html":
            from ctxc.report._cache_html import cache_html

            return cache_html(assessments)
        case _:
            raise KeyError(format)
