"""The section: the unit of context, and the closed sets that describe one."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from enum import IntEnum, StrEnum
from typing import Any

from ctxc.base.spans import NOWHERE, Origin
from ctxc.base.values import dataclass


class Kind(StrEnum):
    """What a section holds; each kind has defaults (DEFAULTS below)."""

    POLICY = "policy"
    CONTRACT = "contract"
    TOOLS = "tools"
    FRAGMENT = "fragment"
    EXAMPLES = "examples"
    TASK = "task"
    STATE = "state"
    HISTORY = "history"
    MEMORY = "memory"
    EVIDENCE = "evidence"
    TOOL_RESULT = "tool_result"
    HANDOFF = "handoff"
    USER = "user"
    FOCUS = "focus"


class Authority(IntEnum):
    """Whose instructions count, 0 highest. It never says whether a statement is true."""

    T0 = 0
    T1 = 1
    T2 = 2
    T3 = 3
    T4 = 4
    T5 = 5
    T6 = 6


class Trust(StrEnum):
    """The label that is rendered; derived from the authority."""

    TRUSTED = "trusted"
    SEMI_TRUSTED = "semi_trusted"
    UNTRUSTED = "untrusted"


def trust_of(authority: Authority) -> Trust:
    """T0 and T1 are trusted, T2 is semi-trusted, T3 to T6 are untrusted."""
    if authority <= Authority.T1:
        return Trust.TRUSTED
    return Trust.SEMI_TRUSTED if authority == Authority.T2 else Trust.UNTRUSTED


_TRUST = {authority: trust_of(authority) for authority in Authority}


class Verification(StrEnum):
    """What is known of a fact. A tool call's success never sets it."""

    UNVERIFIED = "unverified"
    VERIFIED_SCOPE = "verified_scope"
    CONFLICTED = "conflicted"
    EXPIRED = "expired"
    REVOKED = "revoked"


class Zone(StrEnum):
    """Where a section lands in a request."""

    SYSTEM = "system"
    TOOLS = "tools"
    TURN = "turn"
    DATA = "data"


class Tier(IntEnum):
    """P0 is served first. P0 to P2 are whole, or the compile is refused."""

    P0 = 0
    P1 = 1
    P2 = 2
    P3 = 3
    P4 = 4


class Strategy(StrEnum):
    """The seven truncation strategies."""

    TAIL = "tail"
    HEAD = "head"
    MIDDLE = "middle"
    ROLE = "role"
    JSON = "json"
    EVIDENCE = "evidence"
    LINES = "lines"


@dataclass(frozen=True, slots=True, kw_only=True)
class Overflow:
    """What happens to a section that does not fit."""

    action: str  # "refuse" | "drop" | "cut" | "reference"
    strategy: Strategy | None = None

    def __str__(self) -> str:
        return f"{self.action}:{self.strategy.value}" if self.strategy else self.action


REFUSE = Overflow(action="refuse")
DROP = Overflow(action="drop")
REFERENCE = Overflow(action="reference")


@dataclass(frozen=True, slots=True, kw_only=True)
class KindDefaults:
    """Defaults of a kind (docs/formats.md). A template may lower authority and tier, never raise authority."""

    authority: Authority
    tier: Tier
    zone: Zone
    overflow: Overflow


def _cut(strategy: Strategy) -> Overflow:
    return Overflow(action="cut", strategy=strategy)


