"""Output contracts, tool sets, request profiles and policies (docs/formats.md)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from typing import Any

from ctxc.base.spans import NOWHERE, Origin
from ctxc.base.values import dataclass
from ctxc.model.section import Tool


@dataclass(frozen=True, slots=True, kw_only=True)
class Contract:
    """What the model has to hand back, as JSON Schema, with refusal and citation format."""

    id: str
    version: str
    schema: Mapping[str, Any]
    refusal: Mapping[str, Any] = field(default_factory=dict)
    citations: Mapping[str, Any] = field(default_factory=dict)
    description: str = ""
    content_hash: str = ""
    origin: Origin = NOWHERE


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolSet:
    """Tool definitions in the order in which a model sees them (by name, unless the author says ``given``)."""

    id: str
    version: str
    tools: tuple[Tool, ...]
    namespace: str = ""
    order: str = "name"
    content_hash: str = ""
    mcp: str = ""  # path of the MCP tools/list answer that it was read from
    origin: Origin = NOWHERE


@dataclass(frozen=True, slots=True, kw_only=True)
class RequestProfile:
    """A published combination of tool set, contract and static prefix; byte-stable per version."""

    id: str
    version: str
    toolset: str = ""
    output_contract: str = ""
    static: tuple[str, ...] = ()
    content_hash: str = ""
    origin: Origin = NOWHERE


@dataclass(frozen=True, slots=True, kw_only=True)
class Waiver:
    """A finding that is accepted for a while."""

    rule: str
    owner: str
    reason: str
    created: str
    expires: str
    path: str = ""
    fingerprint: str = ""
    id: str = ""
    ticket: str = ""
    origin: Origin = NOWHERE


@dataclass(frozen=True, slots=True, kw_only=True)
class Policy:
    """What the gate judges by: data only. ``gates`` holds each gate's parameters as loaded.

    ``where`` narrows everything that the policy says; ``base`` is ``required`` where a change has to be compared.
    """

    id: str
    version: str
    gates: Mapping[str, Any] = field(default_factory=dict)
    rules: Mapping[str, Any] = field(default_factory=dict)
    where: Mapping[str, Any] = field(default_factory=dict)
    base: str = ""
    waivers: tuple[Waiver, ...] = ()
    content_hash: str = ""
    origin: Origin = NOWHERE
