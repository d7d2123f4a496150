"""What to say of a name that means nothing."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from ctxc.base.errors import InvalidSource

if TYPE_CHECKING:
    from ctxc.model.finding import Finding
    from ctxc.model.project import Project

_LOADED_AS_FIXTURES = ("fixture", "conversation")


def advice(wrong: str, known: Iterable[str], *more: str, listed: bool = True) -> str:
    """The known name that was probably meant, all that are known (unless not ``listed``), and what else may help."""
    from ctxc.parse.problems import nearest

    names = list(known)
    near = nearest(wrong, names)
    hint = f"did you mean {near}? " if near else ""
    parts = [f"known: {', '.join(names)}"] if listed else []
    return (hint + "; ".join([*parts, *(m for m in more if m)])).rstrip()


def unloaded(findings: Iterable[Finding]) -> int:
    """How many errors kept files from being loaded; that there are none is no error of a file."""
    return sum(f.severity.label == "error" and f.name != "empty-project" for f in findings)


def counted(errors: int) -> str:
    """``1 error kept files``, ``2 errors kept files``."""
    return f"{errors:,} error{'' if errors == 1 else 's'} kept files"


def lost_fixtures(project: Project) -> dict[str, str]:
    """Files of fixtures and conversations that could not be loaded, each with its id: the name of the file where the
    file does not say it, or cannot be read so far."""
    found = {}
    for path, said in project.broken.items():
        kind = project.broken_kinds.get(path)
        name = said or path.rpartition("/")[2].partition(".")[0]
        here = any(f == "." or path.startswith(f"{f}/") for f in project.settings.fixtures)
        if kind in _LOADED_AS_FIXTURES or (not kind and here and name not in project.fixtures):
            found[path] = name
    return found


def unloadable(name: str, paths: Iterable[str], findings: Sequence[Finding]) -> InvalidSource | None:
    """The error for a fixture that was asked for by name and lies in one of these files that could not be loaded: the
    first finding there; None where no finding says why."""
    from ctxc.app.masking import mask_messages

    places = set(paths)
    found = [f for f in mask_messages(findings) if f.location.path in places and f.severity.label == "error"]
    if not found:
        return None
    first, more = found[0], len(found) - 1
    return InvalidSource(
        f"the fixture {name!r} could not be loaded: {first.code} {first.name}: {first.message}"
        + (f" (and {more:,} more: `ctxc compile` shows all)" if more else ""),
        help=first.help,
        location=first.location,
    )
