"""Files of a tree as a gate reads them: lines, suppressions, the baseline."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from ctxc.app import suppress
from ctxc.base.errors import ConfigError, CtxcError
from ctxc.base.spans import Location

if TYPE_CHECKING:
    from ctxc.app.baseline import Entry
    from ctxc.app.masking import Sources
    from ctxc.model.project import Settings
    from ctxc.source.tree import Tree

MAX_INPUT_BYTES = 16 << 20  # as ctxc.source.tree.MAX_INPUT_BYTES


def read_or_nothing(tree: Tree, path: str) -> bytes:
    """The bytes of a file; none where it cannot be read."""
    try:
        return tree.read(path, limit=MAX_INPUT_BYTES)
    except CtxcError:
        return b""


class Lines:
    """Lines of files, decoded once."""

    def __init__(self, tree: Tree) -> None:
        self._tree = tree
        self._known: dict[str, list[str]] = {}

    def line(self, path: str, number: int) -> str:
        """A line of a file; empty where there is none."""
        if path not in self._known:
            text = read_or_nothing(self._tree, path).decode("utf-8", "replace").removeprefix("\ufeff")
            self._known[path] = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
        lines = self._known[path]
        return lines[number - 1] if 1 <= number <= len(lines) else ""


def in_file(tree: Tree, path: str) -> tuple[suppress.Entry, ...]:
    """What a file suppresses, if it is there."""
    return suppress.from_file(path, read_or_nothing(tree, path)) if tree.exists(path) else ()


def suppressions(tree: Tree, settings: Settings, paths: Iterable[str], config: str) -> tuple[suppress.Entry, ...]:
    """What the files at these paths suppress, and what the settings do; ``config`` is where the settings stand."""
    found: list[suppress.Entry] = []
    for path in paths:
        found.extend(in_file(tree, path))
    return (*found, *suppress.from_settings(settings, Location(config or "ctxc.yaml")))


def read_baseline(tree: Tree, path: str) -> tuple[Entry, ...]:
    """The entries of a baseline; none where there is no such file. Raises ConfigError for what is no baseline."""
    if not path or not tree.exists(path):
        return ()
    from ctxc.app.baseline import read

    try:
        return read(tree.read(path, limit=MAX_INPUT_BYTES).decode("utf-8"), path)
    except UnicodeDecodeError:
        raise ConfigError(
            f"the baseline {path!r} is not UTF-8", help="write it again", location=Location(path)
        ) from None


def sources(tree: Tree) -> Sources:
    """Texts of a tree's files for code frames, without the secrets in them."""
    from ctxc.app.masking import Sources

    def read(path: str) -> str | None:
        data = read_or_nothing(tree, path)
        return data.decode("utf-8", "replace") if data else None

    return Sources(read)
