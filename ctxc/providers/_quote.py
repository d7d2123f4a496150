"""Text that came from outside, for shapes in which everything shares one text.

Such text becomes a JSON string on one line in which nothing is left that a reader of control tokens could take for
one: the brackets, bars and role words of the known families are ``\\u`` escapes. ``json.loads`` gives the text back.
"""

from __future__ import annotations

import json
import re
import unicodedata

from ctxc.base.escaping import json_string_escape, without_ignorables

# Square-bracket tokens ([INST], [/TOOL_RESULTS], [gMASK]), bars and triangles of special tokens, MiniMax's brackets,
# Markdown role headings, Jinja's delimiters, and "Human:" with its kin where a line could begin with it.
_TOKENS = re.compile(
    r"\[(?=/?[A-Za-z_]{1,24}\])"
    r"|\](?=[~!<])|\[(?=e?~)"
    r"|\|"
    r"|[\u25c1\u25b7\u2581\uff5c]"
    r"|#(?=##)|(?<=##)#"
    r"|\{(?=[{%#])|\}(?=\})"
    r"|(?<=[A-Za-z]):"
)


def _escape(match: re.Match[str]) -> str:
    return f"\\u{ord(match.group()):04x}"


def quoted(text: str) -> str:
    """A JSON string literal of the text that holds no control token of any known family, also after NFKC."""
    literal = _TOKENS.sub(_escape, json_string_escape(text))
    if literal.isascii():
        return literal
    # A look-alike that normalisation turns into one of the characters above is escaped by its own code point.
    return "".join(_hide(c) if _folds(c) else c for c in literal)


def _folds(char: str) -> bool:
    if char.isascii():
        return False
    folded = unicodedata.normalize("NFKC", char)
    return folded != char and any(c in '[]|#{}:<>&"\\~!%' for c in folded)


def _hide(char: str) -> str:
    data = char.encode("utf-16-be")
    return "".join(f"\\u{data[i] << 8 | data[i + 1]:04x}" for i in range(0, len(data), 2))


def unquoted(literal: str) -> str | None:
    """The text that was quoted, or None where this is no JSON string."""
    try:
        value = json.loads(literal)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, str) else None


def folds_to(text: str, needle: str) -> bool:
    """Whether a text holds a needle as it stands, without ignorable characters, or after NFKC."""
    if needle in text:
        return True
    bare = without_ignorables(text)
    return needle in bare or needle in unicodedata.normalize("NFKC", bare)
