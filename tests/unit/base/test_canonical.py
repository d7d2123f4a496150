"""The writer of JSON is set up once and writes what ``json.dumps`` writes."""

from __future__ import annotations

import json
from enum import IntEnum, StrEnum

import pytest

from ctxc.base.canonical import canonical, json_string, json_writer


class Word(StrEnum):
    A = "a"


class Number(IntEnum):
    ONE = 1


VALUES = [
    None,
    True,
    -3,
    10**30,
    1.5,
    "",
    'a"b\\c\n\x00\x7f\u2028 é 索 \U0001f44b \ud800',
    [],
    {},
    {"b": [1, {"z": None, "a": [False]}], "a": "x", "é": ()},
    [Word.A, Number.ONE, {Word.A: Number.ONE}],
    {2: "a", None: "b", True: "c"},
]


@pytest.mark.parametrize("value", VALUES, ids=repr)
def test_the_same_text_as_that_of_the_library(value: object) -> None:
    write = json_writer(default=str)
    assert write(value) == json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    if not isinstance(value, dict) or all(isinstance(key, str) for key in value):
        expected = json.dumps(value, ensure_ascii=False, separators=(",", ":"), sort_keys=True)
        assert canonical(value) == expected
    if isinstance(value, str):
        assert json_string(value) == json.dumps(value, ensure_ascii=False)


def test_what_is_refused() -> None:
    for value in (float("nan"), float("inf"), [float("-inf")]):
        with pytest.raises(ValueError, match="not JSON compliant"):
            canonical(value)
    with pytest.raises(TypeError, match="not JSON serializable"):
        canonical({"a": {1, 2}})
    assert json_writer(default=str)({"a": Exception("x")}) == '{"a":"x"}'
    with pytest.raises(TypeError):
        canonical({"a": 1, 2: "b"})
    value: list[object] = []
    value.append(value)
    with pytest.raises(RecursionError):
        canonical(value)


def test_without_the_compiled_encoder(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(json.encoder, "c_make_encoder", None)
    write = json_writer(sort_keys=True, default=str)
    assert write({"b": 1, "a": ["é"]}) == '{"a":["é"],"b":1}'
