"""Whatever bytes the files of a project hold: every rule answers with findings inside them, and none ever raises."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from rule_lab import findings_of
from test_parse_bytes import mutated

from ctxc.model.codes import CODES
from ctxc.rules import all_rules
from ctxc.rules.documentation import Example, files, read

ORDINARY, MANY = 60, 2_000

RULES = [r for r in all_rules() if r.needs == "sources" and r.emitter != "suppressing"]
# The examples of the rules themselves, as what is damaged: between them they use every key that a rule reads.
SEEDS = [files(example) for r in RULES for example in (read(r.doc).bad, read(r.doc).good)]
PIECES = [
    "",
    "x",
    "\n",
    "  ",
    "[]",
    "{}",
    "null",
    "0",
    "-1",
    "1e999",
    "\ufeff",
    "\u202e",
    "\x00",
    "'",
    '"',
    "{{",
    "}}",
    "*",
    "%",
    "#",
    "- ",
]


@st.composite
def damaged(draw: st.DrawFn) -> Example:
    """The files of an example with pieces replaced, moved to other files, or left out."""
    example = draw(st.sampled_from(SEEDS))
    texts = dict(example.files)
    for _ in range(draw(st.integers(1, 4))):
        path = draw(st.sampled_from(sorted(texts)))
        data = texts[path]
        at, length = draw(st.integers(0, len(data))), draw(st.integers(0, 12))
        piece = draw(
            st.one_of(st.sampled_from(PIECES).map(str.encode), st.binary(max_size=2), st.just(data[at : at + 40]))
        )
        texts[path] = data[:at] + piece + data[at + length :]
    if len(texts) > 1 and draw(st.booleans()):
        del texts[draw(st.sampled_from(sorted(texts)))]
    return Example(files=texts, links=example.links)


def check(example: Example) -> None:
    found = findings_of(example, RULES)
    assert found == findings_of(example, RULES)
    for finding in found:
        assert finding.code in CODES
        assert CODES[finding.code][0] == finding.name
        assert finding.message
        assert finding.help
        assert finding.location.path, finding
        span, data = finding.location.span, example.files.get(finding.location.path)
        if span is None or data is None:
            continue
        lines = (
            data.decode("utf-8", "replace").removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n").split("\n")
        )
        assert 1 <= span.line <= span.end_line <= len(lines), finding
        assert 1 <= span.column <= len(lines[span.line - 1]) + 1, finding
        assert (span.line, span.column) <= (span.end_line, span.end_column), finding


@given(damaged())
@settings(max_examples=ORDINARY, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_damaged_examples(example: Example) -> None:
    check(example)


@pytest.mark.slow
@given(damaged())
@settings(max_examples=MANY, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_many_damaged_examples(example: Example) -> None:
    check(example)


@given(
    st.dictionaries(
        st.sampled_from(["templates/t.yaml", "fragments/a.md", "policies/p.json", "tests/fixtures/f.yaml"]),
        mutated(),
        min_size=1,
    )
)
@settings(max_examples=ORDINARY, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_damaged_files_of_any_kind(texts: dict[str, bytes]) -> None:
    check(Example(files=texts, links={}))
