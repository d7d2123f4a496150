"""Letters of other scripts that look like ASCII letters, and words that are built to be mistaken.

A small table of our own: the letters of Cyrillic, Greek, Armenian and Cherokee whose usual shape is that of one Latin
letter. It is not the skeleton table of UTS #39; it is enough to see an ASCII word behind a disguise.
"""

from __future__ import annotations

import re
from functools import cache

from ctxc.base.escaping import without_ignorables
from ctxc.detect.chars import having

_LOOKS_LIKE = {
    "cyrillic": (
        "аеорсухіјѕԁԛԝһӏьвнкмтүѵѡԍꙅАВЕКМНОРСТУХЅІЈԌԚԜҮѴ",
        "aeopcyxijsdqwhlbbhkmtyvwgsABEKMHOPCTYXSIJGQWYV",
    ),
    "greek": ("ΑΒΕΖΗΙΚΜΝΟΡΤΥΧϹͿοανρικυχγτεηωϲϳ", "ABEZHIKMNOPTYXCJoavpikuxytenwcj"),
    "armenian": ("աոսօհյզցԱՕՍԼ", "wnuohjqgUOUL"),
    "cherokee": ("ᎠᎡᎢᎥᎪᎫᎬᎳᎷᎻᎽᏀᏃᏒᏙᏚᏞᏟᏢᏦᏴ", "DRTiAJEWMHYGZRVSLCPKB"),
}
ASCII_LOOK_ALIKE = {
    letter: plain for letters, plains in _LOOKS_LIKE.values() for letter, plain in zip(letters, plains, strict=True)
}
_FOREIGN = "".join(ASCII_LOOK_ALIKE)
_JOINERS = "\u0300-\u036f\u200b-\u200d\u2060\u00ad"
_JOINER = re.compile(f"[{_JOINERS}]")


@cache
def _border() -> re.Pattern[str]:
    """A foreign look-alike beside a Latin letter, marks and joiners between them: where every disguise shows."""
    latin = having("latin").ranges(below=0x1_0000)
    return re.compile(f"[{_FOREIGN}](?:(?=[{_JOINERS}]*[{latin}])|(?<=[{latin}{_JOINERS}][{_FOREIGN}]))")


def skeleton(word: str) -> str:
    """The word with look-alikes replaced by ASCII letters, and without marks and hidden characters."""
    return "".join(ASCII_LOOK_ALIKE.get(char, char) for char in _JOINER.sub("", without_ignorables(word)))


def mixed_words(text: str) -> list[tuple[int, int, str]]:
    """Words of at least three letters that mix Latin with look-alikes and read as ASCII: start, end, what they read as.

    A word with an unambiguous foreign letter is not one: whoever reads it sees that it is foreign.
    """
    words = []
    done = 0
    for border in _border().finditer(text):
        if border.start() < done:
            continue
        start, done = _word_around(text, border.start(), done)
        plain = skeleton(text[start:done])
        if plain.isascii() and len(plain) >= 3 and any(c.isascii() and c.isalpha() for c in text[start:done]):
            words.append((start, done, plain))
    return words


def _word_around(text: str, at: int, floor: int) -> tuple[int, int]:
    """The letters around a place, not before ``floor``: start and end."""
    start = at
    while start > floor and (text[start - 1].isalpha() or _JOINER.match(text[start - 1])):
        start -= 1
    end = at + 1
    while end < len(text) and (text[end].isalpha() or _JOINER.match(text[end])):
        end += 1
    return start, end


def disguised_identifier(name: str) -> str:
    """The ASCII name that an identifier of look-alikes alone reads as; empty where it is no such identifier."""
    plain = skeleton(name)
    if name.isascii() or not plain.isascii() or any(char.isascii() and char.isalpha() for char in name):
        return ""
    return plain
