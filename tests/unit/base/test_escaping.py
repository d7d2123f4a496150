from __future__ import annotations

import json
import unicodedata

import pytest
import regex
from hostile import HOSTILE, is_hidden

from ctxc.base import escaping
from ctxc.base.escaping import DEFAULT_IGNORABLE, fence_for, json_string_escape, visible, without_ignorables


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("plain", '"plain"'),
        ("</x> & y", '"\\u003c/x\\u003e \\u0026 y"'),
        ('say "hi"\\', '"say \\"hi\\"\\\\"'),
        ("a\u202eb\U000e0041", '"a\\u202eb\\udb40\\udc41"'),
        ("\x7f\x85\u2028\ud800", '"\\u007f\\u0085\\u2028\\ud800"'),
        ("\uff1cb\uff1e\ufe64\uff02\uff3c", '"\\uff1cb\\uff1e\\ufe64\\uff02\\uff3c"'),
        ("你好 café", '"你好 café"'),
    ],
)
def test_json_string_escape(text: str, expected: str) -> None:
    assert json_string_escape(text) == expected
    assert json.loads(expected) == text


def test_every_code_point_decodes_back_and_none_reads_as_a_delimiter() -> None:
    # NUL, whose escape ends in a digit and composes with nothing, keeps the code points of a block apart.
    for first in range(0, 0x110000, 0x1000):
        chars = [chr(code) for code in range(first, first + 0x1000)]
        text = "\0".join(chars)
        literal = json_string_escape(text)
        assert json.loads(literal) == text, hex(first)
        inner = unicodedata.normalize("NFKC", literal)[1:-1]
        assert not set(inner) & set("<>&"), hex(first)
        bare = inner.replace("\\\\", "").replace('\\"', "")
        assert '"' not in bare, hex(first)
        assert bare.count("\\u0000") == len(chars) - 1 + ("\0" in chars), hex(first)


def test_default_ignorable_set_is_the_one_of_unicode() -> None:
    known = regex.compile(r"\p{Default_Ignorable_Code_Point}")
    ours = regex.compile(f"[{DEFAULT_IGNORABLE}]")
    # 180F was added in Unicode 14; FFF0 to FFF8 and the unassigned part of plane 14 are reserved as ignorable.
    every = "".join(map(chr, range(0x110000)))
    differing = set(known.findall(every)) ^ set(ours.findall(every))
    assert sorted(hex(ord(c)) for c in differing if not 0xD800 <= ord(c) < 0xE000) == []


@pytest.mark.parametrize(
    ("text", "fence"),
    [("", "```"), ("a `b` c", "```"), ("```py\n```", "````"), ("`````", "``````"), ("``\u200b``", "`````")],
)
def test_fence_is_longer_than_any_run(text: str, fence: str) -> None:
    assert fence_for(text) == fence


def test_fence_counts_compatibility_forms() -> None:
    assert fence_for("\uff40\uff40\uff40\uff40") == "`````"
    assert fence_for("~~~~", "~") == "~~~~~"


def test_visible_and_without_ignorables() -> None:
    assert visible("a\tb\n\\\x1b[1m\u200b\U000e0041\ue000") == "a\\tb\\n\\\\\\u{1b}[1m\\u{200b}\\u{e0041}\\u{e000}"
    assert visible("abcdef", limit=4) == "abc…"
    assert without_ignorables("ig\u200bno\u00adre") == "ignore"


@pytest.mark.parametrize("text", [*HOSTILE, "\x9b31m\x7f", "\U000e0041\u2066x\u2069", "\u00ad\ufe0f", "ä 世 👍"])
def test_inert_json_is_the_same_value_and_shows_everything(text: str) -> None:
    written = json.dumps({text: [text, 1]}, ensure_ascii=False)
    inert = escaping.inert_json(written)
    assert json.loads(inert) == {text: [text, 1]}
    assert [c for c in inert if is_hidden(c)] == []
    inert.encode("utf-8")


def test_inert_json_leaves_what_people_read_as_it_is() -> None:
    written = '{"a":"Grüße, 世界 👍 <b> & \\u202e \\n"}'
    assert escaping.inert_json(written) is written
    assert escaping.inert_json('{"a":"b"}') == '{"a":"b"}'
    assert escaping.inert_json('"a\u202eb\U000e0041"') == '"a\\u202eb\\udb40\\udc41"'
