"""``tokenizer.json`` of Hugging Face, read and applied by the package ``tokenizers`` (an extra).

No token is added around a text, nothing is cut or padded whatever the file says, and the literal text of a special
token is ordinary text. Other added tokens of the file stand for themselves, as they do for the model.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from typing import Any

from ctxc.base.errors import MissingTokenizer
from ctxc.base.regex_cost import is_explosive
from ctxc.tokens.extras import TOKENIZERS

NAME = "tokenizer.json"
MAX_PATTERN = 4_096
"""Code points of a pattern; those of published vocabularies have at most some hundred."""


def recognises(data: bytes) -> bool:
    """Whether the bytes look like such a file."""
    return data[:64].lstrip()[:1] == b"{" and b'"added_tokens"' in data


def ready(subject: str) -> str:
    """Identity of the code that counts; raises MissingTokenizer where the package is not installed."""
    return f"tokenizers {TOKENIZERS.require(subject)}/1"


def counter(path: str, data: bytes, size: int) -> Callable[[str], int]:
    """Tokens of a text; raises MissingTokenizer for a file that cannot be used or has another size."""
    from tokenizers import Tokenizer

    check_patterns(path, _patterns(path, data))
    try:
        vocabulary = Tokenizer.from_buffer(data)
    except BaseException as error:
        raise _refused(path, error) from error
    check_size(path, vocabulary.get_vocab_size(with_added_tokens=False), size)
    vocabulary.no_truncation()
    vocabulary.no_padding()
    vocabulary.encode_special_tokens = True

    def count(text: str) -> int:
        try:
            return len(vocabulary.encode(text, add_special_tokens=False).ids)
        except BaseException as error:
            raise _refused(path, error) from error

    return count


def _refused(path: str, error: BaseException) -> BaseException:
    """What to raise: the library's own faults come as Exception, those of Rust as a BaseException without a name."""
    if isinstance(error, Exception) or type(error).__name__ == "PanicException":
        return MissingTokenizer(
            f"'{path}' cannot be used as a {NAME}: {str(error)[:200]}",
            help="fetch the file again from where the model is published",
        )
    return error


def _patterns(path: str, data: bytes) -> list[str]:
    """The patterns that the file has its texts split and replaced by, wherever in it they stand."""
    try:
        pending: list[Any] = [json.loads(data)]
    except (ValueError, RecursionError) as error:
        raise _refused(path, error) from error
    found: list[str] = []
    while pending:
        value = pending.pop()
        if isinstance(value, dict):
            pattern = value.get("Regex")
            if isinstance(pattern, str):
                found.append(pattern)
            # The vocabulary holds numbers and texts by the hundred thousand, and no pattern.
            pending += [v for k, v in value.items() if isinstance(v, (dict, list)) and k not in ("vocab", "merges")]
        elif isinstance(value, list):
            pending += [v for v in value if isinstance(v, (dict, list))]
    return found


def check_patterns(path: str, patterns: Iterable[str]) -> None:
    """Raises MissingTokenizer for a pattern that could take exponential time over a text, or is longer than any that a
    published vocabulary has: the engine that applies it steps back."""
    for pattern in patterns:
        if len(pattern) > MAX_PATTERN or is_explosive(pattern):
            why = "is too long" if len(pattern) > MAX_PATTERN else "could take exponential time over a text"
            shown = pattern if len(pattern) <= 60 else f"{pattern[:60]}..."
            raise MissingTokenizer(
                f"'{path}' is not used: its pattern {shown!r} {why}",
                help="fetch the file again from where the model is published; no model's own pattern is like that",
            )


def check_size(path: str, found: int, wanted: int) -> None:
    """Raises MissingTokenizer where a vocabulary does not have the tokens that the profile says it has."""
    if wanted and found != wanted:
        raise MissingTokenizer(
            f"'{path}' is another vocabulary: it has {found:,} tokens, and the one that is meant has {wanted:,}",
            help="name the file of that vocabulary in `tokenizers`, or describe this one in a provider profile",
        )