_A, _T, _Z = Authority, Tier, Zone
DEFAULTS: Mapping[Kind, KindDefaults] = {
    Kind.POLICY: KindDefaults(authority=_A.T0, tier=_T.P0, zone=_Z.SYSTEM, overflow=REFUSE),
    Kind.CONTRACT: KindDefaults(authority=_A.T1, tier=_T.P0, zone=_Z.SYSTEM, overflow=REFUSE),
    Kind.TOOLS: KindDefaults(authority=_A.T1, tier=_T.P1, zone=_Z.TOOLS, overflow=REFUSE),
    Kind.FRAGMENT: KindDefaults(authority=_A.T1, tier=_T.P1, zone=_Z.SYSTEM, overflow=DROP),
    Kind.EXAMPLES: KindDefaults(authority=_A.T1, tier=_T.P4, zone=_Z.SYSTEM, overflow=DROP),
    Kind.TASK: KindDefaults(authority=_A.T2, tier=_T.P1, zone=_Z.TURN, overflow=REFUSE),
    Kind.STATE: KindDefaults(authority=_A.T2, tier=_T.P1, zone=_Z.TURN, overflow=REFUSE),
    Kind.HISTORY: KindDefaults(authority=_A.T3, tier=_T.P3, zone=_Z.TURN, overflow=DROP),
    Kind.MEMORY: KindDefaults(authority=_A.T2, tier=_T.P4, zone=_Z.DATA, overflow=DROP),
    Kind.EVIDENCE: KindDefaults(authority=_A.T4, tier=_T.P3, zone=_Z.DATA, overflow=_cut(Strategy.EVIDENCE)),
    Kind.TOOL_RESULT: KindDefaults(authority=_A.T5, tier=_T.P3, zone=_Z.DATA, overflow=_cut(Strategy.JSON)),
    Kind.HANDOFF: KindDefaults(authority=_A.T6, tier=_T.P3, zone=_Z.DATA, overflow=_cut(Strategy.TAIL)),
    Kind.USER: KindDefaults(authority=_A.T3, tier=_T.P0, zone=_Z.TURN, overflow=REFUSE),
    Kind.FOCUS: KindDefaults(authority=_A.T1, tier=_T.P0, zone=_Z.TURN, overflow=REFUSE),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolCall:
    """A call that an assistant message asked for; ``arguments`` is the JSON text exactly as recorded."""

    id: str
    name: str
    arguments: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Message:
    """One message in the neutral form that every provider's form is read into.

    ``role`` is system, developer, user, assistant or tool. A tool message answers ``tool_call_id``. ``legacy``
    marks a ``function_call``/``function`` pair of the older OpenAI form, whose call id was made up on loading.
    """

    role: str
    content: str
    name: str | None = None
    tool_calls: tuple[ToolCall, ...] = ()
    tool_call_id: str | None = None
    is_error: bool = False
    legacy: bool = False
    origin: Origin = NOWHERE


@dataclass(frozen=True, slots=True, kw_only=True)
class Tool:
    """One tool definition as the model sees it (name, description, input schema), and fields that no provider sees."""

    name: str
    description: str
    input_schema: Mapping[str, Any]
    strict: bool | None = None
    extra: Mapping[str, Any] = field(default_factory=dict)
    origin: Origin = NOWHERE


@dataclass(frozen=True, slots=True, kw_only=True)
class Score:
    """An explainable score: the weighted sum of named terms (weights and formulas: ``ctxc.compiler.score``)."""

    total: float
    terms: tuple[tuple[str, float, float], ...] = ()  # (name, value, weight)


@dataclass(frozen=True, slots=True, kw_only=True)
class Section:
    """A candidate for the request, with everything that decides its fate in one object.

    Exactly one of ``text`` (application text or data), ``messages`` (a unit of the conversation that may not be
    split), ``tools`` and ``value`` (structured data that is rendered as JSON) carries the content.
    """

    section_id: str
    slot: str  # id of the template section that it came from
    kind: Kind
    authority: Authority
    tier: Tier
    zone: Zone
    overflow: Overflow
    source_uri: str
    source_version: str = ""
    text: str = ""
    messages: tuple[Message, ...] = ()
    tools: tuple[Tool, ...] = ()
    value: Any = None
    has_value: bool = False
    required: bool = False
    cacheable: bool = False
    sensitive: bool = False
    priority: int = 50
    min_tokens: int = 0
    max_tokens: int | None = None
    bucket: str = ""
    verification: Verification = Verification.UNVERIFIED
    item_id: str = ""  # the id that its author gave it: an evidence id, a fragment id, a call id
    turn: int = -1  # history: which turn of the conversation it belongs to, oldest 0
    score: Score | None = None
    attributes: Mapping[str, Any] = field(default_factory=dict)  # of the record: published_at, locator, scope ...
    origin: Origin = NOWHERE

    @property
    def trust(self) -> Trust:
        """The label that is rendered."""
        return _TRUST[self.authority]
