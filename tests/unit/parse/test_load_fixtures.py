"""Fixtures and conversations: recorded files, what turns share, and what cannot be left unsaid."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from parse_world import Load, short

from ctxc.base.spans import Origin
from ctxc.model.project import Settings

TEMPLATE = {"templates/t.yaml": "template_id: t\nversion: 1\nsections: [{id: task, source: runtime}]\n"}


def fixture(inputs: str = " {}", more: str = "") -> dict[str, str]:
    return TEMPLATE | {"tests/fixtures/f.yaml": f"fixture_id: f\ntemplate: t\n{more}inputs:{inputs}\n"}


def test_free_inputs_keep_their_types(load: Load) -> None:
    text = "\n  user: 12:30\n  state: {a: 1, b: on, c: [null, 1.5, '2'], d: 1e3, e: 012}\n  task: true"
    project = load(fixture(text))
    assert short(project) == []
    assert project.fixtures["f"].inputs.values == {
        "user": "12:30", "state": {"a": 1, "b": "on", "c": [None, 1.5, "2"], "d": "1e3", "e": "012"}, "task": True
    }  # fmt: skip


def test_history_from_a_file_in_each_wrapping(load: Load) -> None:
    messages = [{"role": "user", "content": "a"}, {"role": "assistant", "content": "b"}]
    wrappings: list[tuple[str, str, Any, str]] = [
        ("h.jsonl", "", "\n\n".join(json.dumps(m) for m in messages) + "\n", "/1"),
        ("h.json", "", json.dumps(messages), "/1"),
        ("h.json", "", json.dumps({"model": "m", "messages": messages}), "/messages/1"),
        ("h.json", "", json.dumps({"trajectory": [], "history": messages}), "/history/1"),
        ("h.json", ", pointer: /runs/0/m", json.dumps({"runs": [{"m": messages}]}), "/runs/0/m/1"),
        ("h.yaml", "", "- {role: user, content: a}\n- {role: assistant, content: b}\n", "/1"),
    ]
    for name, more, text, pointer in wrappings:
        project = load(fixture(f" {{history: {{file: {name}{more}}}}}") | {f"tests/fixtures/{name}": text})
        assert short(project) == [], (name, more)
        inputs = project.fixtures["f"].inputs
        assert [m.content for m in inputs.history] == ["a", "b"]
        assert inputs.history[1].origin == Origin(f"tests/fixtures/{name}", pointer)
        assert inputs.files == (f"tests/fixtures/{name}",)


def test_a_recorded_anthropic_request_keeps_its_system_text(load: Load) -> None:
    text = json.dumps({"system": "S", "messages": [{"role": "user", "content": "a"}]})
    project = load(fixture(" {history: {file: h.json, summary: Before.}}") | {"tests/fixtures/h.json": text})
    inputs = project.fixtures["f"].inputs
    assert [(m.role, m.content) for m in inputs.history] == [("system", "S"), ("user", "a")]
    assert inputs.summary == "Before."


def test_records_from_files_and_in_place(load: Load) -> None:
    text = "\n  evidence: {file: e.jsonl}\n  memory: [{content: m, valid_until: 2026-12-31}]\n  handoff: {handoff_id: h}\n  tool_results: {file: shared/t.json}"
    files = {
        "tests/fixtures/e.jsonl": '{"id": "E1", "text": "x", "version": 1.10}\n"plain"\n',
        "shared/t.json": '[{"tool_call_id": "c", "data": {"n": 1}}]',
    }
    project = load(fixture(text) | files)
    assert short(project) == ["tests/fixtures/e.jsonl:1:38 float-like-version"]
    inputs = project.fixtures["f"].inputs
    assert [(r.id, r.version) for r in inputs.evidence] == [("E1", "1.10"), ("evidence-2", "")]
    assert inputs.memory[0].valid_until == "2026-12-31"
    assert inputs.handoff[0].value == {"handoff_id": "h"}
    assert inputs.tool_results[0].value == {"n": 1}
    assert inputs.files == ("tests/fixtures/e.jsonl", "shared/t.json")


@pytest.mark.parametrize(
    ("inputs", "files", "expected"),
    [
        (" {history: {file: h.jsonl}}", {}, ["tests/fixtures/f.yaml:3:26 missing-file"]),
        (" {history: {file: ../h.jsonl}}", {}, ["tests/fixtures/f.yaml:3:26 path-outside"]),
        (
            " {history: {file: h.jsonl}}",
            {"tests/fixtures/h.jsonl": '{"role": "user"}\n{"role": "usr", "content": "x"}\n'},
            ["tests/fixtures/h.jsonl:1:1 bad-message", "tests/fixtures/h.jsonl:2:10 bad-message"],
        ),
        (
            " {history: {file: h.jsonl}}",
            {"tests/fixtures/h.jsonl": '{"role": "user", "content": "a\\ud800"}\n'},
            ["tests/fixtures/f.yaml:3:26 unreadable-file", "tests/fixtures/h.jsonl:1:31 lone-surrogate"],
        ),
        (
            " {history: {file: h.json}}",
            {"tests/fixtures/h.json": '{"text": "x"}'},
            ["tests/fixtures/h.json:1:1 wrong-type"],
        ),
        (
            " {history: {file: h.json, pointer: /x}}",
            {"tests/fixtures/h.json": '{"messages": []}'},
            ["tests/fixtures/f.yaml:3:43 bad-value"],
        ),
        (
            " {evidence: {file: e.json}}",
            {"tests/fixtures/e.json": '[{"text": "x", "score": "high"}, {"text": 5}]'},
            ["tests/fixtures/e.json:1:25 wrong-type"],
        ),
        (
            " {history: {messages: [], file: h.json}}",
            {"tests/fixtures/h.json": "[]"},
            ["tests/fixtures/f.yaml:3:40 bad-value"],
        ),
        (" {history: [{role: user}]}", {}, ["tests/fixtures/f.yaml:3:20 bad-message"]),
        (" {evidence: [{id: a}, {id: b, text: x, score: much}]}", {}, ["tests/fixtures/f.yaml:3:54 wrong-type"]),
        (" {evidence: {file: {a: b}}}", {}, ["tests/fixtures/f.yaml:3:20 bad-record"]),
        (" {fragments: [nope]}", {}, ["tests/fixtures/f.yaml:3:22 unknown-fragment"]),
    ],
)
def test_faults_of_inputs(load: Load, inputs: str, files: dict[str, str], expected: list[str]) -> None:
    project = load(fixture(inputs) | files)
    assert short(project) == expected


@pytest.mark.parametrize(
    ("more", "expected"),
    [
        ("now: yesterday\n", ["tests/fixtures/f.yaml:3:6 bad-value"]),
        ("now: 2026-10-31T10:00:00\n", ["tests/fixtures/f.yaml:3:6 bad-value"]),
        ("route: {a: {b: c}}\n", ["tests/fixtures/f.yaml:3:12 wrong-type"]),
        ("expect: {outcome: compild}\n", ["tests/fixtures/f.yaml:3:19 bad-value"]),
        ("request_profile: nope\n", ["tests/fixtures/f.yaml:3:18 unknown-reference"]),
        ("provider: nope\n", ["tests/fixtures/f.yaml:3:11 unknown-reference"]),
        ("principal: {tenant: t, permission: [x]}\n", ["tests/fixtures/f.yaml:3:24 unknown-key"]),
        ("weight: -1\n", ["tests/fixtures/f.yaml:3:9 bad-value"]),
        ("sensitive: [state.x]\n", ["tests/fixtures/f.yaml:3:13 bad-value"]),
    ],
)
def test_faults_of_other_keys(load: Load, more: str, expected: list[str]) -> None:
    assert short(load(fixture(more=more))) == expected


@pytest.mark.parametrize(
    ("path", "reported"),
    [
        ("inputs.state.plate", False),
        ("inputs.state.other", False),
        ("inputs.state.plte", True),
        ("inputs.stat.plate", True),
        ("inputs.evidence.text", False),
        ("inputs.evidence.0.text", False),
        ("inputs.evidence.E1.text", False),
        ("inputs.evidence.5.text", True),
        ("inputs.memory.content", False),
    ],
)
def test_sensitive_paths_that_are_most_likely_misspelt_are_reported(load: Load, path: str, reported: bool) -> None:
    text = "\n  state: {plate: x}\n  evidence: [{id: E1, text: t}]\n  memory: {file: m.json}"
    project = load(fixture(text, f"sensitive: [{path}]\n") | {"tests/fixtures/m.json": "[]"})
    assert [(f.name, f.severity.label) for f in project.findings] == (
        [("sensitive-names-nothing", "warning")] if reported else []
    )


def test_the_hash_of_a_fixture_follows_its_file_and_what_it_names(load: Load) -> None:
    files = fixture(" {history: {file: h.jsonl}}") | {"tests/fixtures/h.jsonl": '{"role": "user", "content": "a"}\n'}
    first = load(files).fixtures["f"].content_hash
    crlf = {k: v.replace("\n", "\r\n") for k, v in files.items()}
    assert load(crlf).fixtures["f"].content_hash == first
    edited = files | {"tests/fixtures/h.jsonl": '{"role": "user", "content": "b"}\n'}
    assert load(edited).fixtures["f"].content_hash != first
    assert load(files | {"tests/fixtures/g.yaml": "fixture_id: g\ntemplate: t\n"}).fixtures["f"].content_hash == first


def test_ids_of_fixtures_are_unique(load: Load) -> None:
    project = load(fixture() | {"tests/fixtures/g.yaml": "fixture_id: f\ntemplate: t\nversion: 2\n"})
    assert short(project) == ["tests/fixtures/g.yaml:1:13 duplicate-id"]
    assert project.fixtures["f"].origin.path == "tests/fixtures/f.yaml"


def test_what_stands_twice_names_the_line_of_the_first(load: Load) -> None:
    def firsts(files: dict[str, str]) -> list[str]:
        found = load(files).findings
        return [f"{f.location} {r.location}" for f in found if f.name == "duplicate-id" for r in f.related]

    records = "\n  evidence:\n    - {id: a, text: A.}\n    - {id: b, text: B.}\n    - {id: a, text: C.}\n"
    (place,) = firsts(fixture(records))
    said, first = place.split(" ")
    assert int(said.split(":")[1]) == int(first.split(":")[1]) + 2
    sections = "sections:\n  - {id: task, source: runtime}\n  - {id: task, source: runtime}\n"
    assert firsts({"templates/t.yaml": f"template_id: t\nversion: 1\n{sections}"}) == [
        "templates/t.yaml:5:10 templates/t.yaml:4:5"
    ]
    talk = "# A note.\nconversation_id: c\ntemplate: t\nturns: [{inputs: {user: Hello.}}]\n"
    other = talk.replace("turns: [{", "turns: [{fixture_id: x, ")
    assert firsts({"tests/fixtures/a.yaml": talk, "tests/fixtures/b.yaml": other}) == [
        "tests/fixtures/b.yaml:2:18 tests/fixtures/a.yaml:2:1"
    ]


def test_a_folder_where_a_file_is_meant_is_called_one(load: Load) -> None:
    beside = load(fixture("\n  history: {file: talk}\n") | {"tests/fixtures/talk/x.txt": "x"})
    assert [f.message for f in beside.findings if f.name == "unreadable-file"] == [
        "'tests/fixtures/talk' is a folder, not a file"
    ]
    root = load(fixture("\n  history: {file: recorded/day}\n") | {"recorded/day/x.txt": "x"})
    assert [f.message for f in root.findings if f.name == "unreadable-file"] == [
        "'recorded/day' is a folder, not a file"
    ]


CONVERSATION = """\
conversation_id: c
template: t
route: {product: motor}
now: 2026-10-31T10:00:00Z
labels: {channel: web}
expect: {max_input_tokens: 3000}
inputs:
  task: Help.
  history: [{role: user, content: Earlier.}]
  evidence: [{id: E1, text: x}]
