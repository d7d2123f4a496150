"""Provider profiles: what is known of a request shape and a family of models, as dated data.

Numbers of tokens, limits and prices come from the YAML files in ``ctxc/providers/profiles``; each file says from
which source and of which date. Nothing here is a fact about a provider; it is the shape of such facts.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from typing import Any

from ctxc.base.spans import NOWHERE, Origin
from ctxc.base.values import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class TokenizerRef:
    """Which tokenizer counts for a model, and how far its count may be off.

    ``factor_bp`` scales the base count (10,000 is 1); the error band is relative, in basis points, and is 0 to 0
    for an exact count.
    """

    id: str
    method: str  # exact | reproduced | calibrated | heuristic
    factor_bp: int = 10_000
    error_low_bp: int = 0
    error_high_bp: int = 0
    file: str = ""  # a vocabulary file of the project
    size: int = 0  # tokens that the vocabulary of the file has to have; 0: not said


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelRow:
    """Facts of one model or model pattern; the first row of a profile whose pattern matches is used."""

    pattern: str  # fnmatch on the model name
    window: int  # tokens
    max_output: int | None = None
    max_input: int | None = None
    output_in_window: bool = True
    tokenizer: TokenizerRef
    framing: Mapping[str, Any] = field(default_factory=dict)
    images: Mapping[str, Any] = field(default_factory=dict)
    cache: Mapping[str, Any] = field(default_factory=dict)
    prices: Mapping[str, Any] = field(default_factory=dict)
    latency: Mapping[str, Any] = field(default_factory=dict)
    capabilities: frozenset[str] = frozenset()
    unverified: tuple[str, ...] = ()
    alternatives: tuple[TokenizerRef, ...] = ()  # each used only where the project's `tokenizers` ask for it
    origin: Origin = NOWHERE

    def window_for(self, asked: int | None) -> int:
        """Tokens of the window: what a template asks for, at most the model's own.

        The window of a row for any model (``*``) is a guess; there the template knows better.
        """
        if asked is None or self.pattern == "*":
            return self.window if asked is None else asked
        return min(asked, self.window)


@dataclass(frozen=True, slots=True, kw_only=True)
class ProviderProfile:
    """A provider profile as loaded."""

    id: str
    version: str
    shape: str  # the request shape: a module name in ctxc/providers
    platform: str
    as_of: str
    sources: tuple[str, ...]
    models: tuple[ModelRow, ...]
    default_model: str = ""
    limits: Mapping[str, Any] = field(default_factory=dict)
    schema_subset: Mapping[str, Any] = field(default_factory=dict)
    invalidation: tuple[Mapping[str, Any], ...] = ()
    content_hash: str = ""
    origin: Origin = NOWHERE
