"""Truncation: seven strategies, one file each. Each marks its cut, is counted again, and never splits a grapheme.

A result is never over its limit; where not even the mark fits, it says so and holds no text.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence

from ctxc.base import registry
from ctxc.base.errors import UsageError
from ctxc.compiler.truncate import json as _json
from ctxc.compiler.truncate import role as _role
from ctxc.compiler.truncate._result import Cut, MessageUnit
from ctxc.model.counting import Tokenizer
from ctxc.model.section import Message, Strategy

__all__ = [
    "KEEP_KEYS",
    "Cut",
    "MessageUnit",
    "group_messages",
    "truncate_json",
    "truncate_text",
]

KEEP_KEYS = _json.KEEP_KEYS


def truncate_text(
    text: str, limit: int, strategy: Strategy | str, tokenizer: Tokenizer, *, keep: Sequence[str] = ()
) -> Cut:
    """Cut a text to at most ``limit`` tokens of the tokenizer, mark included.

    ``keep``: for ``evidence`` the spans, ids and numbers to be supported, for ``json`` further field names; the other
    strategies do not read it. Raises UsageError for ``role`` (a text has no roles) and for an unknown strategy.
    """
    try:
        chosen = Strategy(strategy)
    except ValueError:
        known = ", ".join(known.value for known in Strategy)
        raise UsageError(f"there is no truncation strategy {str(strategy)!r}", help=f"known: {known}") from None
    if chosen is Strategy.ROLE:
        raise UsageError(
            "the strategy role cuts a list of messages, and this is a text",
            help="use tail, head, middle, lines, json or evidence",
        )
    result: Cut = registry.load(__name__, chosen.value).cut(text, limit, tokenizer, keep)
    return result


def truncate_json(
    value: object,
    limit: int,
    tokenizer: Tokenizer,
    *,
    keep_keys: Collection[str] = KEEP_KEYS,
    render: Callable[[object], str] | None = None,
) -> Cut:
    """Cut a value that JSON can hold so that its text has at most ``limit`` tokens; it stays valid JSON.

    The text is compact JSON with keys in the value's order; with ``render``, what that makes of the (cut) value. Raises
    UnreadableSource for what JSON cannot hold.
    """
    return _json.cut_value(value, limit, tokenizer, keep_keys, render)


def group_messages(messages: Sequence[Message]) -> tuple[MessageUnit, ...]:
    """The units of a history that stay or leave as a whole, oldest first."""
    return _role.group(messages)
