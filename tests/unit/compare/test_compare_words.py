"""Words of many scripts, and differences that a person reads without effort."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ctxc.compare.words import elided, is_space_apart, runs, similarity, words
from ctxc.model.change import Run


def told(base: str, head: str) -> str:
    marks = {"=": "{}", "-": "[-{}-]", "+": "{{+{}+}}", "~": "<{}>"}
    return "".join(marks[r.op].format(r.text) for r in runs(base, head))


@given(st.text())
def test_words_joined_are_the_text(text: str) -> None:
    assert "".join(words(text)) == text


@given(st.text(), st.text())
def test_both_sides_can_be_read_back_from_the_runs(base: str, head: str) -> None:
    found = runs(base, head)
    assert "".join(r.text for r in found if r.op in "=-") == base
    assert "".join(r.text for r in found if r.op in "=+") == head


@pytest.mark.parametrize(
    ("base", "head", "expected"),
    [
        ("Refund window is 30 days.", "Refund window is 90 days.", "Refund window is [-30-]{+90+} days."),
        ("Never say so.", "Always say so.", "[-Never-]{+Always+} say so."),
        ("退款期限为三十天。", "退款期限为九十天。", "退款期限为[-三-]{+九+}十天。"),
        ("在庫は三個です", "在庫は五個です", "在庫は[-三-]{+五+}個です"),
        (
            "a limit of 1,000.50 here now",
            "a limit of 1,000.51 here now",
            "a limit of [-1,000.50-]{+1,000.51+} here now",
        ),
        ("use foo_bar in it", "use foo_baz in it", "use [-foo_bar-]{+foo_baz+} in it"),
        ("we don't know that yet", "we do know that yet", "we [-don't-]{+do+} know that yet"),
        ("on 2026-11-01 at noon", "on 2026-11-02 at noon", "on [-2026-11-01-]{+2026-11-02+} at noon"),
        ("one two", "one two three", "one two{+ three+}"),
        ("a b c", "x y z", "[-a b c-]{+x y z+}"),
        ("keep may never that", "keep must always that", "keep [-may never-]{+must always+} that"),
        ("", "new", "{+new+}"),
        ("old", "", "[-old-]"),
        ("Größe und Maß", "Größe und Maße", "Größe und [-Maß-]{+Maße+}"),
    ],
)
def test_differences_by_word(base: str, head: str, expected: str) -> None:
    assert told(base, head) == expected


def test_no_cluster_is_split() -> None:
    for text in ("e\u0301te\u0301", "👩\u200d👩\u200d👧 family", "ไทยภาษา", "नमस्ते"):
        for word in words(text):
            assert word[0] not in "\u0301\u200d" and not word.endswith("\u200d")
    assert told("👩\u200d👧 sees it here", "👩\u200d👦 sees it here") == "[-👩\u200d👧-]{+👩\u200d👦+} sees it here"


def test_white_space_alone() -> None:
    assert is_space_apart("a b\n", "a  b")
    assert not is_space_apart("a b", "a b")
    assert not is_space_apart("a b", "a c")


def test_similarity_is_a_share_of_words() -> None:
    assert similarity("one two three", "one two three") == 1
    assert similarity("one two three", "four five six") == 0
    assert 0.5 < similarity("one two three four", "one two three five") < 1
    assert similarity("", "") == 0


def test_long_equal_texts_keep_their_edges() -> None:
    text = "x" * 1_000
    found = elided([Run(op="=", text=text), Run(op="-", text="a"), Run(op="=", text=text), Run(op="+", text="b")])
    assert [(r.op, r.text if r.op != "=" else len(r.text)) for r in found] == [
        ("~", "940"), ("=", 60), ("-", "a"), ("=", 60), ("~", "880"), ("=", 60), ("+", "b"),
    ]  # fmt: skip
    short = (Run(op="=", text="short"),)
    assert elided(short) == short


def test_texts_beyond_all_measure_are_told_one_after_the_other() -> None:
    base, head = "a " * 30_000, "b " * 30_000
    assert [r.op for r in runs(base, head)] == ["-", "+"]
