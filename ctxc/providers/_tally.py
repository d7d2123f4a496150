"""The sum of a request's tokens: texts that a tokenizer counts, constants of a protocol, and how far each may be off.

Bands add up in tokens and are printed relative to the total, in basis points, rounded up.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ctxc.model.counting import Count, CountPart, Tokenizer, worst
from ctxc.model.provider import ModelRow, TokenizerRef
from ctxc.providers._read import as_int, as_map

_ONE = 10_000  # basis points

FOREIGN = "counted with a tokenizer that the model's row does not name: the row's factor and band do not apply"


def tokenizer_ref(tokenizer: Tokenizer, row: ModelRow) -> TokenizerRef | None:
    """The row's statement about this tokenizer, or None where the row does not know it."""
    for ref in (row.tokenizer, *row.alternatives):
        if ref.id == tokenizer.id:
            return ref
    return None


def framing_of(row: ModelRow, ref: TokenizerRef | None) -> Mapping[str, Any]:
    """Framing data, with what holds only for one tokenizer (``by_tokenizer``) laid over it."""
    special = as_map(as_map(row.framing.get("by_tokenizer")).get(ref.id if ref else ""))
    return {**row.framing, **special} if special else row.framing


def _estimate(row: ModelRow, ref: TokenizerRef | None) -> Mapping[str, Any]:
    """What the model's vocabulary does otherwise than a base that stands in for it: of that base alone."""
    if ref is None or ref.method in ("exact", "reproduced"):
        return {}
    own = as_map(as_map(row.framing.get("by_tokenizer")).get(ref.id)).get("estimate")
    return as_map(own if own is not None or ref is not row.tokenizer else row.framing.get("estimate"))


class Tally:
    """Collects what is counted, asks the tokenizer once for all of it, and adds up."""

    __slots__ = ("_abs_high", "_abs_low", "_fixed", "_methods", "_notes", "_texts")

    def __init__(self) -> None:
        self._texts: list[tuple[str, str]] = []
        self._fixed: list[tuple[str, int]] = []
        self._methods: list[str] = []
        self._notes: list[str] = []
        self._abs_low = 0
        self._abs_high = 0

    def text(self, pointer: str, text: str) -> None:
        """Count a text at a pointer."""
        if text:
            self._texts.append((pointer, text))

    def fixed(self, pointer: str, tokens: int, *, low: int = 0, high: int = 0) -> None:
        """Add a constant of the protocol, and how many tokens it may be off."""
        if tokens:
            self._fixed.append((pointer, tokens))
        self._abs_low += low
        self._abs_high += high

    def uncertain(self, low: int, high: int) -> None:
        """Widen the band by a number of tokens."""
        self._abs_low += low
        self._abs_high += high

    def method(self, method: str) -> None:
        """Lower the method to at most this one."""
        self._methods.append(method)

    def note(self, note: str) -> None:
        """Say something about the count, once."""
        if note not in self._notes:
            self._notes.append(note)

    def finish(self, tokenizer: Tokenizer, row: ModelRow) -> Count:
        """The count of the whole. The parts' tokens sum to its tokens."""
        ref = tokenizer_ref(tokenizer, row)
        factor, low_bp, high_bp = _ONE, 0, 0
        methods = [tokenizer.method, *self._methods]
        if ref is None:
            methods.append("heuristic")
            self.note(FOREIGN)
        else:
            factor, low_bp, high_bp = ref.factor_bp, ref.error_low_bp, ref.error_high_bp
            methods.append(ref.method)
        estimate = _estimate(row, ref)
        counts = tokenizer.count_many([text for _, text in self._texts])
        parts: list[CountPart] = [CountPart(pointer=p, tokens=n) for p, n in self._fixed]
        fixed = sum(n for _, n in self._fixed)
        scaled = low = high = shown = 0  # in basis points of a token, so that rounding happens once
        for (pointer, text), count in zip(self._texts, counts, strict=True):
            if estimate:
                units, share = _units(text, count, factor, estimate)
                low += units * _between(low_bp, estimate, "other_low_bp", share)
                high += units * _between(high_bp, estimate, "other_high_bp", share)
            else:
                units = count * factor
                low += units * low_bp
                high += units * high_bp
            scaled += units
            upto = (scaled + _ONE // 2) // _ONE
            parts.append(CountPart(pointer=pointer, tokens=upto - shown))
            shown = upto
        total = fixed + shown
        low_tokens = low // (_ONE * _ONE) + (1 if low % (_ONE * _ONE) else 0) + self._abs_low
        high_tokens = high // (_ONE * _ONE) + (1 if high % (_ONE * _ONE) else 0) + self._abs_high
        return Count(
            tokens=total,
            method=worst(*methods),
            tokenizer=tokenizer.id,
            error_low_bp=_relative(low_tokens, total),
            error_high_bp=_relative(high_tokens, total),
            parts=tuple(parts),
            notes=tuple(self._notes),
        )


def scaled_counts(texts: Sequence[str], counts: Sequence[int], tokenizer: Tokenizer, row: ModelRow) -> list[int]:
    """Tokens of texts for a model, from a tokenizer's own counts of them: the row's factor and estimate applied to
    each text alone, rounded up. What ``Shape.count`` does with the texts of a request, for sections by themselves."""
    ref = tokenizer_ref(tokenizer, row)
    factor = _ONE if ref is None else ref.factor_bp
    estimate = _estimate(row, ref)
    if factor == _ONE and not estimate:
        return list(counts)
    return [-(-_units(t, n, factor, estimate)[0] // _ONE) for t, n in zip(texts, counts, strict=True)]


_UPPER = bytes(range(0x41, 0x5B))
_DIGITS = bytes(range(0x30, 0x3A))
_OUTSIDE = bytes(range(0x80, 0x100))


def _units(text: str, count: int, factor: int, estimate: Mapping[str, Any]) -> tuple[int, int]:
    """Tokens in basis points by an estimate, and the share of bytes outside ASCII in basis points.

    ``estimate`` says what an upper-case letter, a digit and a byte outside ASCII add (or take away) in basis points
    of a token: a vocabulary that is not public splits them in other places than the base does.
    """
    units = count * factor
    data = text.encode("utf-8", "surrogatepass")
    size = len(data)
    outside = 0 if text.isascii() else size - len(data.translate(None, _OUTSIDE))
    units += as_int(estimate.get("upper_bp")) * (size - len(data.translate(None, _UPPER)))
    units += as_int(estimate.get("digit_bp")) * (size - len(data.translate(None, _DIGITS)))
    units += as_int(estimate.get("other_bp")) * outside
    # A text of digits alone must not come out at nothing.
    return max(units, count * min(factor, _ONE) // 2), outside * _ONE // max(size, 1)


def _between(base: int, estimate: Mapping[str, Any], key: str, share: int) -> int:
    return base + (as_int(estimate.get(key), base) - base) * share // _ONE


def _relative(tokens: int, total: int) -> int:
    if tokens <= 0:
        return 0
    return -(-tokens * _ONE // max(total, 1))
