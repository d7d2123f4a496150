"""YAML: values, places, and everything that is refused, each at its own place."""

from __future__ import annotations

import pytest
import yaml

from ctxc.base.spans import Span
from ctxc.parse import limits
from ctxc.parse.nodes import marks
from ctxc.parse.scalars import Plain, typed
from ctxc.parse.yaml_nodes import read_nodes
from ctxc.parse.yaml_text import parse_yaml


def problems(text: str) -> list[tuple[str, Span | None]]:
    return [(p.name, p.span) for p in parse_yaml(text).problems]


def value(text: str) -> object:
    parsed = parse_yaml(text)
    assert parsed.problems == ()
    return typed(parsed.value)


def test_plain_scalars_stay_open_and_quoted_ones_are_text() -> None:
    parsed = parse_yaml("a: 12\nb: '12'\nc: |\n  12\n").value
    assert parsed == {"a": "12", "b": "12", "c": "12\n"}
    assert [type(v) for v in parsed.values()] == [Plain, str, str]


@pytest.mark.parametrize(
    "text",
    [
        *("on", "no", "yes", "Off", "12:30", "12:34:56", "012", "0o14", "1e3", "12e04", "0x1F", "1_000", ".5", "+5"),
        *(".inf", "2024-01-01", "2026-10-31T10:00:00Z", "v1", "1.4.0", "=", "<<x"),
    ],
)
def test_yaml_1_1_scalars_stay_text(text: str) -> None:
    assert value(f"k: {text}\n") == {"k": text}


@pytest.mark.parametrize(
    ("text", "expected"),
    [("true", True), ("False", False), ("null", None), ("~", None), ("", None), ("0", 0), ("-7", -7), ("12.5", 12.5)],
)
def test_the_rest_of_the_core_schema_is_typed(text: str, expected: object) -> None:
    found = value(f"k: {text}\n")
    assert found == {"k": expected}
    assert type(found["k"]) is type(expected)  # type: ignore[index]


@pytest.mark.parametrize("text", ["1234567890123456789012345678901234567890", "9007199254740993", "0.1234567890123456"])
def test_numbers_that_a_double_does_not_give_back_stay_text(text: str) -> None:
    assert value(f"k: {text}\n") == {"k": text}


def test_core_tags_say_what_a_scalar_is() -> None:
    assert value("{a: !!str 12, b: !!int 12, c: !!map {x: 1}, d: !!seq [1], e: ! 5}") == {
        "a": "12", "b": 12, "c": {"x": 1}, "d": [1], "e": "5"
    }  # fmt: skip


@pytest.mark.parametrize(
    ("text", "span"),
    [
        ("a: !python/object:os.system {}\n", Span(1, 4, 1, 28)),
        ("a: !!python/name:os.system x\n", Span(1, 4, 1, 27)),
        ("- !secret x\n", Span(1, 3, 1, 10)),
        ("a: !!timestamp 2024-01-01\n", Span(1, 4, 1, 15)),
        ("!thing {a: 1}\n", Span(1, 1, 1, 7)),
    ],
)
def test_custom_tags_are_refused_at_the_tag(text: str, span: Span) -> None:
    assert problems(text) == [("custom-tag", span)]


def test_duplicate_keys_are_refused_each_at_the_second_with_the_first_related() -> None:
    found = parse_yaml("a: 1\nb: {c: 1, 'c': 2}\na: 3\na: 4\n").problems
    assert [(p.name, p.span) for p in found] == [
        ("duplicate-key", Span(2, 11, 2, 14)),
        ("duplicate-key", Span(3, 1, 3, 2)),
        ("duplicate-key", Span(4, 1, 4, 2)),
    ]
    assert found[0].related == ((Span(2, 5, 2, 6), 'first "c"'),)
    assert found[2].related[0][0] == Span(1, 1, 1, 2)


def test_merge_key_is_refused_and_a_quoted_one_is_a_key() -> None:
    assert problems("base: &b {x: 1}\nuse:\n  <<: *b\n") == [("merge-key", Span(3, 3, 3, 5))]
    assert value('"<<": 1\n') == {"<<": 1}


