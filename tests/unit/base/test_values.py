"""Values do what frozen, slotted dataclasses of the standard library do."""

from __future__ import annotations

import ast
import copy
import dataclasses
import inspect
import pickle
from collections.abc import Mapping
from dataclasses import FrozenInstanceError, field, fields, replace
from pathlib import Path
from typing import Any

import pytest

import ctxc
from ctxc.base.values import dataclass
from ctxc.model import counting, fixture, package, request, section


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Plain:
    name: str
    number: int = 3
    parts: tuple[str, ...] = ()
    more: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Value:
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
        made, plain = Value(**given), Plain(**given)
        assert [getattr(made, f.name) for f in fields(made)] == [getattr(plain, f.name) for f in fields(plain)]
        assert repr(made) == repr(plain).replace("Plain", "Value")
        assert made == Value(**given) == copy.copy(made) == pickle.loads(pickle.dumps(made))
    assert Value(name="x").more is not Value(name="x").more
    assert replace(Value(name="x"), number=4) == Value(name="x", number=4) != Value(name="x")


@pytest.mark.parametrize("given", [{}, {"number": 1}, {"name": "x", "other": 1}])
def test_wrong_arguments_are_refused_in_the_same_words(given):
    with pytest.raises(TypeError) as plain:
        Plain(**given)
    with pytest.raises(TypeError) as value:
        Value(**given)
    assert str(value.value) == str(plain.value).replace("Plain", "Value")


def test_only_keywords_and_no_assignment():
    with pytest.raises(TypeError):
        Value("x")  # type: ignore[misc]
    with pytest.raises(FrozenInstanceError):
        Value(name="x").name = "y"  # type: ignore[misc]
    with pytest.raises((AttributeError, TypeError)):
        Value(name="x").new = 1  # type: ignore[attr-defined]


def test_the_signature_is_the_same():
    value, plain = (inspect.signature(cls).parameters.values() for cls in (Value, Plain))
    assert [(p.name, p.kind, p.annotation) for p in value] == [(p.name, p.kind, p.annotation) for p in plain]
    assert [p.default for p in value][:3] == [inspect.Parameter.empty, 3, ()]


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


@dataclass(frozen=True, slots=True)
class Point:
    x: int
    y: int = 0

    def __post_init__(self) -> None:
        if self.x < 0:
            raise ValueError("x is not negative")


@dataclass(frozen=True, slots=True, kw_only=True)
class Named(Point):
    name: str = ""

    def __repr__(self) -> str:
        return f"<{self.name}>"


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Unlike:
    x: int = 1


@dataclass(frozen=True, slots=True)
class Nothing:
    pass


@dataclass(slots=True)
class Open:
    x: int = 1


def test_positions_inheritance_and_what_a_class_writes_itself():
    assert Point(1, 2) == Point(1, y=2) != Point(1)
    assert hash(Point(1, 2)) == hash(Point(1, 2))
    assert {Point(1): "a"}[Point(1, 0)] == "a"
    with pytest.raises(ValueError, match="not negative"):
        Point(-1)
    named = Named(x=1, name="n")
    assert (named.x, named.y, repr(named)) == (1, 0, "<n>")
    assert named != Point(1)
    assert pickle.loads(pickle.dumps(named)) == named == copy.deepcopy(named)
    assert Unlike() != Unlike()
    assert Nothing() == Nothing() != Named(x=1)
    assert hash(Nothing()) == hash(Nothing())


def test_no_field_can_be_assigned_or_deleted_in_the_same_words():
    for what in (lambda v: setattr(v, "name", 1), lambda v: delattr(v, "name"), lambda v: setattr(v, "other", 1)):
        told = []
        for value in (Plain(name="x"), Value(name="x")):
            with pytest.raises((FrozenInstanceError, TypeError)) as caught:
                what(value)
            told.append(str(caught.value))
        assert told[1] == told[0] or "other" in told[1]
    value = Open()
    value.x = 2
    assert value == Open(2)


def test_no_class_uses_an_option_that_values_do_not_have():
    """``field(repr=False)`` and its kin would be passed over in silence."""
    found = [
        f"{path}:{node.lineno}"
        for path in sorted(Path(ctxc.__file__).parent.rglob("*.py"))
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "field"
        if {k.arg for k in node.keywords} - {"default", "default_factory"}
    ]
    assert found == []
