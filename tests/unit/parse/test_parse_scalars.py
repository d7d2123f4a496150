"""What the schema asks for decides what a plain scalar becomes; text stays as it stands."""

from __future__ import annotations

from typing import Any

import pytest

from ctxc.parse.problems import Problem
from ctxc.parse.scalars import Num, Plain, typed
from ctxc.parse.validate import Validator
from ctxc.parse.yaml_text import parse_yaml

VERSION = {"type": ["string", "integer", "number"], "format": "version"}


def coerce(schema: dict[str, Any], text: str) -> tuple[Any, list[Problem]]:
    found: list[Problem] = []
    value = Validator(schema).check(parse_yaml(f"{text}\n").value, found)
    return value, found


@pytest.mark.parametrize("text", ["12", "v1", "1.4.0", "012", "1e3", "true", "2024-01-01", "0x1F"])
def test_a_version_is_the_text_that_stands_there(text: str) -> None:
    assert coerce(VERSION, text) == (text, [])


@pytest.mark.parametrize("text", ["1.10", "1.1", "3.0", "10.20"])
def test_a_float_like_version_is_kept_and_reported(text: str) -> None:
    value, found = coerce(VERSION, text)
    assert value == text
    assert [(p.name, p.severity.label) for p in found] == [("float-like-version", "warning")]
    assert f"{text}.0" in found[0].help


def test_a_quoted_float_like_version_is_meant() -> None:
    assert coerce(VERSION, '"1.10"') == ("1.10", [])


def test_a_float_like_version_in_json_keeps_its_digits() -> None:
    found: list[Problem] = []
    assert Validator(VERSION).check(Num("1.10"), found) == "1.10"
    assert [p.name for p in found] == ["float-like-version"]


@pytest.mark.parametrize(
    "commit", ["1234567890123456789e01234567890123456789", "0123456701234567012345670123456701234567"]
)
def test_commit_ids_stay_text_everywhere(commit: str) -> None:
    assert coerce({"type": "string"}, commit) == (commit, [])
    assert coerce(VERSION, commit) == (commit, [])
    assert typed(Plain(commit)) == commit


@pytest.mark.parametrize(
    ("schema", "text", "value"),
    [
        ({"type": "string"}, "12", "12"),
        ({"type": "string"}, "true", "true"),
        ({"type": "integer"}, "12", 12),
        ({"type": "integer"}, "5.0", 5),
        ({"type": "number"}, "1e3", 1000.0),
        ({"type": "number"}, "-0.25", -0.25),
        ({"type": "boolean"}, "True", True),
        ({"type": ["string", "null"]}, "~", None),
        ({"type": ["integer", "string"]}, "12", 12),
        ({"type": ["string", "integer"]}, "12", "12"),
        ({"enum": ["T0", "T1"]}, "T1", "T1"),
        ({"enum": [1, "a", None, True]}, "null", None),
    ],
)
def test_coercion(schema: dict[str, Any], text: str, value: object) -> None:
    found, problems = coerce(schema, text)
    assert problems == []
    assert found == value
    assert type(found) is type(value)


@pytest.mark.parametrize(
    ("schema", "text", "message", "help"),
    [
        ({"type": "integer"}, "1e3", 'expected a whole number, found "1e3"', "plain decimal digits"),
        ({"type": "integer"}, "012", 'expected a whole number, found "012"', "plain decimal digits"),
        ({"type": "integer"}, "'12'", 'expected a whole number, found the text "12"', "remove the quotes"),
        ({"type": "integer"}, "many", 'expected a whole number, found "many"', ""),
        ({"type": "boolean"}, "yes", 'expected true or false, found "yes"', "write true"),
        ({"type": "boolean"}, "off", 'expected true or false, found "off"', "write false"),
        ({"type": "boolean"}, '"true"', 'expected true or false, found the text "true"', "remove the quotes"),
        ({"type": "string"}, "", "expected text, found nothing", "write a value or remove the key"),
        ({"type": "string"}, "[a]", "expected text, found a list", ""),
        ({"type": "array"}, "core", 'expected a list, found "core"', 'write a list: ["core"]'),
        ({"type": "object"}, "- a", "expected a mapping, found a list", ""),
    ],
)
def test_wrong_types_say_what_was_expected(schema: dict[str, Any], text: str, message: str, help: str) -> None:
    _, found = coerce(schema, text)
    assert [(p.name, p.message) for p in found] == [("wrong-type", message)]
    assert help in found[0].help
