"""A limit of bytes: what a tool or an interface allows, whatever the tokens."""

from __future__ import annotations

from ctxc.base.text import snap_down, utf8
from ctxc.compiler.truncate._marker import bytes_cut, joined
from ctxc.compiler.truncate._result import ByteCut


def cut_bytes(text: str, limit: int) -> ByteCut:
    """Keep the beginning of a text, at most ``limit`` UTF-8 bytes with the mark; no code point or grapheme is split.

    Raises UnreadableSource for a lone surrogate.
    """
    data = utf8(text)
    before = len(data)
    if before <= limit:
        kept = ((0, len(text)),) if text else ()
        return ByteCut(text=text, bytes_before=before, bytes_after=before, cut=False, fits=True, kept_ranges=kept)
    # With the largest number that the mark can hold; a smaller one is never longer.
    room = limit - len(joined("x", bytes_cut(before), "").encode()) + 1
    end = snap_down(text, len(data[: max(room, 0)].decode("utf-8", "ignore")))
    head = text[:end]
    result = joined(head, bytes_cut(before - len(head.encode("utf-8"))), "")
    after = len(result.encode("utf-8"))
    fits = after <= limit
    return ByteCut(
        text=result if fits else "",
        bytes_before=before,
        bytes_after=after if fits else 0,
        cut=True,
        fits=fits,
        kept_ranges=((0, end),) if fits and end else (),
    )
