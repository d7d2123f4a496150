r"""Text as bytes, and where a text may be cut: between two grapheme clusters, each what a reader sees as one character
(Unicode UAX 29).

Most cuts fall between two ASCII characters and are decided without the ``regex`` module, which is imported for the
others. Positions count code points.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache

from ctxc.base.errors import UnreadableSource


def utf8(text: str) -> bytes:
    """UTF-8 bytes of a text. Raises UnreadableSource, with line and column, where it holds a lone surrogate."""
    try:
        return text.encode("utf-8")
    except UnicodeEncodeError as error:
        before = text[: error.start]
        line, column = before.count("\n") + 1, error.start - (before.rfind("\n") + 1) + 1
        raise UnreadableSource(
            f"a text holds the lone surrogate U+{ord(text[error.start]):04X} (its line {line}, column {column}); "
            "it is not Unicode text and no provider accepts it",
            help="replace it; an escape such as \\ud83d must be followed by its other half",
        ) from error


def is_boundary(text: str, at: int) -> bool:
    """Whether a cut at ``at`` splits no grapheme cluster; the ends of the text are boundaries."""
    if at <= 0 or at >= len(text):
        return True
    before, after = text[at - 1], text[at]
    if before < "\x80" and after < "\x80":
        return before != "\r" or after != "\n"
    return _cluster_end()(text, at - 1) == at


def snap_up(text: str, at: int) -> int:
    """The first boundary at or after ``at``."""
    if is_boundary(text, at):
        return min(max(at, 0), len(text))
    return _cluster_end()(text, at - 1)


def snap_down(text: str, at: int) -> int:
    """The last boundary at or before ``at``."""
    if is_boundary(text, at):
        return min(max(at, 0), len(text))
    cluster_end = _cluster_end()
    # The end of the cluster around any position is a boundary: look back, farther each time, until one lies before.
    step, found = 1, 0
    while step < at:
        end = cluster_end(text, at - step - 1)
        if end <= at:
            found = end
            break
        step *= 2
    while (end := cluster_end(text, found)) <= at:
        found = end
    return found


@lru_cache(maxsize=1)
def _cluster_end() -> Callable[[str, int], int]:
    """End of the cluster that holds the character at a position. The whole text before it is taken into account."""
    import regex

    match = regex.compile(r"\X").match

    def cluster_end(text: str, at: int) -> int:
        found = match(text, at)
        assert found is not None  # there is a character at ``at``
        end: int = found.end()
        return end

    return cluster_end
