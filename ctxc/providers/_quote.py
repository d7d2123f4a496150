"""Text that came from outside, for shapes in which everything shares one text.

Such text becomes a JSON string on one line in which nothing is left that a reader of control tokens could take for
one: the brackets, bars and role words of the known families are ``\\u`` escapes, and so is something of every control
token that a template brings along. ``json.loads`` gives the text back.
"""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Iterator, Sequence
from functools import lru_cache, partial

from ctxc.base.escaping import json_string_escape, json_with, unicode_escape

# Square-bracket tokens ([INST], [/TOOL_RESULTS], [gMASK]), bars and triangles of special tokens, MiniMax's brackets,
# Markdown role headings, Jinja's delimiters, and "Human:" with its kin where a line could begin with it.
_TOKENS = re.compile(
    r"\[(?=/?[A-Za-z_]{1,24}\])"
    r"|\](?=[~!<])|\[(?=[eE]?~)"
    r"|\|"
    r"|[\u25c1\u25b7\u2581\uff5c]"
    r"|#(?=##)|(?<=##)#"
    r"|\{(?=[{%#])|\}(?=\})"
)
_COLONS = ":\uff1a\ufe55\ufe13"
# In a JSON literal a line begins after the two characters of an escape, where no word boundary is.
_ROLE = re.compile(
    rf"((?:\b|(?<=\\[nrtbf]))(?:human|assistant|system|user|model|tool|developer|[ha])\s*"
    rf"|(?-i:USER|ASSISTANT|SYSTEM|User|Assistant|System|Human))([{_COLONS}])",
    re.IGNORECASE,
)
_FOLDED = frozenset('[]|#{}<>&"\\')


def _escape(match: re.Match[str]) -> str:
    return unicode_escape(match.group())


def _escape_colon(match: re.Match[str]) -> str:
    return match.group(1) + unicode_escape(match.group(2))


class Literal(str):
    """A text that is a JSON string already: inside JSON it stands as it is."""

    __slots__ = ()


def quoted(text: str, specials: Sequence[str] = ()) -> str:
    """A JSON string literal of the text that holds no control token of any known family, also after NFKC.

    ``specials`` are further control tokens, those of a chat template (:func:`without`).
    """
    return without(_quoted(text), specials)


def _quoted(text: str) -> str:
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


def without(text: str, specials: Sequence[str]) -> str:
    """The text with the control tokens made visible: one character of each is a ``\\u`` escape, also after NFKC.

    A character that belongs to an escape stays as it is, so that a JSON string decodes to the same text. A token that
    only escapes are made of (``\\n``) stays: no text can do without it, and no template can be read that writes it.
    """
    tokens = _forms(tuple(specials))
    for token in tokens:
        if token in text:
            text = _apart(text, token)
    if text.isascii():
        return text
    for token in tokens:
        if token in unicodedata.normalize("NFKC", text):
            text = "".join(
                c if c.isascii() or unicodedata.normalize("NFKC", c) == c else unicode_escape(c) for c in text
            )
            if token in unicodedata.normalize("NFKC", text):  # it is put together from a letter and its accents
                text = _apart("".join(c if c.isascii() else unicode_escape(c) for c in text), token)
    return text


@lru_cache(maxsize=64)
def _forms(specials: tuple[str, ...]) -> tuple[str, ...]:
    """The tokens as they are written and as normalisation leaves them."""
    return tuple(dict.fromkeys(f for token in specials for f in (token, unicodedata.normalize("NFKC", token)) if f))


def _apart(text: str, token: str) -> str:
    """The text in which no occurrence of the token is left that has a character of its own."""
    while True:
        own = bytearray(len(text))
        for unit in _UNIT.finditer(text):
            own[unit.start()] = len(unit.group()) == 1 and unit.group() != '"'  # which may be the string's own
        pieces: list[str] = []
        done = 0
        at = text.find(token)
        while at >= 0:
            place = own.find(1, at, at + len(token))
            if place >= 0:
                pieces += (text[done:place], unicode_escape(text[place]))
                done = place + 1
            at = text.find(token, max(at + 1, done))
        if not pieces:
            return text
        text = "".join((*pieces, text[done:]))  # once more: an escape may complete a token that looks like one


_UNIT = re.compile(r"\\u[0-9A-Fa-f]{4}|\\.|.", re.DOTALL)


def quoted_json(value: object, specials: Sequence[str] = ()) -> str:
    """JSON in the value's own key order whose strings are quoted as above."""
    return json_with(value, partial(_in_json, specials=specials))


def _in_json(text: str, *, specials: Sequence[str]) -> str:
    return text if isinstance(text, Literal) else quoted(text, specials)


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
