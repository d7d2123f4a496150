"""Text to bytes, the second line of defence against text that has no UTF-8 form (the first is at loading)."""

from __future__ import annotations

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
