"""The result of a compile: request, trust manifest, what was dropped, and the snapshot that explains every decision."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from enum import StrEnum
from typing import Any

from ctxc.base.spans import NOWHERE, Origin
from ctxc.base.values import dataclass
from ctxc.model.counting import Count
from ctxc.model.finding import Finding
from ctxc.model.request import Segment
from ctxc.model.section import Section


class Outcome(StrEnum):
    """How a compile ends; a closed set."""

    COMPILED = "compiled"
    BUDGET_EXCEEDED = "budget_exceeded"
    MODEL_NOT_REQUIRED = "model_not_required"
    CAPABILITY_MISSING = "capability_missing"
    INVALID = "invalid"


REMEDIES = ("retrieve_more", "compress", "split_task", "ask")
"""What a caller can do when required content does not fit."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Decision:
    """One line of the trail. ``before`` and ``after`` are tokens of the section, None where not yet counted."""

    section_id: str
    stage: str
    verdict: str  # kept | cut | dropped | referenced | preferred | conflicted | moved | noted | refused
    reason: str
    before: int | None = None
    after: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class State:
    """How far a candidate came: four independent facts, each ``yes`` or ``no:reason``."""

    candidate_id: str
    discoverable: str = "yes"
    selected: str = "yes"
    loaded: str = "yes"
    authorised: str = "yes"


@dataclass(frozen=True, slots=True, kw_only=True)
class Dropped:
    """A candidate that the model does not see, and why. ``tokens`` is None where it left before it was counted."""

    section_id: str
    kind: str
    stage: str
    reason: str
    tokens: int | None
    detail: str = ""
    section: Section | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Compression:
    """A section that was shortened."""

    section_id: str
    before: int
    after: int
    strategy: str
    source_refs: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Conflict:
    """Two or more records that say different things about one topic. ``preferred`` is empty while undecided."""

    topic: str
    sides: tuple[str, ...]
    preferred: str
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Placed:
    """A section as it was rendered: its own text, its wrapped text, its tokens alone, and where it stands."""

    section: Section
    content: str
    rendered: str
    tokens: int
    position: int
    stable: bool
    truncated: bool
    pointers: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Expectation:
    """One thing that a fixture expects, and whether it held."""

    key: str
    expected: Any
    actual: Any
    held: bool
    origin: Origin = NOWHERE


@dataclass(frozen=True, slots=True, kw_only=True)
class Package:
    """What one fixture compiled to. ``request`` is None unless the outcome is ``compiled``.

    ``dependencies`` are the project paths that were read for it, sorted; ``route_key`` identifies the set of
    fragments that its route made candidates, so that a new or removed fragment is noticed without compiling.
    """

    fixture_id: str
    outcome: Outcome
    snapshot: Mapping[str, Any]
    request: Mapping[str, Any] | None = None
    placed: tuple[Placed, ...] = ()
    segments: tuple[Segment, ...] = ()
    dropped: tuple[Dropped, ...] = ()
    decisions: tuple[Decision, ...] = ()
    states: tuple[State, ...] = ()
    conflicts: tuple[Conflict, ...] = ()
    compression: tuple[Compression, ...] = ()
    required_capabilities: tuple[str, ...] = ()
    expectations: tuple[Expectation, ...] = ()
    findings: tuple[Finding, ...] = ()
    count: Count | None = None
    reply: str = ""  # of a deterministic route
    renamed_tools: Mapping[str, str] = field(default_factory=dict)
    dependencies: tuple[str, ...] = ()
    route_key: str = ""

    @property
    def trust_manifest(self) -> list[dict[str, str]]:
        """Section, trust label, authority and source of everything that was rendered, in order."""
        return [
            {
                "section_id": p.section.section_id,
                "trust": p.section.trust.value,
                "authority": p.section.authority.name,
                "source": p.section.source_uri,
            }
            for p in self.placed
        ]

    @property
    def as_expected(self) -> bool:
        """Whether the outcome is the expected one and every expectation holds."""
        return self.outcome is not Outcome.INVALID and all(e.held for e in self.expectations)
