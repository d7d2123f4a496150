"""Tokens of images: the published examples, sizes read from headers, and what is said where nothing is known."""

from __future__ import annotations

import base64
import json
import struct
import zlib
from pathlib import Path
from typing import Any

import pytest

from ctxc.providers import image_tokens, shape
from ctxc.providers._images import anthropic_size, image_size, openai_patches, openai_tiles


def png(width: int, height: int) -> bytes:
    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    return (
        b"\x89PNG\r\n\x1a\n"
        + struct.pack(">I", 13)
        + b"IHDR"
        + header
        + struct.pack(">I", zlib.crc32(b"IHDR" + header))
    )


def jpeg(width: int, height: int) -> bytes:
    start = b"\xff\xd8\xff\xe0" + struct.pack(">H", 16) + b"JFIF\x00" + bytes(9)
    return start + b"\xff\xc0" + struct.pack(">HBHH", 17, 8, height, width) + bytes(10)


def test_published_anthropic_rows(shared: Path) -> None:
    rows = json.loads((shared / "goldens" / "anthropic_docs_images.json").read_text(encoding="utf-8"))["rows"]
    assert len(rows) == 13
    for row in rows:
        size = anthropic_size(row["width"], row["height"], row["max_edge"], row["max_tokens"])
        tokens = -(-size[0] // 28) * -(-size[1] // 28)
        if "expected_tokens" in row:
            assert tokens == row["expected_tokens"], row
        if row["resized"] and (row["width"], row["height"]) != (2000, 1500):  # printed 1269, their own code gives 1270
            assert list(size) == row["resized"], row
    assert anthropic_size(2000, 1500, 1568, 1568) == (1270, 952)


def test_published_openai_rows(shared: Path, get_profile: Any, get_row: Any) -> None:
    data = json.loads((shared / "goldens" / "openai_docs_images.json").read_text(encoding="utf-8"))
    for row in data["rows"]:
        patches, size = openai_patches(row["width"], row["height"], row["patch_budget"])
        assert patches == row["expected_patches"]
        if "expected_resized" in row:
            assert list(size) == row["expected_resized"]
            assert openai_patches(row["width"], row["height"], 0)[0] == row["expected_original_patches"]
    profile = get_profile("openai")
    for model, factor in data["multipliers"].items():
        assert get_row(profile, model).images["multiplier_bp"] == round(factor * 10_000), model
    for model, (base, tile) in (
        ("gpt-5", (70, 140)),
        ("gpt-4o", (85, 170)),
        ("gpt-4o-mini", (2833, 5667)),
        ("o1", (75, 150)),
    ):
        images = get_row(profile, model).images
        assert (images["base"], images["tile"]) == (base, tile), model


@pytest.mark.parametrize(
    ("size", "tiles"), [((1024, 1024), 4), ((2048, 4096), 6), ((100, 100), 1), ((512, 512), 1), ((4096, 512), 4)]
)
def test_tiles(size: tuple[int, int], tiles: int) -> None:
    assert openai_tiles(*size) == tiles


def test_low_detail_costs_the_base(get_profile: Any, get_row: Any) -> None:
    row = get_row(get_profile("openai"), "gpt-4o")
    assert image_tokens(row, 4000, 4000, "low") == 85
    assert image_tokens(row, 1024, 1024, "high") == 765


def test_gemini_tiles(get_profile: Any, get_row: Any) -> None:
    row = get_row(get_profile("gemini"), "gemini-2.5-flash")
    assert [image_tokens(row, *s) for s in ((384, 384), (385, 300), (1536, 769))] == [258, 258, 1032]


@pytest.mark.parametrize(
    "data",
    [
        png(640, 480),
        jpeg(640, 480),
        b"GIF89a" + struct.pack("<HH", 640, 480),
        b"RIFF\x00\x00\x00\x00WEBPVP8X" + bytes(8) + (639).to_bytes(3, "little") + (479).to_bytes(3, "little"),
        b"RIFF\x00\x00\x00\x00WEBPVP8L" + bytes(4) + b"\x2f" + (639 | 479 << 14).to_bytes(4, "little") + bytes(8),
        b"RIFF\x00\x00\x00\x00WEBPVP8 " + bytes(10) + struct.pack("<HH", 640, 480),
    ],
)
def test_sizes_from_headers(data: bytes) -> None:
    assert image_size(data) == (640, 480)


@pytest.mark.parametrize(
    "data", [b"", b"\xff\xd8", b"\xff\xd8\xff\xc0", b"\x89PNG\r\n\x1a\n", png(0, 4), b"RIFFxxxxWEBP"]
)
def test_damaged_headers_have_no_size(data: bytes) -> None:
    assert image_size(data) is None


def _request(url: str) -> dict[str, Any]:
    part = {"type": "image_url", "image_url": {"url": url, "detail": "high"}}
    return {"model": "gpt-4o", "messages": [{"role": "user", "content": [part]}]}


def test_an_image_in_a_request_is_counted(get_profile: Any, get_row: Any, words: Any) -> None:
    row = get_row(get_profile("openai"), "gpt-4o")
    url = "data:image/png;base64," + base64.b64encode(png(1024, 1024)).decode()
    count = shape("openai_chat").count(_request(url), words, row)
    assert {p.pointer: p.tokens for p in count.parts}["/messages/0/content/0"] == 765
    assert count.method == "reproduced"


def test_an_image_elsewhere_is_assumed_large_and_said_so(get_profile: Any, get_row: Any, words: Any) -> None:
    row = get_row(get_profile("openai"), "gpt-4o")
    count = shape("openai_chat").count(_request("https://example.org/a.png"), words, row)
    assert {p.pointer: p.tokens for p in count.parts}["/messages/0/content/0"] == 765
    assert count.method == "heuristic"
    assert count.notes == ("an image of unknown size is counted as a large one: /messages/0/content/0",)


def test_anthropic_and_bedrock_images(get_profile: Any, get_row: Any, words: Any) -> None:
    data = png(1920, 1080)
    source = {"type": "base64", "media_type": "image/png", "data": base64.b64encode(data).decode()}
    request = {"messages": [{"role": "user", "content": [{"type": "image", "source": source}]}]}
    for model, tokens in (("claude-sonnet-4-5", 1560), ("claude-opus-5", 2691)):
        row = get_row(get_profile("anthropic"), model)
        count = shape("anthropic_messages").count(request, words, row)
        assert {p.pointer: p.tokens for p in count.parts}["/messages/0/content/0"] == tokens
    request = {"messages": [{"role": "user", "content": [{"image": {"format": "png", "source": {"bytes": data}}}]}]}
    row = get_row(get_profile("bedrock"), "anthropic.claude-opus-5")
    count = shape("bedrock_converse").count(request, words, row)
    assert {p.pointer: p.tokens for p in count.parts}["/messages/0/content/0"] == 2691
