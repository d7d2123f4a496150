"""Blocks joined by blank lines: the tokens of the whole are the sum of the tokens of the blocks."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ctxc import tokens
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
