"""What ``ctxc explain`` hands to an output format: where the tokens went, and the trail of one section."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from typing import Any

from ctxc.base.values import dataclass
from ctxc.model.package import Decision, State


@dataclass(frozen=True, slots=True, kw_only=True)
class Spent:
    """A rendered section and what it costs, in tokens counted alone."""

    section_id: str
    slot: str
    zone: str
    kind: str
    tokens: int
    stable: bool
    truncated: bool
    source: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Lost:
    """A dropped section; ``tokens`` as in ``Dropped``."""

    section_id: str
    kind: str
    stage: str
    reason: str
    tokens: int | None
    detail: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Empty:
    """A section of the template that had nothing to show, and why."""

    section_id: str
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Trail:
    """One candidate through all stages. ``placed`` is its position in the request, None where it was dropped.

    ``stopped`` is the first of the four states that is not ``yes``; ``remedy`` says what would bring it in.
    """

    candidate_id: str
    placed: int | None
    state: State
    decisions: tuple[Decision, ...]
    facts: Mapping[str, Any] = field(default_factory=dict)
    stopped: str = ""
    remedy: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Explanation:
    """A compiled fixture explained. ``spent`` is sorted by tokens, largest first."""

    fixture_id: str
    outcome: str
    template: str
    model: str
    used: int | None
    available: int | None
    overhead: int | None
    exact: bool
    spent: tuple[Spent, ...]
    lost: tuple[Lost, ...]
    empty: tuple[Empty, ...] = ()
    trails: tuple[Trail, ...] = ()
    over: tuple[Mapping[str, Any], ...] = ()
    remedies: tuple[str, ...] = ()
    ended: tuple[str, ...] = ()  # what ended the compile before anything was chosen
    reply: str | None = None  # of a route that needs no model

    @property
    def required(self) -> int | None:
        """Tokens that a request has to have and that are too many, framing included; None where something else ends it.

        It is what the budget was held against: the sections are counted alone, and more than their sum.
        """
        return next((int(o["tokens"]) for o in self.over if not o.get("section_id")), None)

    @property
    def framing(self) -> int:
        """Tokens of the request, or of what has to be in it, that belong to no section."""
        if self.required is not None:
            return self.required - sum(s.tokens for s in self.spent)
        return self.overhead or 0
