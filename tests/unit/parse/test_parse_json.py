"""JSON and JSON Lines, stricter than the standard library, with exact places."""

from __future__ import annotations

import pytest

from ctxc.base.spans import Span
from ctxc.parse import limits
from ctxc.parse.document import parse
from ctxc.parse.json_text import parse_json, parse_jsonl, read_json_nodes
from ctxc.parse.nodes import marks
from ctxc.parse.scalars import Num, typed


def problems(text: str) -> list[tuple[str, Span | None]]:
    return [(p.name, p.span) for p in parse_json(text).problems]


def test_values() -> None:
    parsed = parse_json('{"a": [1, 2.50, -3e2, true, null, "x\\u00e9\\ud83d\\ude00"], "b": {}}')
    assert parsed.problems == ()
    assert typed(parsed.value) == {"a": [1, 2.5, -300.0, True, None, "xé😀"], "b": {}}
    assert parsed.value["a"][1] == "2.50"
    assert type(parsed.value["a"][1]) is Num


def test_duplicate_keys_are_refused_at_the_second_with_the_first_related() -> None:
    found = parse_json('{"trust": "T4",\n "x": {"y": 1, "y": 2},\n "trust": "T0"}').problems
    assert [(p.name, p.span) for p in found] == [
        ("duplicate-key", Span(2, 16, 2, 19)),
        ("duplicate-key", Span(3, 2, 3, 9)),
    ]
    assert found[1].related[0][0] == Span(1, 2, 1, 9)


@pytest.mark.parametrize(
    ("text", "span"),
    [
        ("[NaN]", Span(1, 2, 1, 5)),
        ("[Infinity]", Span(1, 2, 1, 10)),
        ("[-Infinity]", Span(1, 2, 1, 11)),
        ("[1e999]", Span(1, 2, 1, 7)),
        ("[-1.5e400]", Span(1, 2, 1, 10)),
        ("9" * 5_000, Span(1, 1, 1, 5_001)),
    ],
)
def test_numbers_that_are_none_are_refused(text: str, span: Span) -> None:
    assert problems(text) == [("bad-number", span)]


def test_large_whole_numbers_are_exact() -> None:
    assert parse_json("[12345678901234567890123]").value == [12345678901234567890123]


@pytest.mark.parametrize(
    ("text", "span"),
    [
        ('"\\ud800"', Span(1, 2, 1, 8)),
        ('{"a": "x\\udc00y"}', Span(1, 9, 1, 15)),
        ('{"\\ud83d": 1}', Span(1, 3, 1, 9)),
        ('["\\\\ud800", "\\ud83d\\ude00", "\\ud83d\\ud83d\\ude00"]', Span(1, 30, 1, 36)),
    ],
)
def test_half_a_surrogate_pair_is_refused_where_it_stands(text: str, span: Span) -> None:
    assert problems(text) == [("lone-surrogate", span)]


def test_escaped_backslashes_and_pairs_are_no_lone_surrogates() -> None:
    assert parse_json('["\\\\ud800", "\\ud83d\\ude00"]') == (["\\ud800", "😀"], (), None)


@pytest.mark.parametrize("depth", [limits.DEPTH, limits.DEPTH + 1])
def test_depth(depth: int) -> None:
    expected = [] if depth == limits.DEPTH else [("too-deep", Span(1, depth, 1, depth + 1))]
    assert problems("[" * depth + "]" * depth) == expected


def test_deep_nesting_without_end_is_refused() -> None:
    assert [p.name for p in parse_json("[" * 100_000).problems] == ["too-deep"]
    assert [p.name for p in parse_json('{"a":' * 100_000).problems] == ["too-deep"]


@pytest.mark.parametrize(
    ("text", "span", "said"),
    [
        ("[1,]", Span(1, 4, 1, 5), "expected a value, found ']'"),
        ('{"a": 1,}', Span(1, 9, 1, 10), "expected a key in double quotes, found '}'"),
        ('{"a" 1}', Span(1, 6, 1, 7), "expected ':'"),
        ("{a: 1}", Span(1, 2, 1, 3), "expected a key in double quotes"),
        ("[1 2]", Span(1, 4, 1, 5), "expected ',' or ']', found '2'"),
        ('{"a": 1', Span(1, 8, 1, 8), "but the text ends"),
        ("['x']", Span(1, 2, 1, 3), "expected a value"),
        ("", Span(1, 1, 1, 1), "the text ends where a value was expected"),
        ("1 2", Span(1, 3, 1, 4), "more text follows"),
        ('["a\nb"]', Span(1, 4, 2, 1), "invalid control character"),
        ('{"a": tru}', Span(1, 7, 1, 8), "expected a value"),
        ("01", Span(1, 2, 1, 3), "more text follows"),
    ],
)
def test_syntax_errors_say_where(text: str, span: Span, said: str) -> None:
    found = parse_json(text).problems
    assert [(p.name, p.span) for p in found] == [("syntax", span)]
    assert said in found[0].message
    assert found[0].help


def test_places() -> None:
    root = read_json_nodes('{\n "ä": [1, {"k": "v"}],\n "b": null}').root
    assert root is not None
    places = marks(root)
    assert places[""] == (Span(1, 1, 3, 12), None)
    assert places["/ä"] == (Span(2, 7, 2, 22), Span(2, 2, 2, 5))
    assert places["/ä/1/k"] == (Span(2, 17, 2, 20), Span(2, 12, 2, 15))
    assert places["/b"] == (Span(3, 7, 3, 11), Span(3, 2, 3, 5))


def test_json_lines_pass_over_blank_lines_and_report_each_bad_line() -> None:
    assert parse_jsonl('{"a": 1}\n\n  \n{"a": 2}\n').value == [{"a": 1}, {"a": 2}]
    parsed = parse_jsonl('{"a": 1}\n{"a": }\n{"a": 3, "a": 4}\n{"b": 5}')
    assert [(p.name, p.span) for p in parsed.problems] == [
        ("syntax", Span(2, 7, 2, 8)),
        ("duplicate-key", Span(3, 10, 3, 13)),
    ]
    assert parsed.value == [{"a": 1}, {"a": 3}, {"b": 5}]


def test_json_is_read_where_yaml_is_expected() -> None:
    pair = parse("x.yaml", b'{"a": "\\ud83d\\ude00", "b":\t[1, 1e3]}')
    assert pair.problems == ()
    assert typed(pair.value) == {"a": "😀", "b": [1, 1000.0]}
    assert typed(parse("x.yaml", b"{a: 1, b: [no, 2]}").value) == {"a": 1, "b": ["no", 2]}
    assert [p.name for p in parse("x.yaml", b'{"a": 1, "a": 2}').problems] == ["duplicate-key"]
