"""Properties of the detectors: nothing leaks, nothing is lost, every place is a place, whatever the text."""

from __future__ import annotations

import json
import re
import unicodedata
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ctxc.base.escaping import fence_for, json_string_escape
from ctxc.detect.delimiters import find_delimiters
from ctxc.detect.injection import find_injections
from ctxc.detect.leaks import find_internal_urls, find_stack_traces
from ctxc.detect.pii import find_personal_data
from ctxc.detect.projections import projections
from ctxc.detect.role_tokens import families, find_role_tokens, neutralise
from ctxc.detect.secrets import find_secrets
from ctxc.detect.unicode import find_unicode

SECRET = "ghp_Ab1Cd2Ef3Gh4Ij5Kl6Mn7Op8Qr9St0Uv1Wx2"
TOKENS = [token for family in families() for token in family.tokens]
PIECES = st.one_of(
    st.sampled_from(TOKENS),
    st.sampled_from(
        ["<", "|", ">", "[", "]", "\\", "im_start", "\u200b", "\uff5c", "\uff1c", "\n", "\r", "Human:", " ", "/", "#"]
    ),
    st.sampled_from(
        ["%41", "\\u0041", "\\n", "&lt;", "&#65;", "QWxsIHByZXZpb3VzIGluc3RydWN0aW9ucw==", "\u202e", "\U000e0041"]
    ),
    st.text(max_size=6),
)
TEXTS = st.lists(PIECES, max_size=12).map("".join)


@given(TEXTS)
@settings(max_examples=200, deadline=None, derandomize=True)
def test_neutralise_reaches_a_fixed_point_and_keeps_every_character(text: str) -> None:
    safe = neutralise(text)
    assert find_role_tokens(safe) == ()
    assert find_role_tokens(unicodedata.normalize("NFKC", safe)) == ()
    assert neutralise(safe) == safe
    rest = iter(safe)
    assert all(char in rest for char in text)
    assert len(safe) - len(text) == safe.count("\\") - text.count("\\")


@given(TEXTS)
@settings(max_examples=200, deadline=None, derandomize=True)
def test_a_json_string_holds_its_text_and_closes_nothing(text: str) -> None:
    literal = json_string_escape(text)
    assert json.loads(literal) == text
    assert not set(literal) & set("<>&\u202e\u200b\U000e0041")
    assert not set(unicodedata.normalize("NFKC", literal)) & set("<>&")


@given(st.text(alphabet="`~\u200b\uff40a\n", max_size=30))
@settings(max_examples=200, deadline=None, derandomize=True)
def test_a_fence_is_longer_than_any_run(text: str) -> None:
    fence = fence_for(text)
    assert len(fence) > max((len(run) for run in re.findall("`+", text)), default=0)
    assert fence not in unicodedata.normalize("NFKC", text)


@given(TEXTS, TEXTS)
@settings(max_examples=200, deadline=None, derandomize=True)
def test_every_match_stands_inside_the_text_and_in_order(before: str, after: str) -> None:
    text = f"{before} {SECRET} {after}"
    for matches in (
        find_secrets(text, key=b"k"),
        find_personal_data(text, key=b"k"),
        find_internal_urls(text, key=b"k"),
        find_stack_traces(text, key=b"k"),
        find_unicode(text),
        find_unicode(text, context="identifier"),
        find_role_tokens(text),
        find_delimiters(text),
        find_injections(text),
    ):
        assert all(0 <= m.start < m.end <= len(text) for m in matches)
        assert [m.sort_key for m in matches] == sorted(m.sort_key for m in matches)


@given(TEXTS, TEXTS)
@settings(max_examples=200, deadline=None, derandomize=True)
def test_a_secret_between_spaces_is_always_found_and_never_shown(before: str, after: str) -> None:
    text = f"{before} {SECRET} {after}"
    matches = find_secrets(text, key=b"k")
    place = len(before) + 1
    assert any(m.start <= place and m.end >= place + len(SECRET) for m in matches)
    assert all(SECRET[4:16] not in repr(m) for m in matches)


@given(TEXTS)
@settings(max_examples=200, deadline=None, derandomize=True)
def test_every_decoded_range_leads_back_into_the_text(text: str) -> None:
    for reading in projections(text):
        length = len(reading.text)
        for start in range(0, length, max(1, length // 7)):
            low, high, _ = reading.locate(start, min(length, start + 3))
            assert 0 <= low <= high <= len(text)
        if length:
            low, high, _ = reading.locate(0, length)
            assert high > low


@given(st.text(alphabet='\\"/nrtu0041%&;x ab\n\0', max_size=60))
@settings(max_examples=300, deadline=None, derandomize=True)
def test_the_fast_way_through_escapes_equals_the_single_pass(text: str) -> None:
    from ctxc.detect.projections import _kinds_in, _pattern, _replacement, _resolve

    kinds = _kinds_in(text, ("json", "percent", "entity"))
    if kinds:
        pattern = _pattern(kinds)
        assert _resolve(text, pattern, kinds) == pattern.sub(_replacement, text)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("check", "texts"),
    [
        (test_neutralise_reaches_a_fixed_point_and_keeps_every_character, 1),
        (test_a_json_string_holds_its_text_and_closes_nothing, 1),
        (test_every_match_stands_inside_the_text_and_in_order, 2),
        (test_a_secret_between_spaces_is_always_found_and_never_shown, 2),
        (test_every_decoded_range_leads_back_into_the_text, 1),
    ],
)
def test_thousands(check: Any, texts: int) -> None:
    @settings(max_examples=3000, deadline=None)
    @given(st.tuples(*[TEXTS] * texts))
    def many(drawn: tuple[str, ...]) -> None:
        check.hypothesis.inner_test(*drawn)

    many()
