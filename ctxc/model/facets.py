"""The closed sets that describe a difference. Apart, because a command line names them before anything is compared."""

from __future__ import annotations

FACETS = (
    "content",
    "order",
    "tokens",
    "trust",
    "role",
    "budget",
    "drops",
    "prefix",
    "tools",
    "contract",
    "meta",
)
"""In what two things may differ (docs/diff.md)."""

STATUSES = ("unchanged", "changed", "added", "removed", "moved")
"""Of a fixture or a section. Moved and edited is ``changed`` with the facet ``order``."""

BUMPS = ("none", "patch", "minor", "major")
"""How far a version went up, or has to; in this order."""
