"""Where an invisible character is at home: its neighbours tell.

The rules follow RFC 5892 (A.1, A.2), UTS #51 for emoji, UTS #37 for ideographs, and the chapters of the Unicode
Standard on Indic, South-East Asian, Mongolian and Korean writing.
"""

from __future__ import annotations

import re

from ctxc.detect import chars
from ctxc.detect.chars import having

_SYMBOL = re.compile("[\u00b1\u00d7\u00f7\u2200-\u22ff\u27c0-\u27ef\u2980-\u2aff\U0001d400-\U0001d7ff=+<>^]")


def base_before(text: str, at: int) -> str:
    """The character before a place, marks, variation selectors and skin tones skipped; empty at the start."""
    place = at - 1
    while place >= 0 and _is_attached(text[place]):
        place -= 1
    return text[place] if place >= 0 else ""


def base_after(text: str, at: int) -> str:
    """The character after a place, marks and variation selectors skipped; empty at the end."""
    place = at + 1
    while place < len(text) and _is_attached(text[place]):
        place += 1
    return text[place] if place < len(text) else ""


def _is_attached(char: str) -> bool:
    return not char.isascii() and (
        char in chars.VARIATION_SELECTORS or char in chars.SKIN_TONES or char in having("mark")
    )


def format_is_at_home(text: str, at: int) -> bool:
    """True if the invisible character at a place does there what it was encoded for."""
    before = text[at - 1 : at]
    after = text[at + 1 : at + 2]
    match text[at]:
        case "\u200d":
            return _joiner(text, at, before, after)
        case "\u200c":
            return before in having("virama") or _joins(text, at)
        case "\u200b":
            return base_before(text, at) in chars.SPACELESS and after in chars.SPACELESS
        case "\ufeff":
            return at == 0
        case "\u00ad":
            return before.isalpha() and (after.isalpha() or after in having("mark"))
        case "\u034f":
            return bool(before) and after in having("mark")
        case "\u115f" | "\u1160":
            return before in chars.CONJOINING_LEADS or after in chars.CONJOINING_VOWELS
        case "\u3164" | "\uffa0":
            return before in chars.SINGLE_JAMO or after in chars.SINGLE_JAMO
        case "\u180e":
            return before in chars.MONGOLIAN
        case "\u2800":
            return _nearby(text, at, 8, chars.BRAILLE)
        case char if char in chars.INVISIBLE_OPERATORS:
            return _SYMBOL.search(text, max(0, at - 6), at + 7) is not None
        case char if char in chars.HIEROGLYPH_CONTROLS:
            return _nearby(text, at, 4, chars.HIEROGLYPHS)
        case char if char in chars.MUSIC_CONTROLS:
            return _nearby(text, at, 8, chars.MUSIC)
        case char if char in chars.SHORTHAND_CONTROLS:
            return _nearby(text, at, 4, chars.SHORTHAND)
    return False


def _nearby(text: str, at: int, distance: int, wanted: chars.CharSet) -> bool:
    return any(char in wanted for char in text[max(0, at - distance) : at + distance + 1])


def _joins(text: str, at: int) -> bool:
    """True between two letters of one of the scripts that a non-joiner separates."""
    before, after = base_before(text, at), base_after(text, at)
    return any(before in script and after in script for script in (chars.JOINING, chars.INDIC))


def _joiner(text: str, at: int, before: str, after: str) -> bool:
    """ZWJ: after a virama, inside an emoji sequence, at the edge of a joining letter, between Indic letters."""
    if before in having("virama"):
        return True
    base = base_before(text, at)
    if base in having("extended_pictographic") and after in having("extended_pictographic"):
        return True
    if base in chars.JOINING and (after in chars.JOINING or not after.isalnum()):
        return True
    if after in chars.JOINING and not before.isalnum():
        return True
    return base in chars.INDIC and after in chars.INDIC


def selector_is_at_home(text: str, at: int) -> bool:
    """True if the single variation selector at a place follows a base that has such variants."""
    before = text[at - 1 : at]
    if not before:
        return False
    selector = text[at]
    if selector in "\ufe0e\ufe0f":
        keycap = before in "0123456789#*" and text[at + 1 : at + 2] == "\u20e3"
        return keycap or before in having("extended_pictographic") or before in chars.SKIN_TONES
    if "\ufe00" <= selector <= "\ufe02":
        return before in having("han") or before in chars.STANDARD_BASES or before in chars.INDIC
    return selector >= "\U000e0100" and before in having("han")
