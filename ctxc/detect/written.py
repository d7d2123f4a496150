"""What a text holds as it is written that must not stand around text from outside: control tokens, hidden characters.

A renderer makes both visible. This says what is left, so that the text of a payload can be held against that of a
harmless word: what the application or the protocol writes itself stands in both.
"""

from __future__ import annotations

import unicodedata
from functools import cache
from typing import NamedTuple

from ctxc.base.escaping import DEFAULT_IGNORABLE
from ctxc.detect.patterns import Pattern
from ctxc.detect.role_tokens import families

_SAFE = bytes(code for code in range(0x20, 0x100) if code != 0x7F and chr(code) not in "<>&")
_HIDDEN = Pattern(rf"[\x{{80}}-\x{{9f}}\p{{Cf}}\p{{Zl}}\p{{Zp}}{DEFAULT_IGNORABLE}]")


class Written(NamedTuple):
    """Tokens of the known families and characters that close or hide (those of ASCII first), in the text's order."""

    tokens: tuple[bytes, ...]
    hidden: bytes


def folded(text: str) -> str:
    """The text after NFKC."""
    return text if text.isascii() else unicodedata.normalize("NFKC", text)


def written(text: str, normal: str | None = None) -> tuple[Written, Written]:
    """What a text holds, and what it holds after NFKC (``normal``, where that is known).

    Tokens are compared letter by letter; a fence, a heading or a tag that only applications use is no token. Hidden are
    ``<``, ``>``, ``&``, controls (line ends too), format characters, tags and whatever else shows as nothing.
    """
    found = _written(text)
    if normal is None:
        normal = folded(text)
    return found, found if normal == text else _written(normal)


def _written(text: str) -> Written:
    data = text.encode("utf-8", "surrogatepass")
    tokens = tuple(data[low:high] for low, high, _, _ in _tokens().spans(data))
    hidden = data.translate(None, _SAFE)
    if not text.isascii():
        hidden += b"".join(data[low:high] for low, high, _, _ in _HIDDEN.spans(data))
    return Written(tokens, hidden)


@cache
def known_tokens() -> tuple[str, ...]:
    """The control tokens and role markers of all families as their models read them, sorted."""
    return tuple(sorted({token for family in families() if family.kind != "wrapper" for token in family.tokens}))


@cache
def _tokens() -> Pattern:
    forms = {f for token in known_tokens() for f in (token, unicodedata.normalize("NFKC", token))}
    # A role begins a line, and so does its own line end: in a text on one line it stands without.
    forms |= {form.strip("\n") for form in forms}
    return Pattern("|".join(_quoted(form) for form in sorted(forms, key=lambda t: (-len(t), t))))


def _quoted(token: str) -> str:
    """A token as a pattern: RE2 takes an escaped sign as itself."""
    return "".join(c if c.isalnum() or not c.isascii() or c in "_\n" else f"\\{c}" for c in token)
