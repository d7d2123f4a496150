"""Pure helpers that put untrusted text inside other text without letting it out again.

Nothing here deletes: what is escaped decodes back, and what is made visible stays readable. The character sets come
from the Unicode Character Database 18.0.0 (DerivedCoreProperties.txt, Default_Ignorable_Code_Point); a test compares
them with an independent implementation.
"""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Callable, Mapping
from functools import cache

from ctxc.base.canonical import json_string

DEFAULT_IGNORABLE = (
    "\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f\u3164"
    "\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufff8\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff"
)
"""Body of a character class: code points that a renderer shows as nothing (bidi controls, tags, selectors, fillers)."""

_CONTROLS = "\x00-\x1f\x7f-\x9f\u2028\u2029"
_OTHER_FORMAT = "\u0600-\u0605\u06dd\u070f\u0890\u0891\u08e2\ufff9-\ufffb\U000110bd\U000110cd\U00013430-\U0001343f"
# What NFKC turns into one of  < > & " \ : a reader that normalises must not find a delimiter that we did not write.
_COMPATIBLE = "\ufe60\ufe64\ufe65\ufe68\uff02\uff06\uff1c\uff1e\uff3c"
_SURROGATES = "\ud800-\udfff"

_JSON_HIDE = f"[<>&\x7f-\x9f\u2028\u2029{_SURROGATES}{_COMPATIBLE}{_OTHER_FORMAT}{DEFAULT_IGNORABLE}]"
_JSON_UNSEEN = f"[\x7f-\x9f\u2028\u2029{_SURROGATES}{_OTHER_FORMAT}{DEFAULT_IGNORABLE}]"
_ASCII_HIDE = "<>&\x7f"
_IGNORABLE = f"[{DEFAULT_IGNORABLE}]+"
_VISIBLE = (
    f"[\\\\{_CONTROLS}{_SURROGATES}{_OTHER_FORMAT}{DEFAULT_IGNORABLE}\u2800"
    "\ue000-\uf8ff\ufdd0-\ufdef\ufffe\uffff\U000f0000-\U0010ffff]"
)
_SHORT = {"\t": "\\t", "\n": "\\n", "\r": "\\r", "\\": "\\\\"}


@cache
def _compiled(source: str) -> re.Pattern[str]:
    """A pattern, compiled when it is first used: what imports this module mostly needs none of them."""
    return re.compile(source)


def unicode_escape(text: str) -> str:
    """The text as ``\\u`` escapes of JSON, a surrogate pair for what needs one."""
    if len(text) == 1 and text <= "\uffff":
        return f"\\u{ord(text):04x}"
    data = text.encode("utf-16-be", "surrogatepass")
    return "".join(f"\\u{data[i] << 8 | data[i + 1]:04x}" for i in range(0, len(data), 2))


def _json_escape(match: re.Match[str]) -> str:
    return unicode_escape(match.group())


def json_string_escape(text: str) -> str:
    """A JSON string literal, quotes included, that holds ``text`` and can close nothing around it.

    Besides what JSON requires, ``<``, ``>``, ``&``, controls, bidi, tag and other default-ignorable characters, lone
    surrogates, and characters that NFKC turns into ``<``, ``>``, ``&``, ``"`` or a backslash are ``\\u`` escapes.
    ``json.loads`` of the result is always ``text`` again.
    """
    quoted = json_string(text)
    if quoted.isascii() and not any(mark in quoted for mark in _ASCII_HIDE):
        return quoted  # by far the most common, and several times faster than a search
    return _compiled(_JSON_HIDE).sub(_json_escape, quoted)


def inert_json(text: str) -> str:
    """JSON text, equal in value, that a terminal and a reader see as it is: ``\\u`` escapes for what is invisible.

    Those are C1 controls (one of them begins a terminal's escape sequences), bidi controls, tags and other characters
    that are shown as nothing, and lone surrogates, which UTF-8 cannot carry. In JSON they stand in strings only.
    """
    if text.isascii() and "\x7f" not in text:
        return text
    unseen = _compiled(_JSON_UNSEEN)
    # Few texts hold any, and their alphabet is small.
    table = {ord(char): unicode_escape(char) for char in set(text) if unseen.match(char)}
    return text.translate(table) if table else text


def json_with(value: object, quote: Callable[[str], str]) -> str:
    """JSON on one line in the value's own key order, whose strings are written by ``quote``.

    Raises ValueError for NaN and infinities and TypeError for what JSON has no form for.
    """
    if isinstance(value, str):
        return quote(value)
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{quote(str(k))}: {json_with(v, quote)}" for k, v in value.items()) + "}"
    if isinstance(value, (list, tuple)):
        return "[" + ", ".join(json_with(v, quote) for v in value) + "]"
    return json.dumps(value, ensure_ascii=False, allow_nan=False)


def without_ignorables(text: str) -> str:
    """The text without default-ignorable code points: what a reader sees, not what is there."""
    return text if text.isascii() else _compiled(_IGNORABLE).sub("", text)


def fence_for(text: str, mark: str = "`", minimum: int = 3) -> str:
    """A fence of ``mark`` characters longer than any run of them in ``text``, and at least ``minimum`` long.

    Runs are also counted after NFKC and without default-ignorable code points, so that no look-alike closes it.
    """
    longest = 0
    readings = {text}
    if not text.isascii():
        bare = without_ignorables(text)
        readings |= {bare, unicodedata.normalize("NFKC", text), unicodedata.normalize("NFKC", bare)}
    for reading in readings:
        for run in re.finditer(re.escape(mark) + "+", reading):
            longest = max(longest, run.end() - run.start())
    return mark * max(minimum, longest + 1)


def visible(text: str, limit: int = 0, *, newlines: bool = False, backslashes: bool = True) -> str:
    """The text for a message: controls, hidden characters and backslashes shown as escapes, cut at ``limit`` (0: not).

    The limit counts code points of the result, an ellipsis included. ``newlines`` keeps line feeds as they are;
    without ``backslashes`` a backslash stays single, for lines of source that a person compares with the file.
    """
    kept = ("\n" if newlines else "") + ("" if backslashes else "\\")

    def show(match: re.Match[str]) -> str:
        char = match.group()
        return char if char in kept else _SHORT.get(char) or f"\\u{{{ord(char):x}}}"

    shown = _compiled(_VISIBLE).sub(show, text)
    if limit and len(shown) > limit:
        return shown[: limit - 1] + "…"
    return shown
