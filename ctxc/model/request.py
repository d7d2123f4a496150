"""Between the compiler and a provider's request shape: what is to be sent, in order, still with its section ids."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from typing import Any

from ctxc.base.values import dataclass
from ctxc.model.contract import Contract
from ctxc.model.provider import ModelRow, ProviderProfile
from ctxc.model.section import Tool, ToolCall

SERIALIZATION = "ctxc.request/1"
"""Version of the way in which plans become bytes; part of every cache prefix hash."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """Rendered text of one section. ``mark``: a cache mark should stand after it.

    ``safe`` says that the text may be pasted into a text that others share: it is application text, or it has been
    wrapped and escaped. A part of a turn that is not safe is quoted by the shapes that have only such a text.
    """

    section_id: str
    text: str
    stable: bool = False
    mark: str = ""  # "" or the time to live: "5m", "1h", "default"
    safe: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn:
    """One message of the conversation part of a request."""

    role: str  # system | user | assistant | tool
    parts: tuple[Part, ...] = ()
    name: str | None = None
    tool_calls: tuple[ToolCall, ...] = ()
    tool_call_id: str | None = None
    is_error: bool = False
    section_id: str = ""  # owner of tool calls and framing


@dataclass(frozen=True, slots=True, kw_only=True)
class RenderPlan:
    """Everything that a request shape needs. Order is final; a shape may not drop, add or reorder sections."""

    profile: ProviderProfile
    row: ModelRow
    model: str
    system: tuple[Part, ...] = ()
    turns: tuple[Turn, ...] = ()
    tools: tuple[Tool, ...] = ()
    tools_section: str = ""
    tools_stable: bool = True
    tools_mark: str = ""
    contract: Contract | None = None  # to be sent in the provider's structured-output field
    contract_section: str = ""
    output_reserve: int = 0
    tenant: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Segment:
    """A run of a request in the provider's physical order. ``text`` is what is hashed and compared.

    ``frame`` is protocol in front of the text (a role, a name, a call's id): part of the bytes that a cache
    compares, never of a section's own text. ``wire`` is both.
    """

    id: str  # section id, or a name of the shape's own such as "model" and "contract"
    pointer: str
    text: str
    zone: str  # tools | system | messages | settings
    stable: bool = False
    mark: str = ""
    frame: str = ""

    @property
    def wire(self) -> str:
        """Frame and text: what two requests must share to share a cached prefix."""
        return self.frame + self.text


@dataclass(frozen=True, slots=True, kw_only=True)
class Rendered:
    """A provider request, and its segments in physical order.

    ``placed`` says for each section id at which JSON pointers of the request it stands; ``renamed`` holds tool
    names and ``call_ids`` ids of tool calls that had to be changed to be legal (from, to).
    """

    request: Mapping[str, Any]
    segments: tuple[Segment, ...]
    placed: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    renamed: Mapping[str, str] = field(default_factory=dict)
    call_ids: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Leaf:
    """A text that a model reads, found by parsing a request back: role, place, kind of block."""

    pointer: str
    zone: str  # tools | system | messages
    role: str
    kind: str  # text | tool_use | tool_result | image | schema ...
    text: str
