from __future__ import annotations

import json
import unicodedata

import pytest
import regex

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
    for code in range(0x110000):
        char = chr(code)
        literal = json_string_escape(char)
        assert json.loads(literal) == char
        inner = unicodedata.normalize("NFKC", literal)[1:-1]
        assert not set(inner) & set("<>&"), hex(code)
        if char not in '"\\':
            assert '"' not in inner.replace('\\"', ""), hex(code)


def test_default_ignorable_set_is_the_one_of_unicode() -> None:
    known = regex.compile(r"\p{Default_Ignorable_Code_Point}")
    ours = regex.compile(f"[{DEFAULT_IGNORABLE}]")
    # 180F was added in Unicode 14; FFF0 to FFF8 and the unassigned part of plane 14 are reserved as ignorable.
    differing = [hex(c) for c in range(0x110000) if bool(known.match(chr(c))) != bool(ours.match(chr(c)))]
    assert [d for d in differing if int(d, 16) not in range(0xD800, 0xE000)] == []


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
