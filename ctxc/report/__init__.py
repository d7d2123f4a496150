"""Output formats, one file each.

A module of this package whose name does not begin with an underscore is an output format. It defines
``render(report, view) -> str`` for findings, and may define ``render_run(run, view) -> str`` for what ``ctxc compile``
prints; without it a run is printed as its findings. Nothing here prints, reads a clock or knows where the text goes.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from ctxc.base import registry
from ctxc.base.values import dataclass

if TYPE_CHECKING:
    from ctxc.model.report import CompileRun, Report


def _no_source(path: str) -> str | None:
    return None


@dataclass(frozen=True, slots=True, kw_only=True)
class View:
    """How a human format may draw. ``width`` is None off a terminal: nothing is wrapped or shortened there.

    ``source`` gives the text of a project file for code frames, or None. ``folder`` is where the project lies in its
    repository (``services/desk/``; empty: at its top), for formats whose readers look for files from there.
    """

    color: bool = False
    width: int | None = None
    verbosity: int = 0
    source: Callable[[str], str | None] = _no_source
    folder: str = ""

    def in_repository(self, path: str) -> str:
        """A path of the project from the top of the repository."""
        return f"{self.folder}{path}" if path else path


def format_ids() -> tuple[str, ...]:
    """Names of all output formats, sorted."""
    return registry.names(__name__)


def render(format_id: str, report: Report, view: View) -> str:
    """Findings in a format; raises KeyError for a format that does not exist."""
    module = _module(format_id)
    text: str = module.render(report, view)
    return text


def render_run(format_id: str, run: CompileRun, view: View) -> str:
    """Compiled fixtures and their findings in a format; raises KeyError for a format that does not exist."""
    module = _module(format_id)
    draw = getattr(module, "render_run", None)
    text: str = draw(run, view) if draw is not None else module.render(run.report, view)
    return text


def _module(format_id: str):  # type: ignore[no-untyped-def]  # a module's functions are typed in its own file
    if format_id not in format_ids():
        raise KeyError(format_id)
    return registry.load(__name__, format_id)
