"""Bounds on what is read. Everything here is untrusted; a file over a bound is a finding, never a hang.

Sizes of files are the source layer's (``ctxc.source.tree``); what follows bounds their inside. The depth is the one of
the project's threat model.
"""

from __future__ import annotations

DEPTH = 64
"""Deepest nesting of lists and mappings."""

NODES = 100_000
"""Most values in one file, aliases counted as what they stand for."""

ALIAS_NODES = 10_000
"""Most values that the aliases of one file may add together."""

ALIAS_CHARACTERS = 1 << 20
"""Most characters of text that the aliases of one file may add together."""

DIGITS = 4_300
"""Most digits of a whole number; CPython's own bound for text to integer."""

PROBLEMS = 100
"""Most problems that the reading of one file reports before it stops."""
