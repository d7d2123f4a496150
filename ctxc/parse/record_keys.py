"""Keys that decide who may see a record, until when, and what it is worth: how they are spelt, and what they may hold.

One of them that is read as anything else would show the record to everybody.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Any

from ctxc.parse.context import File, child
from ctxc.parse.problems import edits, shown

SCORES = frozenset(
    (
        "relevance", "authority", "freshness", "scope_match", "confidence", "recency", "importance", "source_authority",
        "diversity_bonus", "redundancy_penalty", "conflict_penalty", "privacy_risk_penalty",
    )
)  # fmt: skip
_DECIDING = frozenset(
    (
        "tenant", "tenant_id", "permissions", "visibility", "ACL_ref", "acl_ref", "revoked", "supersedes",
        "valid_from", "valid_until", "expires_at", "expires", "verification", "trust_level",
    )
) | SCORES  # fmt: skip
WEIGHED = ("evidence", "memory")
"""Records that are chosen by their scores."""
# Other words for them, which nothing reads.
_SYNONYMS = {
    "acl": "acl_ref", "permissions_required": "permissions", "required_permissions": "permissions",
    "is_revoked": "revoked", "deleted": "revoked", "is_deleted": "revoked", "not_before": "valid_from",
    "not_after": "valid_until", "valid_to": "valid_until", "expiry": "valid_until", "expiration": "valid_until",
}  # fmt: skip
_WORDS = re.compile(r"(?<=[a-z])(?=[A-Z])|[-. ]")


def decides(key: str) -> bool:
    """Whether a key is one of them, and ``check_type`` has to look at its value."""
    return key in _DECIDING or key == "score"


def check_spelling(kind: str, key: str, value: Any, file: File, at: str) -> None:
    """Report another key of a record where it was most likely meant to be one of them."""
    meant = _meant(key)
    if meant and _could_decide(kind, meant, value):
        file.problem(
            "bad-record",
            f"{shown(key)} is no key of a record that decides anything; did you mean {shown(meant)}?",
            f"write `{meant}`, or give what it holds another name",
            at=child(at, key),
            key=True,
        )


@lru_cache(maxsize=1024)
def _meant(key: str) -> str:
    """The deciding key that an unknown one was most likely meant to be, in another case or misspelt; or nothing."""
    if not 2 < len(key) < 32:
        return ""
    plain = _WORDS.sub("_", key).lower()
    if plain in _DECIDING or plain in _SYNONYMS:
        return _SYNONYMS.get(plain, plain)
    near = [(edits(plain, k), k) for k in _DECIDING if abs(len(k) - len(plain)) < 3]
    return min([(n, k) for n, k in near if n <= (2 if len(k) > 7 else 1)], default=(0, ""))[1]


def _could_decide(kind: str, meant: str, value: Any) -> bool:
    """Whether a value could be one of the key that was meant; a number of deleted lines or a list of them is none."""
    if meant in SCORES:
        return kind in WEIGHED and is_number(value)
    return meant != "revoked" or value.__class__ is bool or value.__class__ is str


def check_type(key: str, value: Any, file: File, at: str) -> None:
    """Report a deciding key whose value says nothing that could decide."""
    if value is None:
        return
    scalar = value.__class__ is not dict and value.__class__ is not list
    if key == "revoked":
        good, wanted = value.__class__ is bool, "true or false"
    elif key in ("permissions", "supersedes"):
        listed = value if value.__class__ is list else [value]
        good, wanted = all(v.__class__ is not dict and v.__class__ is not list for v in listed), "a list of texts"
    elif key in SCORES or key == "score":
        good, wanted = is_number(value), "a number"
    else:
        good, wanted = scalar, "a text"
    if not good:
        file.problem(
            "bad-record", f"`{key}` is {shown(value)}, which is not {wanted}", f"write {wanted}", at=child(at, key)
        )


def is_number(value: Any) -> bool:
    """Whether a value is a number that a float holds."""
    return value.__class__ is float or (value.__class__ is int and value.bit_length() < 1024)