def test_aliases_give_the_value_and_the_place_where_they_are_used() -> None:
    parsed = read_nodes("a: &x {k: [1, two]}\nb: *x\nc:\n  - *x\n")
    assert parsed.problems == ()
    assert typed(parsed.value) == {"a": {"k": [1, "two"]}, "b": {"k": [1, "two"]}, "c": [{"k": [1, "two"]}]}
    assert parsed.root is not None
    places = marks(parsed.root)
    assert places["/b"] == (Span(2, 4, 2, 6), Span(2, 1, 2, 2))
    assert places["/c/0"] == (Span(4, 5, 4, 7), None)
    assert "/b/k" not in places


def test_alias_of_a_scalar_keeps_it_open_and_may_be_a_key() -> None:
    assert value("a: &n 12\nb: *n\n? *n\n: x\n") == {"a": 12, "b": 12, "12": "x"}


def test_an_anchor_may_be_defined_again() -> None:
    assert value("[&a 1, *a, &a 2, *a]") == [1, 1, 2, 2]


@pytest.mark.parametrize(
    ("text", "span"),
    [
        ("a: *nothing\n", Span(1, 4, 1, 12)),
        ("a: &a [*a]\n", Span(1, 8, 1, 10)),
        ("a: &a {b: {c: *a}}\n", Span(1, 15, 1, 17)),
    ],
)
def test_aliases_of_nothing_and_circles_are_refused_where_they_are_used(text: str, span: Span) -> None:
    assert problems(text) == [("bad-alias", span)]


def test_billion_laughs_stops_at_the_alias_that_goes_over() -> None:
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x]"]
    lines += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]" for n in range(1, 12)]
    found = parse_yaml("\n".join(lines)).problems
    assert [p.name for p in found] == ["alias-expansion"]
    # 9 + 1 values a list: nine aliases add 90, then 9 times 91 + 1, and so on; the bound is passed in the fifth line.
    assert found[0].span is not None
    assert found[0].span.line == 5


def test_long_text_that_many_aliases_name_is_refused() -> None:
    text = f"a: &a {'x' * 20_000}\nb: [{', '.join(['*a'] * 100)}]\n"
    assert [p.name for p in parse_yaml(text).problems] == ["alias-expansion"]


def test_deep_chains_of_aliases_are_refused() -> None:
    lines = ["a0: &a0 [x]"] + [f"a{n}: &a{n} [*a{n - 1}]" for n in range(1, 200)]
    assert [p.name for p in parse_yaml("\n".join(lines)).problems] == ["too-deep"]


@pytest.mark.parametrize("opening", ["[", "{a: ", "- ", "? "])
def test_deep_nesting_is_refused(opening: str) -> None:
    found = parse_yaml(opening * 5_000).problems
    assert [p.name for p in found] in (["too-deep"], ["wrong-type", "too-deep"])


def test_nesting_at_the_bound_is_fine() -> None:
    assert parse_yaml("[" * limits.DEPTH + "]" * limits.DEPTH).problems == ()
    assert [p.name for p in parse_yaml("[" * (limits.DEPTH + 1) + "]" * (limits.DEPTH + 1)).problems] == ["too-deep"]


def test_too_many_values_are_refused() -> None:
    found = parse_yaml("- x\n" * (limits.NODES + 1)).problems
    assert [(p.name, p.span and p.span.line) for p in found] == [("too-large", limits.NODES)]


def test_a_second_document_is_refused_where_it_begins() -> None:
    assert problems("---\na: 1\n---\nb: 2\n") == [("multiple-documents", Span(3, 1, 3, 4))]
    assert value("---\na: 1\n...\n") == {"a": 1}


def test_keys_are_text() -> None:
    assert value("on: 1\n12: 2\ntrue: 3\n~: 4\n") == {"on": 1, "12": 2, "true": 3, "~": 4}
    assert problems("{{name}}: 1\n")[0] == ("wrong-type", Span(1, 1, 1, 2))
    assert problems("? [a]\n: 1\nb: 2\n") == [("wrong-type", Span(1, 3, 1, 4))]


