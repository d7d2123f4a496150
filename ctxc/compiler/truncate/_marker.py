"""How a cut is marked. Every mark that truncation leaves in a text or a value is made here and nowhere else."""

from __future__ import annotations

GAP = "[…]"
"""Stands where sentences were left out in the middle; a mark with the number follows at the end."""

KEY = "_truncated"
"""In a cut JSON value: ``{"_truncated": n}`` as the last item of a list, ``"_truncated": n`` as the last key of an
object; n items or keys were left out."""


def tokens_cut(tokens: int) -> str:
    """The mark of a cut text: how many tokens were left out."""
    return f"[… {tokens} tokens cut …]"


def more(characters: int) -> str:
    """The end of a cut string inside a JSON value: how many code points were left out."""
    return f"… [{characters} more]"


def joined(head: str, mark: str, tail: str) -> str:
    """Two kept ends with a mark on a line of its own between them; an end may be empty."""
    before = "" if not head or head.endswith(("\n", "\r")) else "\n"
    after = "" if not tail or tail.startswith(("\n", "\r")) else "\n"
    return f"{head}{before}{mark}{after}{tail}"
