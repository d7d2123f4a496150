"""Whatever bytes a file holds: loading gives findings with places inside the file, and never raises."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ctxc.base.spans import Span
from ctxc.model.project import Settings
from ctxc.parse import document
from ctxc.parse.json_text import parse_json, read_json_nodes
from ctxc.parse.load import load_project
from ctxc.parse.pragmas import pragmas
from ctxc.parse.scalars import typed
from ctxc.parse.text import decode
from ctxc.parse.yaml_nodes import read_nodes
from ctxc.parse.yaml_text import parse_yaml
from ctxc.source.memory import MemoryTree

ORDINARY, MANY = 200, 5_000

SEEDS = [
    "template_id: t\nversion: 1.10\nsections:\n  - id: task\n    source: runtime\n    when: {a: [b, c]}\nbudget: {ceiling: 5}\n",
    (
        "fixture_id: f\ntemplate: t\nroute: {a: b}\ninputs:\n  user: |\n    two\n    lines\n  history: [{role: user, content: x}]\n"
        "  evidence: [{id: E, text: 'x', score: 0.5, valid_until: 2026-01-01}]\n"
    ),
    "---\nfragment_id: a\nversion: v1\nkind: core\nload_mode: always\nrequires: [a]\n---\nBody {{x}}\n",
    '{"fragments": [{"fragment_id": "f", "path": "a.md", "kind": "core", "load_mode": "route_match", "applies_when": {}}]}',
    "conversation_id: c\ntemplate: t\nturns:\n  - inputs: {user: a}\n    reply: b\n  - inputs: {user: c}\n",
    "toolset_id: t\ntools: [{name: f, input_schema: {type: object, properties: {a: {$ref: '#/x'}}}}]\n",
    "policy_id: p\nwaivers: [{rule: R, path: a, owner: o, reason: r, created: 2026-01-01, expires: 2026-02-01}]\n",
    "provider_id: p\nextends: p\nmodels: [{pattern: '*', window: 5, tokenizer: {id: x, method: exact}}]\n",
    "a: &a {b: [1, *c]}\nc: &c x\nd: *a\n<<: *a\ne: !x y\n? [k]\n: v\n",
    '[{"role": "assistant", "content": null, "function_call": {"name": "f"}}, {"role": "function", "name": "f"}]',
]
TOKENS = [
    *"{}[]:,-?!&*|>%@`\"'#\n\r\t ",
    ": ",
    "- ",
    "---\n",
    "...\n",
    "<<: ",
    "*a",
    "&a ",
    "!!str ",
    "\\ud800",
    "\ufeff",
    "\u2028",
]
TOKENS += [
    "\x85",
    "\x00",
    "\x07",
    "null",
    "1e999",
    "NaN",
    "é",
    "😀",
    "true",
    "0x1F",
    "template_id",
    "extends: t\n",
    "file: x\n",
]
NAMES = ["templates/t.yaml", "fragments/a.md", "policies/p.json", "tests/fixtures/f.yaml", "tests/fixtures/h.jsonl"]


@st.composite
def mutated(draw: st.DrawFn) -> bytes:
    """A good file with a few pieces replaced, removed or repeated."""
    text = draw(st.sampled_from(SEEDS))
    for _ in range(draw(st.integers(1, 6))):
        at = draw(st.integers(0, len(text)))
        length = draw(st.integers(0, 8))
        piece = draw(st.one_of(st.sampled_from(TOKENS), st.just(text[at : at + 30]), st.text(max_size=3)))
        text = text[:at] + piece + text[at + length :]
    ends = draw(st.sampled_from(["\n", "\r\n", "\r"]))
    data = text.replace("\n", ends).encode("utf-8", "surrogatepass")
    if draw(st.integers(0, 9)) == 0:
        at = draw(st.integers(0, len(data)))
        data = data[:at] + draw(st.binary(max_size=3)) + data[at:]
    return (b"\xef\xbb\xbf" if draw(st.booleans()) else b"") + data


FILES = st.dictionaries(st.sampled_from(NAMES), st.one_of(mutated(), st.binary(max_size=60)), min_size=1)


def inside(span: Span, data: bytes) -> bool:
    """Whether a span lies in the text of some bytes (or, where they are no text, on a line of them)."""
    text = decode(data).text
    if text is None:
        return span.line >= 1
    lines = text.split("\n")
    for line, column in ((span.line, span.column), (span.end_line, span.end_column)):
        if (
            not 1 <= line <= len(lines) + 1
            or not 1 <= column <= (len(lines[line - 1]) if line <= len(lines) else 0) + 2
        ):
            return False
    return (span.line, span.column) <= (span.end_line, span.end_column)


def check_project(files: dict[str, bytes]) -> None:
    project = load_project(MemoryTree(files), Settings())
    for finding in project.findings:
        assert finding.message
        assert finding.help, finding
        if finding.location.span is not None and finding.location.path in files:
            assert inside(finding.location.span, files[finding.location.path]), (finding, files)
    errors = {f.location.path for f in project.findings if f.severity.label == "error"}
    loaded = {t.origin.path for versions in project.templates.values() for t in versions}
    loaded |= {f.origin.path for f in project.fixtures.values()}
    own = {f.location.path for f in project.findings if f.code < "CTX100" and f.severity.label == "error"}
    assert not loaded & own, "what has an error of its own is not loaded"
    assert set(project.broken) <= errors
    again = load_project(MemoryTree(files), Settings())
    assert again.findings == project.findings


@settings(max_examples=ORDINARY, deadline=None)
@given(FILES)
def test_loading_never_raises(files: dict[str, bytes]) -> None:
    check_project(files)


@pytest.mark.slow
@settings(max_examples=MANY, deadline=None)
@given(FILES)
def test_loading_never_raises_for_thousands(files: dict[str, bytes]) -> None:
    check_project(files)


def check_readers(data: bytes) -> None:
    text = decode(data).text
    if text is None:
        return
    fast, careful = parse_yaml(text), read_nodes(text)
    assert fast.problems == careful.problems
    if not careful.problems:
        assert typed(fast.value) == typed(careful.value)
        assert _shape(fast.value) == _shape(careful.value)
    fast, careful = parse_json(text), read_json_nodes(text)
    assert fast.problems == careful.problems
    if not careful.problems:
        assert fast.value == careful.value
        assert json.loads(text) == typed(fast.value) or "." in text or "e" in text.lower()
    for name in ("x.yaml", "x.json", "x.md", "x.jsonl"):
        document.parse(name, data)
        document.places(name, data)
    pragmas(text)


def _shape(value: Any) -> Any:
    if isinstance(value, dict):
        return {k: _shape(v) for k, v in value.items()}
    return [_shape(v) for v in value] if isinstance(value, list) else type(value).__name__


@settings(max_examples=ORDINARY, deadline=None)
@given(
    st.one_of(mutated(), st.binary(max_size=80), st.text(max_size=80).map(lambda t: t.encode("utf-8", "surrogatepass")))
)
def test_the_fast_readers_agree_with_the_careful_ones(data: bytes) -> None:
    check_readers(data)


@pytest.mark.slow
@settings(max_examples=MANY, deadline=None)
@given(st.one_of(mutated(), st.binary(max_size=80)))
def test_the_fast_readers_agree_for_thousands(data: bytes) -> None:
    check_readers(data)


VALUES = st.recursive(
    st.one_of(
        st.none(), st.booleans(), st.integers(), st.floats(allow_nan=False, allow_infinity=False), st.text(max_size=12),
    ),
    lambda inner: st.one_of(st.lists(inner, max_size=4), st.dictionaries(st.text(max_size=8), inner, max_size=4)),
    max_leaves=12,
)  # fmt: skip


@settings(max_examples=ORDINARY, deadline=None)
@given(VALUES, st.sampled_from(["\n", "\r\n", "\r"]), st.booleans())
def test_places_do_not_depend_on_line_ends_and_lead_to_their_values(value: Any, end: str, mark: bool) -> None:
    text = json.dumps(value, ensure_ascii=False, indent=1)
    plain = text.encode("utf-8")
    other = (b"\xef\xbb\xbf" if mark else b"") + text.replace("\n", end).encode("utf-8")
    found = document.places("x.json", plain)
    assert document.places("x.json", other) == found
    lines = text.split("\n")
    for pointer, (span, _) in found.items():
        here = _follow(value, pointer)
        assert lines[span.line - 1][span.column - 1 :].startswith(
            json.dumps(here, ensure_ascii=False, indent=1).split("\n")[0]
        )


def _follow(value: Any, pointer: str) -> Any:
    for token in pointer.split("/")[1:]:
        key = token.replace("~1", "/").replace("~0", "~")
        value = value[int(key)] if isinstance(value, list) else value[key]
    return value
