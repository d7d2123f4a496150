"""Tokens of an image from its size, by the formula that a profile names; sizes come from the image's own header.

Formulas and their sources (all numbers stand in the profiles' ``images``):
``patches`` OpenAI images guide, October 2026; ``tiles512`` the same; ``patch28`` Anthropic vision guide, August 2026;
``tiles768`` Gemini token guide, July 2026.
"""

from __future__ import annotations

import base64
import binascii
from collections.abc import Mapping
from math import ceil, floor, sqrt
from typing import Any

from ctxc.model.provider import ModelRow
from ctxc.providers._read import as_int, as_map, as_text
from ctxc.providers._tally import Tally

_HEADER = 262_144  # bytes of an image that are decoded to find its size
_ONE = 10_000


def image_tokens(images: Mapping[str, Any], width: int, height: int, detail: str = "auto") -> int:
    """Tokens of an image of this size in pixels; 0 where the profile names no formula."""
    if width <= 0 or height <= 0:
        return 0
    match as_text(images.get("formula")):
        case "patches":
            patches, _ = openai_patches(width, height, _budget(images, detail))
            return -(-patches * as_int(images.get("multiplier_bp"), _ONE) // _ONE)
        case "tiles512":
            if detail == "low":
                return as_int(images.get("base"))
            return as_int(images.get("base")) + as_int(images.get("tile")) * openai_tiles(width, height)
        case "patch28":
            size = anthropic_size(width, height, as_int(images.get("max_edge")), as_int(images.get("max_tokens")))
            return _cells(*size, 28)
        case "tiles768":
            tokens = as_int(images.get("tile"), 258)
            small = as_int(images.get("small"), 384)
            return tokens if width <= small and height <= small else tokens * _cells(width, height, 768)
        case _:
            return 0


def _budget(images: Mapping[str, Any], detail: str) -> int:
    """Most patches at this detail; 0 for no limit."""
    return as_int(as_map(images.get("budgets")).get(detail), as_int(images.get("budget")))


def _cells(width: int, height: int, side: int) -> int:
    return -(-width // side) * -(-height // side)


def openai_patches(width: int, height: int, budget: int) -> tuple[int, tuple[int, int]]:
    """32-pixel patches of an image, and its size after it was shrunk so that they fit the budget (0: no limit)."""
    patches = _cells(width, height, 32)
    if budget <= 0 or patches <= budget:
        return patches, (width, height)
    scale = sqrt(32 * 32 * budget / (width * height))
    across, down = width * scale / 32, height * scale / 32
    scale *= min(floor(across) / across if across >= 1 else 1, floor(down) / down if down >= 1 else 1)
    size = (max(round(width * scale, 6).__floor__(), 1), max(round(height * scale, 6).__floor__(), 1))
    return min(_cells(*size, 32), budget), size


def openai_tiles(width: int, height: int) -> int:
    """512-pixel tiles after the image was shrunk into 2,048 by 2,048 and then to a shortest side of 768."""
    scale = min(1.0, 2048 / max(width, height))
    scale = min(scale, 768 / min(width, height)) if min(width, height) * scale > 768 else scale
    return _cells(ceil(round(width * scale, 6)), ceil(round(height * scale, 6)), 512)


def anthropic_size(width: int, height: int, max_edge: int, max_tokens: int) -> tuple[int, int]:
    """The largest size of the same shape whose edges and 28-pixel patches are within the limits (0: no limit)."""

    def fits(w: int, h: int) -> bool:
        return (max_edge <= 0 or max(w, h) <= max_edge) and (max_tokens <= 0 or _cells(w, h, 28) <= max_tokens)

    if fits(width, height):
        return width, height
    best = (1, 1)
    edges = {max_edge} if max_edge > 0 else set()
    for side, other, flip in ((width, height, False), (height, width, True)):
        top = min(side, max_edge) if max_edge > 0 else side
        for length in sorted({*range(28, top + 1, 28), *(e for e in edges if e <= side)}, reverse=True):
            across = max(-(-other * length // side), 1)
            size = (across, length) if flip else (length, across)
            if fits(*size):
                if size[0] * size[1] > best[0] * best[1]:
                    best = size
                break
    return best


def most_tokens(images: Mapping[str, Any], detail: str) -> int:
    """A figure for an image whose size is not known: the most that the formula can give, or a large photograph's."""
    if as_text(images.get("formula")) == "patch28":
        return as_int(images.get("max_tokens"))
    return image_tokens(images, 2048, 2048, detail)


def add_image(tally: Tally, pointer: str, part: Mapping[str, Any], row: ModelRow) -> None:
    """Count an image part of any shape. Where its size is not in the request the largest cost is assumed, and said."""
    detail = as_text(as_map(part.get("image_url")).get("detail") or part.get("detail")) or "auto"
    size = size_of_part(part)
    if size is not None and row.images.get("formula"):
        tally.fixed(pointer, image_tokens(row.images, *size, detail))
        tally.method("reproduced")
        return
    tokens = most_tokens(row.images, detail)
    tally.method("heuristic")
    if tokens:
        tally.fixed(pointer, tokens, low=tokens)
        tally.note(f"an image of unknown size is counted as a large one: {pointer}")
    else:
        tally.note(f"no formula is known for images of this model, this one is not counted: {pointer}")


def size_of_part(part: Mapping[str, Any]) -> tuple[int, int] | None:
    """Width and height in pixels of an image that stands in the request as base64, or None."""
    url = part.get("image_url")
    data: object = url.get("url") if isinstance(url, Mapping) else url
    if isinstance(data, str) and data.startswith("data:"):
        data = data.partition(",")[2]
    elif isinstance(data, str):
        return None
    for holder in (as_map(part.get("source")), as_map(part.get("inlineData")), as_map(part.get("inline_data"))):
        for key in ("data", "bytes"):
            if isinstance(holder.get(key), (str, bytes)):
                data = holder[key]
    if isinstance(data, bytes):
        return image_size(data[:_HEADER])
    if not isinstance(data, str):
        return None
    try:
        return image_size(base64.b64decode(data[: _HEADER - _HEADER % 4], validate=False))
    except (binascii.Error, ValueError):
        return None


def image_size(data: bytes) -> tuple[int, int] | None:
    """Width and height in pixels from the header of a PNG, GIF, JPEG or WebP file, or None."""
    if data[:8] == b"\x89PNG\r\n\x1a\n" and len(data) >= 24:
        return _positive(int.from_bytes(data[16:20], "big"), int.from_bytes(data[20:24], "big"))
    if data[:6] in (b"GIF87a", b"GIF89a") and len(data) >= 10:
        return _positive(int.from_bytes(data[6:8], "little"), int.from_bytes(data[8:10], "little"))
    if data[:2] == b"\xff\xd8":
        return _jpeg(data)
    if data[:4] == b"RIFF" and data[8:12] == b"WEBP" and len(data) >= 30:
        return _webp(data)
    return None


def _positive(width: int, height: int) -> tuple[int, int] | None:
    return (width, height) if width > 0 and height > 0 else None


def _jpeg(data: bytes) -> tuple[int, int] | None:
    at = 2
    while at + 9 <= len(data):
        if data[at] != 0xFF:
            return None
        kind = data[at + 1]
        if kind == 0xFF:
            at += 1
            continue
        if 0xC0 <= kind <= 0xCF and kind not in (0xC4, 0xC8, 0xCC):
            return _positive(int.from_bytes(data[at + 7 : at + 9], "big"), int.from_bytes(data[at + 5 : at + 7], "big"))
        if kind in (0x01, *range(0xD0, 0xD9)):
            at += 2
            continue
        at += 2 + int.from_bytes(data[at + 2 : at + 4], "big")
    return None


def _webp(data: bytes) -> tuple[int, int] | None:
    kind = data[12:16]
    if kind == b"VP8X":
        return _positive(1 + int.from_bytes(data[24:27], "little"), 1 + int.from_bytes(data[27:30], "little"))
    if kind == b"VP8L":
        bits = int.from_bytes(data[21:25], "little")
        return _positive(1 + (bits & 0x3FFF), 1 + ((bits >> 14) & 0x3FFF))
    if kind == b"VP8 ":
        width, height = (int.from_bytes(data[i : i + 2], "little") & 0x3FFF for i in (26, 28))
        return _positive(width, height)
    return None
