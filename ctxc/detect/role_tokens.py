"""Control and role tokens of model families, found and made visible.

The tokens are data (``data/role_tokens.json``, with where each was read). They are looked for in the normalised
reading of the text, so that full-width brackets, hidden characters and another case do not hide them; special tokens
that no family here knows are caught by their form, ``<|name|>``.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from functools import cache
from typing import Literal

from ctxc.base.escaping import visible
from ctxc.base.values import dataclass
from ctxc.detect import data
from ctxc.detect.canonical import read_normalised
from ctxc.detect.match import Match, in_order
from ctxc.detect.patterns import Pattern, haystack
from ctxc.model.finding import Severity

Kind = Literal["control", "turn", "wrapper"]
"""control: a special token of a vocabulary; turn: a role written as plain text; wrapper: what applications use."""

GENERIC = "generic"


@dataclass(frozen=True, slots=True, kw_only=True)
class Family:
    """One family of models and its tokens; ``regex`` is RE2 for those that come in numbers."""

    id: str
    kind: Kind
    title: str
    tokens: tuple[str, ...]
    regex: str


@cache
def families() -> tuple[Family, ...]:
    """All families, in the order of the data file."""
    rows = json.loads(data.read("role_tokens.json"))["families"]
    return tuple(
        Family(
            id=row["id"],
            kind=row["kind"],
            title=row["family"],
            tokens=tuple(row["tokens"]),
            regex=row.get("regex", ""),
        )
        for row in rows
    )


# One word in brackets is also plain English in lower case ([args], [prefix]): only the exact case is a token.
_WORD_IN_BRACKETS = re.compile(r"\[[A-Z]+\]")
_TURN_AT_LINE_START = (
    r"(?m:^|[\r\v\f\x{85}\x{2028}\x{2029}])[ \t]{0,3}(?:(?i:human|assistant|system)[ \t]*:|[HA]:"
    r"|(?i:#{1,4}[ \t]*(?:system|instruction|response|input|human|assistant|user)[ \t]*(?:message|prompt)?[ \t]*:))"
)
_SPECIAL = r"<[ \t]?\|[ \t]?[A-Za-z0-9_/:.\-▁]{1,48}[ \t]?\|[ \t]?>"


def _normalised(token: str) -> str:
    return read_normalised(token).text


@cache
def _by_token() -> dict[str, tuple[str, Kind]]:
    """Family and kind of each token, as written and as normalised in lower case; the first family that has it."""
    found: dict[str, tuple[str, Kind]] = {}
    for family in families():
        for token in family.tokens:
            for form in (token.strip(), _normalised(token.strip()), _normalised(token.strip()).lower()):
                found.setdefault(form, (family.id, family.kind))
    return found


@cache
def _control_pattern() -> Pattern:
    """All control tokens, longest first, and whatever has the form of one."""
    exact: set[str] = set()
    any_case: set[str] = set()
    for family in families():
        if family.kind == "control":
            for token in map(_normalised, family.tokens):
                (exact if _WORD_IN_BRACKETS.fullmatch(token) else any_case).add(token)
    return Pattern(f"(?i:{_alternatives(any_case)}|{_SPECIAL})|{_alternatives(exact)}")


@cache
def _turn_pattern() -> Pattern:
    """Roles written as plain text: at the start of a line in any case, elsewhere as the family writes them."""
    anywhere = {token for family in families() if family.kind == "turn" for token in family.tokens if "\n" not in token}
    return Pattern(f"{_TURN_AT_LINE_START}|{_alternatives(anywhere)}")


def _alternatives(tokens: set[str]) -> str:
    return "|".join(re.escape(token) for token in sorted(tokens, key=lambda t: (-len(t), t)))


def find_role_tokens(text: str, *, raw: bool = False) -> tuple[Match, ...]:
    """The role and control tokens of a text, in its order.

    ``raw`` says that the text is going to be pasted into a raw prompt (a chat template, text completion), where a
    known token forges a role: an error. In message interfaces it is a warning, and so is a token that only has the
    form. Detector ids are ``role.FAMILY`` and ``role.generic``.
    """
    return in_order(
        Match(
            detector=f"role.{family}",
            severity=Severity.ERROR if raw and _forges(text[start:end], family, kind) else Severity.WARNING,
            start=start,
            end=end,
            message=f"{'role marker' if kind == 'turn' else 'control token'} {visible(text[start:end], 60)}",
        )
        for start, end, family, kind in _tokens(text)
    )


def _forges(written: str, family: str, kind: Kind) -> bool:
    """True for a known token; ``system:`` in lower case is a key of YAML far more often than a role."""
    return family != GENERIC and (kind == "control" or not written.islower())


def _tokens(text: str) -> Iterator[tuple[int, int, str, Kind]]:
    """Start, end, family and kind of every control token and role marker of the text."""
    reading = read_normalised(text)
    hay = haystack(reading.text)
    kinds: tuple[tuple[Kind, Pattern], ...] = (("control", _control_pattern()), ("turn", _turn_pattern()))
    for kind, pattern in kinds:
        for low, high in pattern.in_text(hay):
            while reading.text[low].isspace():
                low += 1
            start, end = reading.original(low, high)
            written, plain = text[start:end].strip(), reading.text[low:high].strip()
            known = _by_token().get(written) or _by_token().get(plain) or _by_token().get(plain.lower())
            family = known[0] if known else _by_form(written, kind)
            yield start, end, family, kind


def _by_form(written: str, kind: Kind) -> str:
    """The family of a token that no list holds."""
    if kind == "turn":
        return "plain-roles" if "#" in written else "claude-text"
    for family in families():
        if family.kind == "control" and family.regex and re.fullmatch(family.regex, written):
            return family.id
    return GENERIC


def neutralise(text: str) -> str:
    """The text with every control token and role marker made visible: a backslash after its first character.

    For renderers that paste text into a raw prompt. Nothing is deleted, so nothing re-forms; it is repeated until none
    is left, in the text and in its normalised reading.
    """
    while True:
        breaks = sorted({start + 1 for start, _, _, _ in _tokens(text)})
        if not breaks:
            return text
        pieces = []
        done = 0
        for place in breaks:
            pieces.append(text[done:place])
            done = place
        text = "\\".join([*pieces, text[done:]])