turns:
  - inputs: {user: One, state: {step: 1}}
    reply: First answer.
  - inputs: {user: Two, evidence: []}
    route: {task: update}
    reply:
      - role: assistant
        content: null
        tool_calls: [{id: c1, type: function, function: {name: f, arguments: '{}'}}]
      - {role: tool, tool_call_id: c1, content: r}
      - {role: assistant, content: Second answer.}
  - fixture_id: last
    now: 2026-10-31T11:00:00Z
    inputs: {user: Three}
    expect: {loaded: [E1]}
"""


def test_turns_share_what_they_do_not_repeat(load: Load) -> None:
    project = load(TEMPLATE | {"tests/fixtures/c.yaml": CONVERSATION})
    assert short(project) == []
    first, second, third = project.conversations["c"].turns
    assert [t.id for t in (first, second, third)] == ["c.1", "c.2", "last"]
    assert [(t.conversation, t.turn) for t in (first, second, third)] == [("c", 0), ("c", 1), ("c", 2)]
    assert project.fixtures["c.2"] == second
    assert [t.now[11:13] for t in (first, second, third)] == ["10", "10", "11"]
    assert (first.route, second.route) == ({"product": ("motor",)}, {"product": ("motor",), "task": ("update",)})
    assert (third.expect.max_input_tokens, third.expect.loaded) == (3000, ("E1",))
    assert first.inputs.values == {"task": "Help.", "user": "One", "state": {"step": 1}}
    assert third.inputs.values == {"task": "Help.", "user": "Three"}
    assert [len(t.inputs.evidence) for t in (first, second, third)] == [1, 0, 1]
    assert [m.content for m in first.inputs.history] == ["Earlier."]
    assert [(m.role, m.content) for m in third.inputs.history] == [
        ("user", "Earlier."), ("user", "One"), ("assistant", "First answer."), ("user", "Two"),
        ("assistant", ""), ("tool", "r"), ("assistant", "Second answer."),
    ]  # fmt: skip


def test_places_of_turns_and_of_what_they_share(load: Load) -> None:
    project = load(TEMPLATE | {"tests/fixtures/c.yaml": CONVERSATION})
    third = project.conversations["c"].turns[2]
    locate = project.sources.locate
    assert str(locate(third.origin)) == "tests/fixtures/c.yaml:22:5"
    assert str(locate(third.origin.child("now"))) == "tests/fixtures/c.yaml:23:10"
    assert str(locate(third.origin.child("template"))) == "tests/fixtures/c.yaml:2:11"
    assert str(locate(third.origin.child("template"), key=True)) == "tests/fixtures/c.yaml:2:1"
    assert str(locate(third.inputs.evidence[0].origin)) == "tests/fixtures/c.yaml:10:14"
    assert str(locate(third.inputs.history[1].origin)) == "tests/fixtures/c.yaml:12:20"
    assert str(locate(third.inputs.history[5].origin)) == "tests/fixtures/c.yaml:20:9"


def test_a_turn_without_a_reply_before_another(load: Load) -> None:
    project = load(TEMPLATE | {"tests/fixtures/c.yaml": CONVERSATION.replace("    reply: First answer.\n", "")})
    assert short(project) == ["tests/fixtures/c.yaml:12:5 turn-without-reply"]
    assert project.conversations == {}
    assert project.broken == {"tests/fixtures/c.yaml": "c"}


def test_a_conversation_without_a_template(load: Load) -> None:
    project = load(TEMPLATE | {"tests/fixtures/c.yaml": "conversation_id: c\nturns: [{inputs: {user: x}}]\n"})
    assert short(project) == ["tests/fixtures/c.yaml:2:9 missing-key"]


def test_what_no_key_explains(load: Load) -> None:
    files = TEMPLATE | {
        "tests/fixtures/a.yaml": "fixure_id: x\ntemplate: t\n",
        "tests/fixtures/b.yaml": "name: x\n",
        "tests/fixtures/c.json": '{"name": "x"}',
        "tests/fixtures/d.json": "[1, 2]",
        "tests/fixtures/e.yaml": "fixture_id: e\ntemplate_id: t\n",
        "tests/fixtures/f.txt": "text",
        "tests/fixtures/g.jsonl": "{broken",
    }
    project = load(files)
    assert [(str(f.location), f.name, f.severity.label) for f in project.findings] == [
        ("tests/fixtures/a.yaml:1:1", "unknown-file-kind", "error"),
        ("tests/fixtures/b.yaml:1:1", "unknown-file-kind", "warning"),
        ("tests/fixtures/c.json:1:1", "unknown-file-kind", "info"),
        ("tests/fixtures/d.json:1:1", "unknown-file-kind", "info"),
        ("tests/fixtures/e.yaml:1:1", "ambiguous-file-kind", "error"),
    ]
    assert 'did you mean "fixture_id"?' in project.findings[0].message


def test_data_that_a_fixture_names_is_no_stray_file(load: Load) -> None:
    files = fixture(" {evidence: {file: data/e.json}}") | {
        "tests/fixtures/data/e.json": '{"template_id": "x", "text": "y"}'
    }
    project = load(files)
    assert [f.name for f in project.findings if f.location.path != "tests/fixtures/data/e.json"] == []


def test_an_empty_project_says_so(load: Load) -> None:
    project = load({"README.md": "x"})
    assert [(f.location.path, f.name) for f in project.findings] == [("templates", "empty-project")]
    assert "ctxc init" in project.findings[0].help


def test_a_folder_that_the_configuration_names_and_that_is_not_there_is_told(load: Load) -> None:
    """Its fragments would be in no prompt, and nothing would say so; the usual folders a project need not have."""
    settings = Settings(fragments=("pieces", "templates/pieces"), policies=())
    project = load({"templates/pieces/a.md": "x", "templates/pieces2/b.md": "x"}, settings=settings)
    told = [(f.location.path, f.severity.label) for f in project.findings if f.name == "empty-project"]
    assert told == [("pieces", "warning")]
    assert not [f for f in load({"templates/a.md": "x"}).findings if f.name == "empty-project"]


@pytest.mark.parametrize(
    "recorded",
    ['{"role": "usr", "content": "x"}\n', '{"role": "user", "content": 5}\n', "{broken\n", '{"role": "user"}\n'],
)
def test_a_fixture_whose_recorded_file_is_broken_is_broken_too(load: Load, recorded: str) -> None:
    text = "fixture_id: {0}\ntemplate: t\ninputs: {{history: {{file: h.jsonl}}}}\n"
    files = {f"tests/fixtures/{n}.yaml": text.format(n) for n in "ab"}
    project = load(TEMPLATE | files | {"tests/fixtures/h.jsonl": recorded})
    assert project.fixtures == {}
    assert project.broken == {"tests/fixtures/a.yaml": "a", "tests/fixtures/b.yaml": "b"}
    assert any(f.location.path == "tests/fixtures/h.jsonl" for f in project.findings)


def test_a_list_that_stands_deeper_is_pointed_at(load: Load) -> None:
    files = fixture(" {history: {file: h.json}}") | {"tests/fixtures/h.json": '{"runs": [], "n": 1}'}
    (finding,) = load(files).findings
    assert (finding.name, finding.help) == ("wrong-type", "say where the list is: `pointer: /runs`")


def test_real_transcripts(load: Load, shared: Path) -> None:
    (path,) = (shared / "corpus" / "transcript").glob("*function_calling_replace_from_source*")
    for more in ("", ", pointer: /history"):
        project = load(fixture(f" {{history: {{file: h.json{more}}}}}") | {"tests/fixtures/h.json": path.read_bytes()})
        assert short(project) == []
        history = project.fixtures["f"].inputs.history
        assert len(history) == 28
        calls = [c.id for m in history for c in m.tool_calls]
        assert len(calls) == 13
        assert [m.tool_call_id for m in history if m.role == "tool"] == calls


@pytest.mark.parametrize(
    "now",
    [
        "2026-13-31T10:00:00Z", "2026-02-30T10:00:00Z", "2026-06-01T25:00:00Z", "2026-06-01T10:61:00Z",
        "2026-06-01T10:00:00+99:00", "0000-01-01T00:00:00Z",
    ],
)  # fmt: skip
def test_a_moment_that_does_not_exist_is_found_where_nothing_expires_too(load: Load, now: str) -> None:
    project = load(fixture(more=f"now: {now}\n"))
    (found,) = project.findings
    assert (f"{found.location} {found.name}", found.message) == (
        "tests/fixtures/f.yaml:3:6 bad-time",
        f"'{now}' is not a date or time",
    )
    turns = f"conversation_id: c\ntemplate: t\nturns:\n  - inputs: {{user: a}}\n    now: {now}\n"
    assert short(load(TEMPLATE | {"tests/fixtures/c.yaml": turns})) == ["tests/fixtures/c.yaml:5:10 bad-time"]


@pytest.mark.parametrize("now", ["2026-02-28t10:00:00z", "2028-02-29 10:00:00.5+14:00"])
def test_every_moment_of_rfc_3339_is_taken(load: Load, now: str) -> None:
    assert short(load(fixture(more=f"now: {now}\n"))) == []


def test_a_list_of_fixtures_is_not_passed_over(load: Load) -> None:
    text = "- fixture_id: a\n  template: t\n- fixture_id: b\n  template: t\n"
    project = load(TEMPLATE | {"tests/fixtures/l.yaml": text})
    (found,) = project.findings
    assert (f"{found.location} {found.name}", found.severity.label, found.message) == (
        "tests/fixtures/l.yaml:1:3 unknown-file-kind",
        "error",
        "a list with a fixture in it; expected one a file",
    )
    assert project.lost_fragments == ()  # nothing else is called unknown because of it
