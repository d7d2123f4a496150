"""Output formats of a change between two revisions, one file each.

A module of this package whose name does not begin with an underscore is a format; it defines
``render(change, view) -> str``. All of them say the same in the same words (``_words.py``) and treat every text of a
project as data: in no format can a prompt close what it stands in.
"""

from __future__ import annotations

from collections.abc import Callable

from ctxc.base import registry
from ctxc.base.values import dataclass
from ctxc.model.change import Change
from ctxc.report import View


@dataclass(frozen=True, slots=True, kw_only=True)
class DiffView:
    """How a change may be drawn. ``stat``: only the summary and one line for each change. ``full``: nothing cut."""

    view: View
    stat: bool = False
    full: bool = False


def format_ids() -> tuple[str, ...]:
    """Names of the formats, sorted."""
    return registry.names(__name__)


def render(format_id: str, change: Change, view: DiffView) -> str:
    """A change in a format; raises KeyError for a format that does not exist."""
    if format_id not in format_ids():
        raise KeyError(format_id)
    draw: Callable[[Change, DiffView], str] = registry.load(__name__, format_id).render
    return draw(change, view)
