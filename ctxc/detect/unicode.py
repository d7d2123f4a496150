"""Hidden and deceptive Unicode: rules U001 to U014, with the exemptions that writing systems need.

Severities are those for untrusted data. In trusted text (instructions, tool definitions) and in identifiers (names,
keys, file names) every warning of these rules is an error. What is hidden by encoding and markup (U015 to U019) is in
:mod:`ctxc.detect.hidden_text`; :func:`find_unicode` returns both. Character properties come from the shipped table.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from typing import Literal

from ctxc.base.escaping import DEFAULT_IGNORABLE, visible
from ctxc.detect import chars
from ctxc.detect.bidi import find_bidi
from ctxc.detect.chars import having
from ctxc.detect.confusables import disguised_identifier, mixed_words
from ctxc.detect.hidden_text import find_hidden_text
from ctxc.detect.match import Match, in_order
from ctxc.detect.neighbours import format_is_at_home, selector_is_at_home
from ctxc.model.finding import Severity

Context = Literal["data", "identifier", "trusted"]

FLAG_BASE = "\U0001f3f4"
SUBDIVISION_FLAGS = frozenset({"gbeng", "gbsct", "gbwls"})
"""The tag sequences that Unicode recommends for interchange (emoji-sequences.txt): England, Scotland, Wales."""

STACKED_MARKS = 5
COMPATIBILITY_LETTERS = 4

_ERROR, _WARNING = Severity.ERROR, Severity.WARNING
_CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]")
_ESCAPE = re.compile(
    r"\x1b(?:\[[0-?]{0,32}[ -/]{0,4}[@-~]|\][^\x07\x1b]{0,4096}(?:\x07|\x1b\\)|[PX^_][^\x1b]{0,4096}\x1b\\|[@-Z\\-_])?"
    r"|\x9b(?:[0-?]{0,32}[ -/]{0,4}[@-~])?"
)
_INVISIBLE = (
    "\u00ad\u034f\u115f\u1160\u17b4\u17b5\u180e\u200b-\u200d\u2060-\u2065\u206a-\u206f\u2800\u3164\ufeff\uffa0"
    "\ufff9-\ufffb\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U00013430-\U0001343f"
)
_INVISIBLE_RUN = re.compile(f"[{_INVISIBLE}]+")
_SELECTOR_RUN = re.compile("[\ufe00-\ufe0f\U000e0100-\U000e01ef]+")
_TAG_RUN = re.compile("[\U000e0000-\U000e007f]+")
_MARKS = re.compile(
    f"[\u0300-\u036f\u0483-\u0489\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20ff\ufe20-\ufe2f]{{{STACKED_MARKS},}}"
)
_STYLED = (
    "\u2100-\u214f\u249c-\u24e9\uff21-\uff3a\uff41-\uff5a"
    "\U0001ccd6-\U0001ccef\U0001d400-\U0001d7ff\U0001f110-\U0001f189"
)
_STYLED_WORD = re.compile(f"[{_STYLED}](?:[A-Za-z{_STYLED}]|[\u200b-\u200d\u2060\u00ad])*")
_SPACES = re.compile("[\u00a0\u1680\u2000-\u200a\u202f\u205f\u3000]")
# Judged by paragraph (bidi controls), or signs of Arabic, Syriac and Kaithi that stand before digits.
_HANDLED = re.compile(
    "[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\u0600-\u0605\u06dd\u070f\u0890\u0891\u08e2\U000110bd\U000110cd]"
)
_IGNORABLE = re.compile(f"[{DEFAULT_IGNORABLE}]")
_NAMES = {
    "\u00ad": "soft hyphen", "\u034f": "combining grapheme joiner", "\u115f": "hangul filler",
    "\u1160": "hangul filler",
    "\u180e": "mongolian vowel separator", "\u200b": "zero-width space", "\u200c": "zero-width non-joiner",
    "\u200d": "zero-width joiner", "\u2060": "word joiner", "\u2800": "braille blank", "\u3164": "hangul filler",
    "\ufeff": "byte order mark", "\uffa0": "half-width hangul filler",
}  # fmt: skip


def find_unicode(text: str, *, context: Context = "data", markup: bool = False) -> tuple[Match, ...]:
    """Every hidden or deceptive character of the text, in its order.

    ``markup`` says that the text is a Markdown or HTML document, where U015 to U019 are at home: there they are never
    worse than a warning. ASCII text takes a short way.
    """
    found = [*_controls(text), *find_hidden_text(text, markup=markup)]
    if not text.isascii():
        found.extend(_other_than_ascii(text, context))
    if context == "data":
        return in_order(match for match in found if match.severity > Severity.INFO)
    return in_order(_stricter(match) for match in found)


def _stricter(match: Match) -> Match:
    """The match in text whose author is trusted: a warning about characters is an error there."""
    characters = match.detector <= "unicode.U014"
    return replace(match, severity=_ERROR) if characters and match.severity == _WARNING else match


def _match(rule: str, severity: Severity, start: int, end: int, message: str) -> Match:
    return Match(detector=f"unicode.{rule}", severity=severity, start=start, end=end, message=message)


def _code(char: str) -> str:
    return f"U+{ord(char):04X}"


def _controls(text: str) -> Iterator[Match]:
    """U009 and U010: control characters and the escape sequences of terminals."""
    sequences: list[tuple[int, int]] = []
    if "\x1b" in text or "\x9b" in text:
        for escape in _ESCAPE.finditer(text):
            sequences.append(escape.span())
            yield _match("U010", _ERROR, *escape.span(), f"terminal escape sequence {visible(escape.group(), 40)}")
    upcoming = iter([*sequences, (len(text), len(text))])
    low, high = next(upcoming)
    for control in _CONTROL.finditer(text):
        at = control.start()
        while at >= high:
            low, high = next(upcoming)
        if at < low:
            yield _match("U009", _ERROR, at, at + 1, f"control character {_code(control.group())}")


@cache
def _suspects() -> re.Pattern[str]:
    """Every character below plane 1 that needs a closer look, and all above (emoji aside they are rare)."""
    unassigned = having("unassigned").ranges(below=0x10000)
    format_characters = having("format").ranges(below=0x10000)
    return re.compile(
        f"[\x80-\x9a\x9c-\x9f\u2028\u2029\u2800\ud800-\udfff\ue000-\uf8ff{DEFAULT_IGNORABLE}{format_characters}"
        f"{unassigned}\U00010000-\U0010ffff]"
    )


def _other_than_ascii(text: str, context: Context) -> Iterator[Match]:
    """U001 to U014 but for ASCII controls and escape sequences."""
    yield from find_bidi(text)
    position = 0
    suspects = _suspects()
    while (suspect := suspects.search(text, position)) is not None:
        at = suspect.start()
        match, position = _judge(text, at)
        if match is not None:
            yield match
    for marks in _MARKS.finditer(text):
        stacked = marks.end() - marks.start()
        yield _match("U014", _WARNING, marks.start(), marks.end(), f"{stacked} combining marks on one letter")
    for word in _STYLED_WORD.finditer(text):
        yield from _styled(word)
    for start, end, plain in mixed_words(text):
        severity = _ERROR if context == "identifier" else _WARNING
        yield _match("U007", severity, start, end, f"letters of two scripts that read as {plain!r}")
    if context == "identifier":
        yield from _in_identifier(text)


def _judge(text: str, at: int) -> tuple[Match | None, int]:
    """What to say about the suspect at a place, and where to go on."""
    char = text[at]
    if char in chars.TAGS:
        return _tags(text, at)
    if char in chars.VARIATION_SELECTORS:
        return _selectors(text, at)
    run = _INVISIBLE_RUN.match(text, at)
    if run is not None:
        return _invisible(text, at, run.end())
    if char in chars.MONGOLIAN_SELECTORS:
        if text[at - 1 : at] in chars.MONGOLIAN:
            return None, at + 1
        message = f"variation selector {_code(char)} on a base without variants"
        return _match("U006", _WARNING, at, at + 1, message), at + 1
    return _single(char, at), at + 1


def _tags(text: str, at: int) -> tuple[Match | None, int]:
    """U004: tag characters, which spell ASCII that nobody sees."""
    run = _TAG_RUN.match(text, at)
    end = run.end() if run else at + 1
    hidden = "".join(chr(ord(char) - 0xE0000) for char in text[at:end] if 0x20 <= ord(char) - 0xE0000 < 0x7F)
    if text[at - 1 : at] == FLAG_BASE and text[end - 1] == "\U000e007f":
        if hidden in SUBDIVISION_FLAGS:
            return None, end
        if re.fullmatch(r"[a-z]{2}[a-z0-9]{1,3}", hidden):
            return _match("U004", _WARNING, at, end, f"flag of a subdivision that few systems show: {hidden}"), end
    message = f"{end - at} tag characters that spell {visible(hidden, 80)!r}"
    return _match("U004", _ERROR, at, end, message), end


def _selectors(text: str, at: int) -> tuple[Match | None, int]:
    """U006: variation selectors on a base that has no variants, and runs of them, which carry bytes."""
    run = _SELECTOR_RUN.match(text, at)
    end = run.end() if run else at + 1
    if end - at > 1:
        carried = bytes(ord(char) - (0xFE00 if ord(char) < 0xFE10 else 0xE00F0) for char in text[at:end])
        shown = visible(carried.decode("utf-8", "replace"), 80)
        return _match("U006", _ERROR, at, end, f"{end - at} variation selectors that carry the bytes {shown!r}"), end
    if selector_is_at_home(text, at):
        return None, end
    severity = _WARNING if text[at] in "\ufe0e\ufe0f" else _ERROR
    return _match("U006", severity, at, end, f"variation selector {_code(text[at])} on a base without variants"), end


def _invisible(text: str, at: int, end: int) -> tuple[Match | None, int]:
    """U005: invisible characters outside the writing systems that need them."""
    run = text[at:end]
    at_home = all(format_is_at_home(text, place) for place in range(at, end))
    if len(run) > 1 and run.strip("\u00ad") and not (at_home and not run.strip("\u115f\u1160")):
        codes = " ".join(_code(char) for char in run[:8])
        return _match("U005", _ERROR, at, end, f"{len(run):,} invisible characters in a row: {codes}"), end
    if at_home:
        return None, end
    name = _NAMES.get(run[0], "invisible character")
    return _match("U005", _WARNING, at, end, f"{name} {_code(run[0])} that no writing system needs here"), end


def _single(char: str, at: int) -> Match | None:
    """U009, U011, U012 and U005 for one character that stands alone."""
    code = ord(char)
    if 0x80 <= code <= 0x9F:
        return _match("U009", _WARNING if code == 0x85 else _ERROR, at, at + 1, f"control character {_code(char)}")
    if char in "\u2028\u2029":
        return _match("U011", _WARNING, at, at + 1, f"line separator {_code(char)}, which only some readers obey")
    if 0xD800 <= code <= 0xDFFF:
        return _match("U012", _ERROR, at, at + 1, f"lone surrogate {_code(char)}")
    if code & 0xFFFE == 0xFFFE or 0xFDD0 <= code <= 0xFDEF:
        return _match("U012", _ERROR, at, at + 1, f"noncharacter {_code(char)}")
    if 0xE000 <= code <= 0xF8FF or code >= 0xF0000:
        return _match("U012", _WARNING, at, at + 1, f"private-use character {_code(char)}")
    if _HANDLED.match(char):
        return None
    if char in having("unassigned"):
        return _match("U012", _WARNING, at, at + 1, f"unassigned code point {_code(char)}")
    if char in having("format") or _IGNORABLE.match(char):
        return _match("U005", _WARNING, at, at + 1, f"format character {_code(char)}")
    return None


def _styled(word: re.Match[str]) -> Iterator[Match]:
    """U008: a word in mathematical, full-width or enclosed letters that is ASCII to a reader that normalises."""
    letters = [char for char in word.group() if not char.isascii() and char not in "\u200b\u200c\u200d\u2060\u00ad"]
    if len(letters) < COMPATIBILITY_LETTERS:
        return
    plain = unicodedata.normalize("NFKC", re.sub("[\u200b-\u200d\u2060\u00ad]", "", word.group()))
    bare = re.sub(r"[()]", "", plain)
    if bare.isascii() and bare.isalpha():
        yield _match("U008", _WARNING, word.start(), word.end(), f"styled letters that read as {bare!r}")


def _in_identifier(text: str) -> Iterator[Match]:
    """U013, U007 for a name that is all look-alikes, and the normal form that names must have to be compared."""
    if not unicodedata.is_normalized("NFC", text):
        yield _match("nfc", _WARNING, 0, len(text), "a name that is not in Unicode normal form C")
    for space in _SPACES.finditer(text):
        yield _match("U013", _ERROR, space.start(), space.end(), f"space {_code(space.group())} in a name")
    for word in re.finditer(r"\w+", text):
        plain = disguised_identifier(word.group())
        if plain:
            message = f"letters of another script that all read as ASCII: {plain!r}"
            yield _match("U007", _ERROR, word.start(), word.end(), message)
