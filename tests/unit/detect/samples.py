"""Random texts that a regular expression matches, for tests: enough of the syntax for the secret rules."""

from __future__ import annotations

import random
import re._constants as op
import re._parser as parser
import string

PRINTABLE = string.ascii_letters + string.digits + string.punctuation + " "


def sample(pattern: str, rng: random.Random) -> tuple[str, dict[int, str]]:
    """A text that the pattern matches, and what its groups hold. Anchors and boundaries add nothing."""
    groups: dict[int, str] = {}
    text = _several(parser.parse(pattern), rng, groups)
    return text, groups


def _several(parsed: parser.SubPattern, rng: random.Random, groups: dict[int, str]) -> str:
    return "".join(_one(code, value, rng, groups) for code, value in parsed)


def _one(code: object, value: object, rng: random.Random, groups: dict[int, str]) -> str:
    match code, value:
        case op.LITERAL, int(char):
            return chr(char)
        case op.NOT_LITERAL, int(char):
            return rng.choice([c for c in PRINTABLE if ord(c) != char])
        case op.ANY, _:
            return rng.choice(PRINTABLE)
        case op.IN, list(items):
            return rng.choice(_members(items))
        case op.BRANCH, (_, list(branches)):
            return _several(rng.choice(branches), rng, groups)
        case ((op.MAX_REPEAT | op.MIN_REPEAT), (int(low), high, body)):
            top = min(int(high), low + 24)
            return "".join(_several(body, rng, groups) for _ in range(rng.randint(low, top)))
        case op.SUBPATTERN, (group, _, _, body):
            text = _several(body, rng, groups)
            if group is not None:
                groups[group] = text
            return text
        case op.AT, _:
            return ""
    raise NotImplementedError(f"{code} {value}")


def _members(items: list[tuple[object, object]]) -> str:
    chars: set[str] = set()
    negated = False
    for code, value in items:
        match code, value:
            case op.NEGATE, _:
                negated = True
            case op.LITERAL, int(char):
                chars.add(chr(char))
            case op.RANGE, (int(low), int(high)):
                chars.update(chr(c) for c in range(low, high + 1))
            case op.CATEGORY, op.CATEGORY_DIGIT:
                chars.update(string.digits)
            case op.CATEGORY, op.CATEGORY_SPACE:
                chars.update(" \t")
            case op.CATEGORY, op.CATEGORY_WORD:
                chars.update(string.ascii_letters + string.digits + "_")
            case _:
                raise NotImplementedError(f"{code} {value}")
    return "".join(sorted(set(PRINTABLE) - chars if negated else chars))
