"""What a release report tells: what ships, what was checked, what changed, what it costs, what was waived until when.

Money is decimal text in US dollars; tokens are those of each fixture's own model.
"""

from __future__ import annotations

from dataclasses import dataclass

from ctxc.model.change import Totals
from ctxc.model.report import Report


@dataclass(frozen=True, slots=True, kw_only=True)
class Shipped:
    """An object that ships. ``status`` against the base: same, changed, added, removed; empty where there is none.

    ``kind`` is template, fragment, contract, toolset, profile, policy, provider or tokenizer; ``digest`` is that of
    its content, ``path`` empty for what ctxc brings.
    """

    kind: str
    id: str
    version: str
    digest: str
    path: str
    base_version: str = ""
    status: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class PrefixLine:
    """The static prefix of one template, request profile and model. ``tokens`` is the least of its fixtures.

    ``digest`` is empty where it is not the same in all of them; ``status`` against the base as of an object.
    """

    template: str
    profile: str
    provider: str
    model: str
    tokens: int
    digest: str
    fixtures: int
    status: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class CostLine:
    """What a template's requests to one model come to, at head and base. None or empty: not known."""

    template: str
    model: str
    fixtures: int
    tokens_p50: int
    tokens_max: int
    base_p50: int | None = None
    cold: str = ""
    warm: str = ""
    base_cold: str = ""
    latency_ms: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangeLine:
    """One fixture that differs: tokens, what of it, and whether its prefix moved."""

    fixture: str
    status: str
    facets: tuple[str, ...]
    base_tokens: int | None
    head_tokens: int | None
    prefix_lost: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class WaiverLine:
    """A waiver and what became of it."""

    policy: str
    rule: str
    about: str
    owner: str
    reason: str
    created: str
    expires: str
    state: str
    count: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Release:
    """Everything that the report of a release tells. ``bundle`` identifies what ships, all of it together."""

    report: Report
    bundle: str
    shipped: tuple[Shipped, ...] = ()
    prefixes: tuple[PrefixLine, ...] = ()
    costs: tuple[CostLine, ...] = ()
    changes: tuple[ChangeLine, ...] = ()
    totals: Totals | None = None
    waivers: tuple[WaiverLine, ...] = ()
    prices: tuple[str, ...] = ()
    judged_by: tuple[str, ...] = ()
    fixtures: int = 0
