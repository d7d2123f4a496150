"""The constructor of values that are made often does what the one of ``dataclasses`` does."""

from __future__ import annotations

import copy
import inspect
import pickle
from collections.abc import Mapping
from dataclasses import FrozenInstanceError, dataclass, field, fields, replace
from typing import Any

import pytest

from ctxc.base.values import made_often
from ctxc.model import counting, fixture, package, request, section


@dataclass(frozen=True, slots=True, kw_only=True)
class Plain:
    name: str
    number: int = 3
    parts: tuple[str, ...] = ()
    more: Mapping[str, Any] = field(default_factory=dict)


@made_often
@dataclass(frozen=True, slots=True, kw_only=True)
class Often:
    name: str
    number: int = 3
    parts: tuple[str, ...] = ()
    more: Mapping[str, Any] = field(default_factory=dict)


def test_values_defaults_and_comparison():
    for given in (
        {"name": "x"},
        {"name": "x", "number": 0, "parts": ("a",), "more": {"k": 1}},
        {"more": {}, "name": ""},
    ):
        made, plain = Often(**given), Plain(**given)
        assert [getattr(made, f.name) for f in fields(made)] == [getattr(plain, f.name) for f in fields(plain)]
        assert repr(made) == repr(plain).replace("Plain", "Often")
        assert made == Often(**given) == copy.copy(made) == pickle.loads(pickle.dumps(made))
    assert Often(name="x").more is not Often(name="x").more
    assert replace(Often(name="x"), number=4) == Often(name="x", number=4) != Often(name="x")


@pytest.mark.parametrize("given", [{}, {"number": 1}, {"name": "x", "other": 1}])
def test_wrong_arguments_are_refused_in_the_same_words(given):
    with pytest.raises(TypeError) as plain:
        Plain(**given)
    with pytest.raises(TypeError) as often:
        Often(**given)
    assert str(often.value) == str(plain.value).replace("Plain", "Often")


def test_only_keywords_and_no_assignment():
    with pytest.raises(TypeError):
        Often("x")  # type: ignore[misc]
    with pytest.raises(FrozenInstanceError):
        Often(name="x").name = "y"  # type: ignore[misc]
    with pytest.raises((AttributeError, TypeError)):
        Often(name="x").new = 1  # type: ignore[attr-defined]


def test_the_signature_is_the_same():
    often, plain = (inspect.signature(cls).parameters.values() for cls in (Often, Plain))
    assert [(p.name, p.kind, p.annotation) for p in often] == [(p.name, p.kind, p.annotation) for p in plain]
    assert [p.default for p in often][:3] == [inspect.Parameter.empty, 3, ()]


def test_the_classes_of_the_model_keep_every_field_in_order():
    for cls in (
        section.Section,
        section.Message,
        package.Decision,
        request.Segment,
        counting.CountPart,
        fixture.Record,
    ):
        assert list(inspect.signature(cls).parameters) == [f.name for f in fields(cls)]
        assert all(p.kind is p.KEYWORD_ONLY for p in inspect.signature(cls).parameters.values())
