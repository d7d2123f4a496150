"""How far a version went up, and whether that is as far as a change needs.

``N`` and ``vN``: any bump is major. Three numbers: semantic versioning (semver.org 2.0.0); what follows them is not
looked at.
"""

from __future__ import annotations

import re

from ctxc.model.facets import BUMPS

_SEMANTIC = re.compile(r"v?(\d+)\.(\d+)\.(\d+)(?:[-+].*)?\Z")
_WHOLE = re.compile(r"v?(\d+)\Z")


def bump_of(base: str, head: str) -> str:
    """How far a version went up: none, patch, minor, major; ``down``; ``other`` where two styles do not compare."""
    if base.removeprefix("v") == head.removeprefix("v"):
        return "none"
    one, other = _WHOLE.match(base), _WHOLE.match(head)
    if one and other:
        return "major" if int(other[1]) > int(one[1]) else "down"
    one, other = _SEMANTIC.match(base), _SEMANTIC.match(head)
    if one is None or other is None:
        return "other"
    before, after = tuple(map(int, one.groups()[:3])), tuple(map(int, other.groups()[:3]))
    if after <= before:
        return "down"
    place = next(n for n in range(3) if after[n] != before[n])
    return BUMPS[3 - place]


def suffices(bump: str, needed: str, head: str) -> bool:
    """Whether a bump is as far as it has to be. A whole number says no more than that something changed."""
    if needed == "none":
        return True
    if bump in ("down", "none"):
        return False
    if bump == "other" or _WHOLE.match(head):
        return True
    return BUMPS.index(bump) >= BUMPS.index(needed)
