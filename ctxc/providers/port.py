"""The port of a request shape: plan in, provider request out; request in, count and structure out.

Counting and reading back work on any request of the shape, also on one that ctxc did not compile, so that every
number can be checked against a recorded usage.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from ctxc.model.counting import Count, Tokenizer
from ctxc.model.provider import ModelRow, ProviderProfile
from ctxc.model.request import Leaf, Rendered, RenderPlan, Segment


class Shape(Protocol):
    """One request shape (``openai_chat``, ``anthropic_messages`` ...)."""

    @property
    def id(self) -> str:
        """Name of the shape; equals its module's name."""

    @property
    def capabilities(self) -> frozenset[str]:
        """What the interface can carry at all: ``tools``, ``json_schema``, ``cache_marks``, ``history`` ..."""

    def render(self, plan: RenderPlan) -> Rendered:
        """The provider request. Deterministic; drops nothing that the plan holds."""

    def count(self, request: Mapping[str, Any], tokenizer: Tokenizer, row: ModelRow) -> Count:
        """Tokens of a whole request: roles, separators, wrappers, tools, contract.

        ``parts`` sum to ``tokens``: texts at their own pointers, what a message costs around them at the message, what
        the request costs at "". The band is that of the vocabulary (the row's tokenizer) and of the constants; what
        nobody can count from the request is in ``notes``, and makes the method ``heuristic``.
        """

    def texts(self, request: Mapping[str, Any]) -> Sequence[str]:
        """Every text that ``count`` will count, so that a cache can be asked for all of them at once."""

    def segments(self, request: Mapping[str, Any]) -> tuple[Segment, ...]:
        """The request in the provider's physical order, for cache prefixes of requests that ctxc did not compile."""

    def read_back(self, request: Mapping[str, Any]) -> tuple[Leaf, ...]:
        """Everything that a model reads, by parsing the request: the structure that containment compares."""

    def check(self, request: Mapping[str, Any], profile: ProviderProfile, row: ModelRow) -> tuple[str, ...]:
        """What the provider would refuse in this request (pairing, names, limits, marks); empty when nothing."""
