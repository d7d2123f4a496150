"""Edits with their lines: repeated ones once, moved ones as moved, each with the lines around it."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from ctxc.compare.hunks import Text, text_hunks
from ctxc.compare.lines import LineMap
from ctxc.model.change import Hunk


def text(value: str, *, path: str = "p.md", first: int = 1) -> Text:
    return Text(text=value, places=LineMap(path=path, lines=range(first, first + value.count("\n") + 1)))


def told(base: str, head: str, context: int = 0) -> tuple[Hunk, ...]:
    return text_hunks(text(base), text(head), context)


def facts(hunks: tuple[Hunk, ...]) -> list[tuple[str, int | None, int | None]]:
    return [(h.kind, h.base_line, h.head_line) for h in hunks]


def test_lines_and_kinds() -> None:
    assert facts(told("a\nb\nc", "a\nB b\nc\nd")) == [("edit", 2, 2), ("added", None, 4)]
    assert facts(told("a\nb\nc", "a\nc")) == [("removed", 2, None)]
    assert facts(told("", "a\nb")) == [("added", None, 1)]
    assert told("same", "same") == ()


def test_lines_that_are_versions_of_each_other_are_told_one_by_one() -> None:
    base = "first alpha beta gamma\nsecond alpha beta gamma\nthird alpha beta gamma"
    head = base.replace("alpha", "ALPHA").replace("third", "last")
    found = told(base, head)
    # The first two are one and the same edit; the third has another one beside it.
    assert facts(found) == [("edit", 1, 1), ("edit", 3, 3)]
    assert (found[0].count, found[0].also) == (2, (2,))


def test_the_same_line_removed_again_and_again_is_told_once() -> None:
    base = "\n".join(f"rule {n}\nDELETE ME PLEASE\nend {n}" for n in range(5))
    found = told(base, base.replace("DELETE ME PLEASE\n", ""))
    assert [(h.kind, h.count, h.base_line, h.also) for h in found] == [("removed", 5, 2, (5, 8, 11, 14))]


def test_a_paragraph_that_stands_elsewhere_has_moved() -> None:
    paragraph = "This paragraph is long enough to be the same one, wherever it stands."
    found = told(f"{paragraph}\na\nb\nc\nd", f"a\nb\nc\nd\n{paragraph}")
    assert [(h.kind, h.base_line, h.head_line, h.runs[0].text) for h in found] == [("moved", 1, 5, paragraph)]


def test_context_is_taken_from_head() -> None:
    (hunk,) = told("1\n2\n3 old word\n4\n5", "1\n2\n3 new word\n4\n5", context=1)
    assert (hunk.before, hunk.after) == (("2",), ("4",))
    (gone,) = told("1\n2\n3\n4", "1\n2\n4", context=5)
    assert (gone.before, gone.after) == (("1", "2"), ("4",))


def test_no_changed_line_is_shown_as_an_equal_one_and_none_twice() -> None:
    first, second = told("1 old\n2\n3 old\n4\n5", "1 new a\n2\n3 new b\n4\n5", context=2)
    assert (first.before, first.after) == ((), ("2",))
    assert (second.before, second.after) == ((), ("4", "5"))
    edit, gone = told("1 old\n2\n3\n4\n5", "1 new\n2\n3\n5", context=3)
    assert (edit.after, gone.before, gone.after) == (("2", "3"), (), ("5",))


def test_white_space_is_marked() -> None:
    assert [h.whitespace for h in told("a b\nc", "a  b\nc")] == [True]
    assert [h.whitespace for h in told("a\nc", "a\n\nc")] == [True]
    assert [h.whitespace for h in told("a\nc", "a\nb\nc")] == [False]


def test_two_files_are_both_named() -> None:
    (hunk,) = text_hunks(text("x one", path="old.md", first=7), text("x two", path="new.md"), 0)
    assert (hunk.path, hunk.base_path, hunk.base_line, hunk.head_line) == ("new.md", "old.md", 7, 1)


lines = st.lists(st.sampled_from(["a", "b b", "c c c", "", "same words here"]), max_size=8).map("\n".join)


@given(lines, lines)
def test_no_edit_is_lost(base: str, head: str) -> None:
    found = told(base, head)
    assert bool(found) == (base != head)
    for hunk in found:
        assert hunk.count >= 1 and hunk.runs
        assert hunk.base_line is not None or hunk.head_line is not None
    around = told(base, head, context=3)
    assert [replace(h, before=(), after=()) for h in around] == list(found)
    equal = Counter(base.split("\n")) & Counter(head.split("\n"))
    assert not Counter(line for h in around for line in (*h.before, *h.after)) - equal
