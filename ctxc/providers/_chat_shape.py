"""The shape of Chat Completions, in one server family's dialect."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ctxc.base.values import dataclass
from ctxc.model.counting import Count, Tokenizer
from ctxc.model.provider import ModelRow, ProviderProfile
from ctxc.model.request import Leaf, Rendered, RenderPlan, Segment
from ctxc.providers import _chat_check, _chat_read, _chat_render


@dataclass(frozen=True, slots=True, kw_only=True)
class ChatShape:
    """Chat Completions in one server family's dialect."""

    dialect: _chat_render.Dialect
    capabilities: frozenset[str]

    @property
    def id(self) -> str:
        """Name of the shape."""
        return self.dialect.id

    def render(self, plan: RenderPlan) -> Rendered:
        """The provider request."""
        return _chat_render.render(plan, self.dialect)

    def count(self, request: Mapping[str, Any], tokenizer: Tokenizer, row: ModelRow) -> Count:
        """Tokens of a whole request."""
        return _chat_read.count(request, tokenizer, row)

    def texts(self, request: Mapping[str, Any]) -> Sequence[str]:
        """Every text that ``count`` will count."""
        return _chat_read.texts(request)

    def segments(self, request: Mapping[str, Any]) -> tuple[Segment, ...]:
        """The request in physical order."""
        return _chat_read.segments(request)

    def read_back(self, request: Mapping[str, Any]) -> tuple[Leaf, ...]:
        """Everything that a model reads."""
        return _chat_read.read_back(request)

    def check(self, request: Mapping[str, Any], profile: ProviderProfile, row: ModelRow) -> tuple[str, ...]:
        """What the provider would refuse."""
        return _chat_check.check(request, profile, row)
