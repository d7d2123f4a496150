"""What a gate judges of one compiled fixture: sizes, money, time, prefix, evidence. Plain values that can be kept.

Tokens are those of the model that the fixture was compiled for, with the band of their count; bytes are UTF-8; money is
decimal text in US dollars; times are whole milliseconds.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field

from ctxc.base.values import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class MeasuredSection:
    """A rendered section. ``tokens`` is its rendered span counted alone, ``high`` the top of its band.

    ``path`` is the file that it was taken from, ``item`` the id that its author gave it; ``summary`` and ``handoff``
    say that it must not be cited as a source.
    """

    id: str
    slot: str
    kind: str
    zone: str
    authority: str
    trust: str
    tokens: int
    high: int
    bytes: int
    path: str
    pointer: str = ""
    item: str = ""
    source: str = ""
    version: str = ""
    locator: str = ""
    stable: bool = False
    truncated: bool = False
    summary: bool = False
    fragment: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Cut:
    """A section that was shortened: facts that had to be kept, how many are, and which are not (kind and text)."""

    section: str
    strategy: str
    before: int
    after: int
    facts: int
    kept: int
    lost: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Stretch:
    """A stable segment of the request, in physical order, and the identity of its bytes."""

    id: str
    digest: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Measured:
    """One compiled fixture. What needs a request is None or empty where there is none.

    ``labelled`` are the pieces of evidence and the constraints that the fixture says its request needs, ``missing``
    those that it lacks; ``relevant`` is how many of the ``shown`` records are labelled. ``candidates`` and ``left`` are
    the records and turns that could have been shown and those that did not make it (permissions and duplicates apart).
    ``chain`` identifies the leading blocks of the request, one by one: an extension of another request begins with its
    chain. ``cited`` are ids that examples, summaries and hand-offs cite.
    """

    fixture: str
    path: str
    template: str
    outcome: str
    expected: str
    as_expected: bool
    template_version: str = ""
    template_path: str = ""
    profile: str = ""
    profile_version: str = ""
    provider: str = ""
    provider_version: str = ""
    model: str = ""
    shape: str = ""
    renderer: str = ""
    contract: str = ""
    conversation: str = ""
    turn: int = -1
    weight: int = 1
    snapshot: str = ""
    request: str = ""
    tokens: int | None = None
    low: int = 0
    high: int = 0
    method: str = ""
    tokenizer: str = ""
    vocabulary: str = ""  # digest of what the tokenizer counts with
    bytes: int = 0
    available: int | None = None
    output: int = 0
    sections: tuple[MeasuredSection, ...] = ()
    fragments: tuple[str, ...] = ()
    dropped: tuple[tuple[str, str, str], ...] = ()  # section, stage, reason
    stretches: tuple[Stretch, ...] = ()
    prefix: int = 0
    prefix_low: int = 0
    prefix_minimum: int = 0
    prefix_mode: str = ""
    chain: tuple[str, ...] = ()
    chain_ids: tuple[str, ...] = ()
    cold: str = ""
    warm: str = ""
    price: str = ""  # source and date of the prices; empty where there are none
    latency_cold: int | None = None
    latency_warm: int | None = None
    stated: int = 0  # expectations that the fixture wrote
    labelled: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()
    shown: int = 0
    relevant: int | None = None
    candidates: int = 0
    left: int = 0
    cuts: tuple[Cut, ...] = ()
    cited: tuple[tuple[str, str, str], ...] = ()  # id, where, pointer
    allowed: tuple[tuple[str, str], ...] = ()  # ids that the contract allows, and the contract's path
    route: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    @property
    def has_request(self) -> bool:
        """Whether a request came out of it."""
        return self.tokens is not None
