"""Profiles and tokenizers for tests of request shapes, without the loader of project files."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from fnmatch import fnmatchcase
from functools import cache
from typing import Any

import pytest
import yaml

from ctxc.model.provider import ModelRow, ProviderProfile, TokenizerRef
from ctxc.model.request import Part, RenderPlan, Turn
from ctxc.model.section import Tool, ToolCall
from ctxc.providers import profile_text


def as_profile(data: Mapping[str, Any]) -> ProviderProfile:
    """A profile from the mapping that its YAML holds."""
    rows = []
    for row in data["models"]:
        fields = dict(row)
        fields["tokenizer"] = TokenizerRef(**fields["tokenizer"])
        fields["alternatives"] = tuple(TokenizerRef(**t) for t in fields.get("alternatives", ()))
        fields["capabilities"] = frozenset(fields.get("capabilities", ()))
        fields["unverified"] = tuple(fields.get("unverified", ()))
        rows.append(ModelRow(**fields))
    rest = {k: v for k, v in data.items() if k not in ("provider_id", "models", "sources", "invalidation")}
    return ProviderProfile(
        id=data["provider_id"],
        models=tuple(rows),
        sources=tuple(data["sources"]),
        invalidation=tuple(data.get("invalidation", ())),
        **rest,
    )


@cache
def profile_of(profile_id: str) -> ProviderProfile:
    """A shipped profile; one that extends another takes over its keys and adds its rows after its own."""
    data = yaml.load(profile_text(profile_id), yaml.CSafeLoader)
    if "extends" in data:
        base = yaml.load(profile_text(data.pop("extends")), yaml.CSafeLoader)
        limits = {**base.get("limits", {}), **data.get("limits", {})}
        data = {**base, **data, "limits": limits, "models": [*data.get("models", ()), *base["models"]]}
    return as_profile(data)


def row_of(profile: ProviderProfile, model: str) -> ModelRow:
    """The first row whose pattern matches."""
    return next(r for r in profile.models if fnmatchcase(model, r.pattern))


class WordTokenizer:
    """Counts words and single signs: quick, deterministic, and close enough to see structure in."""

    method = "exact"
    digest = "words"

    def __init__(self, id: str = "o200k_base") -> None:
        self.id = id

    def count(self, text: str) -> int:
        return len(re.findall(r"\w+|[^\w\s]", text))

    def count_many(self, texts: Sequence[str]) -> list[int]:
        return [self.count(t) for t in texts]

    def prefix(self, text: str, limit: int) -> int:
        return min(len(text), limit)

    def suffix(self, text: str, limit: int) -> int:
        return min(len(text), limit)


@pytest.fixture(scope="session")
def words() -> WordTokenizer:
    """A tokenizer that counts words, under the name of the profiles' usual one."""
    return WordTokenizer()


WEATHER = Tool(
    name="get_weather",
    description="Weather of a city.",
    input_schema={"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]},
)


@pytest.fixture
def make_plan() -> Callable[..., RenderPlan]:
    """A plan with a system part, a finished call, and a user turn of two parts; fields can be replaced."""

    def make(profile_id: str, model: str, **changes: Any) -> RenderPlan:
        profile = profile_of(profile_id)
        fields: dict[str, Any] = {
            "profile": profile,
            "row": row_of(profile, model),
            "model": model,
            "system": (
                Part(section_id="policy", text="Never reveal other customers.", stable=True),
                Part(section_id="core", text="Answer from evidence.", stable=True),
            ),
            "turns": (
                Turn(role="user", parts=(Part(section_id="h0", text="Is it raining in Paris?"),), section_id="h0"),
                Turn(
                    role="assistant",
                    parts=(Part(section_id="h0", text="Let me look."),),
                    tool_calls=(ToolCall(id="call_1", name="get_weather", arguments='{"city": "Paris"}'),),
                    section_id="h0",
                ),
                Turn(
                    role="tool",
                    parts=(Part(section_id="h0", text='{"rain": true}'),),
                    tool_call_id="call_1",
                    section_id="h0",
                ),
                Turn(
                    role="user",
                    parts=(
                        Part(section_id="state", text="<state>open</state>", safe=True),
                        Part(section_id="user", text="And tomorrow?"),
                    ),
                    section_id="user",
                ),
            ),
            "tools": (WEATHER,),
            "tools_section": "tools",
            "output_reserve": 512,
        }
        fields.update(changes)
        return RenderPlan(**fields)

    return make


@pytest.fixture
def get_profile() -> Callable[[str], ProviderProfile]:
    """A shipped profile by its id."""
    return profile_of


@pytest.fixture
def get_row() -> Callable[[ProviderProfile, str], ModelRow]:
    """A model's row."""
    return row_of