@pytest.mark.parametrize(
    ("text", "span", "hint"),
    [
        ("a: b: c\n", Span(1, 5, 1, 6), 'may not hold ": "'),
        ("a:\n\t- b\n", Span(2, 1, 2, 2), "no tabs"),
        ("a: @b\n", Span(1, 4, 1, 5), "may not begin with"),
        ('a: "b\n', Span(2, 1, 2, 2), "close the quote"),
        ("a: [1, 2\nb: 3\n", Span(2, 2, 2, 3), "close the bracket"),
        ("a: 1\n  b: 2\n", Span(2, 4, 2, 5), "where the keys above it begin"),
        ("a: *\n", Span(1, 5, 1, 6), 'begins with "*"'),
        ("globs: **/*.ts\n", Span(1, 9, 1, 10), 'quote text that begins with "*"'),
    ],
)
def test_syntax_errors_say_where_and_how_to_mend(text: str, span: Span, hint: str) -> None:
    found = parse_yaml(text).problems
    assert [(p.name, p.span) for p in found] == [("syntax", span)]
    assert hint in found[0].help


def test_control_characters_are_refused_each() -> None:
    assert problems("a: x\x07y\nb: \x1b[0m\n") == [
        ("control-character", Span(1, 5, 1, 6)),
        ("control-character", Span(2, 4, 2, 5)),
    ]
    assert problems("a: \0\n") == [("control-character", Span(1, 4, 1, 5))]


def test_unicode_line_separators_are_ordinary_characters() -> None:
    text = "a: x\u2028y\u2029z\nb: |\n  one\x85two\n  three\n'c': \"q\ufeffr\"\n"
    parsed = parse_yaml(text)
    assert parsed.problems == ()
    assert parsed.value == {"a": "x\u2028y\u2029z", "b": "one\x85two\nthree\n", "c": "q\ufeffr"}
    assert parsed.root is not None
    assert marks(parsed.root)["/c"][0] == Span(5, 6, 5, 11)


def test_half_a_surrogate_pair_is_refused() -> None:
    assert [p.name for p in parse_yaml('a: "\\ud800"\n').problems] == ["lone-surrogate"]


def test_several_faults_of_one_file_are_all_reported() -> None:
    text = "a: !x 1\na: *y\nb: &b [*b]\n<<: z\n"
    assert [p.name for p in parse_yaml(text).problems] == [
        "custom-tag", "duplicate-key", "bad-alias", "bad-alias", "merge-key"
    ]  # fmt: skip


def test_places_of_keys_and_values() -> None:
    parsed = read_nodes("top:\n  - id: ä x  # comment\n    list: [1,\n      2]\n  - |\n    text\nlast: ''\n")
    assert parsed.root is not None
    places = marks(parsed.root)
    assert places["/top"] == (Span(2, 3, 7, 1), Span(1, 1, 1, 4))
    assert places["/top/0"][0] == Span(2, 5, 4, 9)
    assert places["/top/0/id"] == (Span(2, 9, 2, 12), Span(2, 5, 2, 7))
    assert places["/top/0/list/1"][0] == Span(4, 7, 4, 8)
    assert places["/top/1"][0] == Span(5, 5, 7, 1)
    assert places["/last"] == (Span(7, 7, 7, 9), Span(7, 1, 7, 5))


def test_an_empty_file_is_nothing() -> None:
    assert value("") is None
    assert value("# only a comment\n") is None


DOCUMENTS = [
    "a: 1\nb: [x, 'y', \"z\"]\nc:\n  - |\n    text\n  - {k: v}\n",
    "a: &x {k: [1, two]}\nb: *x\n",
    "ä: ü  # comment\nlist:\n- 1\n-\n- ~\n",
    "a: 1\na: 2\n",
    "a: !x 1\n<<: 2\n",
    "a: *b\n",
    "- !!str 5\n- ! x\n",
    "---\na: 1\n---\nb: 2\n",
]


@pytest.mark.parametrize("text", DOCUMENTS)
def test_the_pure_parser_gives_the_same(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    fast, careful = parse_yaml(text), read_nodes(text)
    monkeypatch.setattr(yaml, "__with_libyaml__", False)
    slow = read_nodes(text)
    assert parse_yaml(text).value == fast.value
    assert slow.problems == careful.problems
    assert slow.value == careful.value
    if careful.root is not None and slow.root is not None:
        assert marks(slow.root) == marks(careful.root)


@pytest.mark.parametrize("text", ["a: b: c\n", "a: [1\n", "a:\n\t- b\n", 'a: "\\ud800"\n', "[" * 3_000])
def test_the_pure_parser_refuses_the_same(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(yaml, "__with_libyaml__", False)
    assert len(parse_yaml(text).problems) == 1
    assert parse_yaml(text).problems[0].is_error
