"""What a release report tells: what ships, what was checked, what changed, what it costs, what was waived until when.

Money is decimal text in US dollars; tokens are those of each fixture's own model.
"""

from __future__ import annotations

from ctxc.base.values import dataclass
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
    """What a template's requests to one model come to, at head and at the base.

    ``p50`` and ``most`` are input tokens (nearest rank, and the most); money is for a thousand requests by the weights
    of the fixtures, with the static prefix in the provider's cache (``warm``) or not (``cold``); ``ms`` is the longest
    time that the provider profile's model gives for a cold one. None or empty: not known.
    """

    template: str
    model: str
    fixtures: int
    estimated: bool
    p50: int
    most: int
    cold: str = ""
    warm: str = ""
    ms: int | None = None
    base_p50: int | None = None
    base_most: int | None = None
    base_cold: str = ""
    base_warm: str = ""
    base_ms: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangeLine:
    """One fixture that differs: how, its tokens on both sides, and what of its prefix is lost (tokens)."""

    fixture: str
    status: str
    facets: tuple[str, ...]
    base_tokens: int | None
    head_tokens: int | None
    prefix_lost: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class WaiverLine:
    """A waiver and what became of it: used, unused, not_judged, expired or invalid, and how often it was used."""

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
    """Everything that the report of a release tells. ``bundle`` names what ships, all of it together.

    ``judged_by`` are the sides whose policies judged; ``tokens_delta`` is the sum over fixtures that have a request on
    both sides, None where there is no base; ``lost_tokens`` are tokens of prefixes that a cache no longer serves.
    """

    report: Report
    bundle: str
    base_bundle: str = ""
    shipped: tuple[Shipped, ...] = ()
    prefixes: tuple[PrefixLine, ...] = ()
    costs: tuple[CostLine, ...] = ()
    changes: tuple[ChangeLine, ...] = ()
    waivers: tuple[WaiverLine, ...] = ()
    prices: tuple[str, ...] = ()
    judged_by: tuple[str, ...] = ()
    fixtures: int = 0
    requests: int = 0
    tokens_delta: int | None = None
    prefixes_moved: int = 0
    lost_tokens: int = 0
    failed: bool = False
