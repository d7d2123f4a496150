"""Templates: which sections, in which order, from where, under which budget (docs/formats.md)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from typing import Any

from ctxc.base.spans import NOWHERE, Origin
from ctxc.base.values import dataclass
from ctxc.model.section import DEFAULTS, Authority, Kind, Overflow, Tier, Zone


@dataclass(frozen=True, slots=True, kw_only=True)
class Select:
    """How many of a section's candidates may pass: a floor on the score, a count, and duplicate removal."""

    min_score: float | None = None
    top: int | None = None
    dedupe: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class SectionSpec:
    """One entry of a template's ``sections``. None means: the default of the kind."""

    id: str
    kind: Kind
    source: str  # a path, "fragments", "runtime", "runtime.key", "retrieval" or "literal"
    text: str = ""  # of a literal
    authority: Authority | None = None
    tier: Tier | None = None
    zone: Zone | None = None
    overflow: Overflow | None = None
    priority: int = 50
    required: bool | None = None
    cacheable: bool | None = None
    min_tokens: int = 0
    max_tokens: int | None = None
    select: Select = Select()
    order: str = ""  # "score" | "time" | "edges" | "given"; empty: the kind's own
    when: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    origin: Origin = NOWHERE

    @property
    def must_have_text(self) -> bool:
        """Whether a request without its text is not the one that was meant: it is required, or of P0 to P2 and not
        said to be optional."""
        tier = self.tier if self.tier is not None else DEFAULTS[self.kind].tier
        return tier <= Tier.P2 if self.required is None else self.required


@dataclass(frozen=True, slots=True, kw_only=True)
class Amount:
    """Tokens, or a share of the window in basis points (``5%`` is 500)."""

    tokens: int = 0
    basis_points: int | None = None

    def of(self, window: int) -> int:
        """Tokens for a window, rounded up so that a margin is never smaller than asked."""
        if self.basis_points is None:
            return self.tokens
        return -(-window * self.basis_points // 10_000)


@dataclass(frozen=True, slots=True, kw_only=True)
class Bucket:
    """A share of the budget: ``min`` is a floor, ``soft`` the share, ``max`` the bound after borrowing."""

    id: str
    min: int = 0
    soft: int | None = None
    max: int | None = None
    borrow: bool = False
    origin: Origin = NOWHERE


@dataclass(frozen=True, slots=True, kw_only=True)
class Budget:
    """A template's budget in tokens; None means: the provider profile's value or no bound."""

    window: int | None = None
    output_reserve: int | None = None
    safety_margin: Amount | None = None
    ceiling: int | None = None
    buckets: tuple[Bucket, ...] = ()
    origin: Origin = NOWHERE


@dataclass(frozen=True, slots=True, kw_only=True)
class Template:
    """A template as loaded, with what it extends already merged in."""

    id: str
    version: str
    sections: tuple[SectionSpec, ...]
    renderer: str = "chat_messages_v3"
    output_contract: str = ""
    request_profile: str = ""
    provider: str = ""
    model: str = ""
    route: tuple[str, ...] = ()
    variables: Mapping[str, str] = field(default_factory=dict)
    budget: Budget = Budget()
    checkpoints: tuple[str, ...] = ()
    focus: tuple[str, ...] = ()
    # Routes that are answered without a model: the first whose conditions all match wins.
    deterministic: tuple[Mapping[str, Any], ...] = ()
    extends: str = ""
    content_hash: str = ""
    paths: tuple[str, ...] = ()  # the files that it was read from, its own first
    origins: Mapping[str, Origin] = field(default_factory=dict)  # of keys: where each was written
    origin: Origin = NOWHERE

    def at(self, key: str, *inside: str | int) -> Origin:
        """Where a key stands, or a value inside it: in this file, or in that of the template that it extends."""
        return self.origins.get(key, self.origin.child(key)).child(*inside)
