"""Fixtures: one recorded request each (docs/formats.md)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from typing import Any

from ctxc.base.spans import NOWHERE, Origin
from ctxc.base.values import dataclass
from ctxc.model.section import Message, Verification


@dataclass(frozen=True, slots=True, kw_only=True)
class Principal:
    """Who asks: nothing that carries a tenant or a permission is shown to anybody else."""

    tenant: str = ""
    subject: str = ""
    permissions: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True, kw_only=True)
class Record:
    """An item of evidence, memory, tool results or a hand-off, in one neutral shape.

    ``id`` is the record's own id (made from its place where it has none); ``text`` its content as text, or
    ``value`` as structured data. Times are RFC 3339 text; the compiler compares them with the fixture's ``now``.
    Numbers that feed a score (relevance, authority, freshness ...) are in ``scores``; everything else that the
    record carried is in ``attributes``.
    """

    id: str
    text: str = ""
    value: Any = None
    has_value: bool = False
    source: str = ""
    version: str = ""
    locator: str = ""
    tenant: str = ""
    permissions: tuple[str, ...] = ()
    topic: str = ""
    claim: str = ""
    verification: Verification = Verification.UNVERIFIED
    valid_from: str = ""
    valid_until: str = ""
    supersedes: tuple[str, ...] = ()
    revoked: bool = False
    limitations: tuple[str, ...] = ()
    required: bool = False
    artifact_ref: str = ""
    status: str = ""
    call_id: str = ""
    tool_name: str = ""
    truncated: bool = False
    time: str = ""
    scores: Mapping[str, float] = field(default_factory=dict)
    attributes: Mapping[str, Any] = field(default_factory=dict)
    origin: Origin = NOWHERE


@dataclass(frozen=True, slots=True, kw_only=True)
class Inputs:
    """What the request brings. ``values`` holds the free keys (``user``, ``task``, ``state`` ...)."""

    values: Mapping[str, Any] = field(default_factory=dict)
    history: tuple[Message, ...] = ()
    summary: str = ""  # of the history before its first message
    memory: tuple[Record, ...] = ()
    evidence: tuple[Record, ...] = ()
    tool_results: tuple[Record, ...] = ()
    handoff: tuple[Record, ...] = ()
    fragments: tuple[str, ...] = ()  # named explicitly
    examples: tuple[Record, ...] = ()
    empty: frozenset[str] = frozenset()  # lists that are written and hold nothing
    files: tuple[str, ...] = ()  # paths of the files that inputs were read from


@dataclass(frozen=True, slots=True, kw_only=True)
class Expect:
    """What must hold after the compile. None or empty: not asked."""

    outcome: str = "compiled"
    max_input_tokens: int | None = None
    loaded: tuple[str, ...] = ()
    not_loaded: tuple[str, ...] = ()
    must_contain: tuple[str, ...] = ()
    must_not_contain: tuple[str, ...] = ()
    dropped: tuple[str, ...] = ()
    required_evidence: tuple[str, ...] = ()
    stated: frozenset[str] = frozenset()  # the keys that the fixture wrote
    origin: Origin = NOWHERE


@dataclass(frozen=True, slots=True, kw_only=True)
class Fixture:
    """One recorded request."""

    id: str
    template: str
    version: str = ""
    request_profile: str = ""
    provider: str = ""
    model: str = ""
    now: str = ""
    route: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    principal: Principal | None = None
    sensitive: tuple[str, ...] = ()
    inputs: Inputs = Inputs()
    expect: Expect = Expect()
    weight: int = 1
    labels: Mapping[str, Any] = field(default_factory=dict)
    conversation: str = ""  # id of the conversation that it is a turn of
    turn: int = -1
    content_hash: str = ""
    origin: Origin = NOWHERE


@dataclass(frozen=True, slots=True, kw_only=True)
class Conversation:
    """Fixtures that follow each other; ``turns`` are complete fixtures, shared keys already merged in."""

    id: str
    turns: tuple[Fixture, ...]
    origin: Origin = NOWHERE
