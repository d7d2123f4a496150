"""Text that came from outside, for shapes in which everything shares one text.

Such text becomes a JSON string on one line in which nothing is left that a reader of control tokens could take for
one: the brackets, bars and role words of the known families are ``\\u`` escapes. ``json.loads`` gives the text back.
"""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Iterator

from ctxc.base.escaping import json_string_escape, json_with, unicode_escape

# Square-bracket tokens ([INST], [/TOOL_RESULTS], [gMASK]), bars and triangles of special tokens, MiniMax's brackets,
# Markdown role headings, Jinja's delimiters, and "Human:" with its kin where a line could begin with it.
_TOKENS = re.compile(
    r"\[(?=/?[A-Za-z_]{1,24}\])"
    r"|\](?=[~!<])|\[(?=e?~)"
    r"|\|"
    r"|[\u25c1\u25b7\u2581\uff5c]"
    r"|#(?=##)|(?<=##)#"
    r"|\{(?=[{%#])|\}(?=\})"
)
_COLONS = ":\uff1a\ufe55\ufe13"
# In a JSON literal a line begins after the two characters of an escape, where no word boundary is.
_ROLE = re.compile(
    rf"((?:\b|(?<=\\[nrtbf]))(?:human|assistant|system|user|model|tool|developer|[ha])\s*)([{_COLONS}])", re.IGNORECASE
)
_FOLDED = frozenset('[]|#{}<>&"\\')


def _escape(match: re.Match[str]) -> str:
    return unicode_escape(match.group())


def _escape_colon(match: re.Match[str]) -> str:
    return match.group(1) + unicode_escape(match.group(2))


def quoted(text: str) -> str:
    """A JSON string literal of the text that holds no control token of any known family, also after NFKC."""
    literal = _ROLE.sub(_escape_colon, _TOKENS.sub(_escape, json_string_escape(text)))
    if literal.isascii():
        return literal
    # A look-alike that normalisation turns into one of the characters above is escaped by its own code point.
    literal = "".join(unicode_escape(c) if _folds(c) else c for c in literal)
    if _ROLE.search(unicodedata.normalize("NFKC", literal)):
        literal = literal[0] + "".join(unicode_escape(c) if c in _COLONS else c for c in literal[1:-1]) + literal[-1]
    return literal


def _folds(char: str) -> bool:
    if char.isascii():
        return False
    folded = unicodedata.normalize("NFKC", char)
    return folded != char and not _FOLDED.isdisjoint(folded)


def quoted_json(value: object) -> str:
    """JSON in the value's own key order whose strings are quoted as above."""
    return json_with(value, quoted)


def harmless(text: str) -> bool:
    """Whether a text can stand unquoted in a shared text: nothing in it has to be hidden, it has no white space at
    its ends that a template could trim, and no line of it can be mistaken for a quoted text."""
    if text != text.strip() or text.startswith('"') or '\n"' in text:
        return False
    return quoted(text) == json.dumps(text, ensure_ascii=False)


def unquoted(literal: str) -> str | None:
    """The text that was quoted, or None where this is no JSON string."""
    try:
        value = json.loads(literal)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, str) else None


def contents(text: str) -> Iterator[tuple[str, bool]]:
    """The texts of a run of lines, each with whether it was read back from a JSON string that stands on its line."""
    held: list[str] = []
    for line in text.split("\n"):
        value = unquoted(line) if line.startswith('"') else None
        if value is None:
            held.append(line)
            continue
        if held:
            yield "\n".join(held), False
            held = []
        yield value, True
    if held:
        yield "\n".join(held), False
