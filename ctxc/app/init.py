"""Write a small working project, or the parts of it that are missing. What is there is never touched."""

from __future__ import annotations

from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path

from ctxc.app.output import write_text
from ctxc.base.errors import UsageError
from ctxc.base.values import dataclass

SCHEMAS = ".ctxc/schemas"
"""Where the schemas lie that the modelines of the written files name."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Written:
    """A file of the project: written now, or there before. ``same`` tells a changed one from an unchanged one."""

    path: str
    fresh: bool
    same: bool = True


def starter_files() -> dict[str, str]:
    """Path to text of everything that ``ctxc init`` writes, sorted."""
    from ctxc.parse.schemas import kinds, schema_text

    found = dict(_walk(files("ctxc.app.starter"), ""))
    found |= {f"{SCHEMAS}/{kind}.schema.json": schema_text(kind) for kind in kinds()}
    found[".ctxc/.gitignore"] = "cache/\n"
    return dict(sorted(found.items()))


def _walk(folder: Traversable, prefix: str) -> list[tuple[str, str]]:
    found: list[tuple[str, str]] = []
    for entry in sorted(folder.iterdir(), key=lambda e: e.name):
        if entry.name.startswith("__"):
            continue
        if entry.is_dir():
            found += _walk(entry, f"{prefix}{entry.name}/")
        else:
            found.append((prefix + entry.name, entry.read_text(encoding="utf-8")))
    return found


def write_starter(folder: Path) -> tuple[Written, ...]:
    """Write what is missing; raises UsageError where a file stands in the way of a folder."""
    if folder.exists() and not folder.is_dir():
        raise UsageError(f"{str(folder)!r} is a file", help="name a folder")
    configured = _configured(folder)
    done = []
    for path, text in starter_files().items():
        if path == "ctxc.yaml" and configured:
            # Two files that configure one project are an error everywhere else; init must not make one.
            done.append(Written(path=configured, fresh=False))
            continue
        place = folder / path
        if place.exists() or place.is_symlink():
            done.append(Written(path=path, fresh=False, same=_holds(place, text)))
            continue
        write_text(place, text)
        done.append(Written(path=path, fresh=True))
    return tuple(done)


def _configured(folder: Path) -> str:
    from ctxc.app.config import PYPROJECT, mentions_ctxc

    return PYPROJECT if mentions_ctxc(folder / PYPROJECT) else ""


def _holds(place: Path, text: str) -> bool:
    try:
        return place.read_text(encoding="utf-8") == text
    except (OSError, UnicodeDecodeError):
        return False
