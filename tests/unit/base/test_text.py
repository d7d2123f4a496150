"""Grapheme boundaries, against an enumeration of all clusters."""

from __future__ import annotations

import random
import subprocess
import sys
import time

import pytest
import regex

from ctxc.base.errors import UnreadableSource
from ctxc.base.text import is_boundary, snap_down, snap_up, utf8

FAMILY = "👨\u200d👩\u200d👧\u200d👦"


@pytest.mark.parametrize(
    ("text", "at", "down", "up"),
    [
        ("", 0, 0, 0),
        ("abc", 1, 1, 1),
        ("abc", -5, 0, 0),
        ("abc", 99, 3, 3),
        ("a\r\nb", 2, 1, 3),
        ("a\n\rb", 2, 2, 2),
        ("ae\u0301b", 2, 1, 3),
        ("\u0301\u0301", 1, 0, 2),
        (f"x{FAMILY}y", 4, 1, 8),
        ("🇨🇭🇩🇪", 1, 0, 2),
        ("🇨🇭🇩🇪", 2, 2, 2),
        ("🇨🇭🇩🇪", 3, 2, 4),
        ("👋🏽!", 1, 0, 2),
        ("각", 1, 1, 1),
        ("\u1100\u1161\u11a8x", 2, 0, 3),
        ("क्षि", 1, 0, 4),
        ("中文", 1, 1, 1),
        ("☺\ufe0f.", 1, 0, 2),
    ],
)
def test_snapping(text: str, at: int, down: int, up: int) -> None:
    assert (snap_down(text, at), snap_up(text, at)) == (down, up)
    assert is_boundary(text, at) == (down == up)


def test_every_position_of_random_texts() -> None:
    parts = [
        *"ab \r\n",
        "\r\n",
        "é",
        "e\u0301",
        "\u0301",
        "🇨",
        "🇭",
        FAMILY,
        "👩",
        "\u200d",
        "🏽",
        "가",
        "\u1100",
        "\u1161",
    ]
    parts += [
        "\u11a8",
        "\u0600",
        "中",
        "क",
        "\u094d",
        "ि",
        "ก",
        "ำ",
        "\ufe0f",
        "☺",
        "\U000e0067",
        "\u0903",
        "\x00",
        "\ufeff",
    ]
    rnd = random.Random(5)
    for _ in range(4_000):
        text = "".join(rnd.choice(parts) for _ in range(rnd.randint(0, 12)))
        boundaries = [0, *(match.end() for match in regex.finditer(r"\X", text))]
        for at in range(len(text) + 1):
            assert snap_down(text, at) == max(b for b in boundaries if b <= at), ascii(text)
            assert snap_up(text, at) == min(b for b in boundaries if b >= at), ascii(text)
            assert is_boundary(text, at) == (at in boundaries), ascii(text)


def test_one_cluster_of_many_characters_is_not_slow() -> None:
    start = time.process_time()
    text = "a" + "\u0301" * 300_000 + "b"
    assert (snap_down(text, 150_000), snap_up(text, 150_000)) == (0, 300_001)
    flags = "🇨" * 300_000
    assert (snap_down(flags, 150_001), snap_up(flags, 150_001)) == (150_000, 150_002)
    assert time.process_time() - start < 5  # by steps of one it would take hours


def test_a_cut_between_ascii_characters_needs_no_grapheme_library() -> None:
    code = (
        "import sys; from ctxc.base.text import snap_down; snap_down('a plain text', 5); print('regex' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "False\n"


def test_a_lone_surrogate_has_no_bytes() -> None:
    assert utf8("aé😀") == b"a\xc3\xa9\xf0\x9f\x98\x80"
    with pytest.raises(UnreadableSource, match=r"U\+DEAD \(its line 3, column 2\)"):
        utf8("a\nb\nc\udead")
