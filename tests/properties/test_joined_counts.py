"""Blocks joined by blank lines: the tokens of the whole are the sum of the tokens of the blocks."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ctxc import tokens
from ctxc.compiler.wrappers import JOINER, wrapper, wrapper_ids
from ctxc.tokens.bytepair import _apart

WORDS = [
    "word",
    "30",
    " ",
    "\n",
    "\r\n",
    "\t",
    "/",
    "]",
    "]\n",
    "[/X]",
    ">",
    "</x>",
    "上下文",
    "'s",
    "é",
    "👨‍👩‍👧",
    "\u2028",
]
body = st.lists(st.sampled_from(WORDS), max_size=80).map("".join)
sections = st.lists(st.sampled_from([*WORDS, "\n" * 40, "/" * 40, " " * 60]), max_size=40).map("".join)
block = st.tuples(st.sampled_from(["[X | trusted | id]", "<x>", "[", "<"]), body).map("".join)


@pytest.mark.parametrize("name", ["o200k_base", "cl100k_base"])
@settings(max_examples=300, deadline=None, derandomize=True)
@given(st.lists(block, min_size=2, max_size=6))
def test_the_whole_is_the_sum_of_its_blocks(name: str, blocks: list[str]) -> None:
    text = "\n\n".join(blocks)
    tokenizer = tokens.get(name)
    assert "".join(_apart(text)) == text
    whole = len(tokenizer.encode(text))  # type: ignore[attr-defined]
    assert tokenizer.count(text) == whole
    assert tokenizer.count_many([text, "x", text]) == [whole, 1, whole]


@pytest.mark.parametrize("name", ["o200k_base", "cl100k_base"])
@settings(max_examples=300, deadline=None, derandomize=True)
@given(
    body,
    st.sampled_from(["TASK", "end", "Z", "a", "ß", "中", "9", "'", ".", "s"]),
    st.sampled_from(["]", ">", "]>", "]\n", ""]),
)
def test_a_block_that_nothing_follows(name: str, text: str, letters: str, end: str) -> None:
    text = "a word " * 30 + text + letters + end
    tokenizer = tokens.get(name)
    alone, followed = (len(tokenizer.encode(t)) for t in (text, text + "\n\n"))  # type: ignore[attr-defined]
    assert tokenizer.count(text) == alone
    assert tokenizer.count_many([text + "\n\n", text, "]"]) == [followed, alone, 1]


@pytest.mark.parametrize("name", ["o200k_base", "cl100k_base"])
@pytest.mark.parametrize("form", wrapper_ids())
@settings(max_examples=300, deadline=None, derandomize=True)
@given(sections)
def test_a_block_counts_at_least_as_much_as_the_text_in_it(form: str, name: str, text: str) -> None:
    made, tokenizer = wrapper(form), tokens.get(name)
    text = text.rstrip("\n")
    whole = "\n".join((made.open("fragment", "trusted", (("id", '"a"'),)), text, made.close("fragment")))
    assert tokenizer.count(text) <= tokenizer.count(whole) <= tokenizer.count(whole + JOINER)
