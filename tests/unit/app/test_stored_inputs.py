"""Every file that a package can be made from, in every place where it may lie: after an edit, what the store gives is
what compiling without one gives."""

from __future__ import annotations

import base64
import json
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

from ctxc.app.compiling import CompileOptions, Outcome, compile_fixtures
from ctxc.app.gates._codec import store_text
from ctxc.app.gates._side import GateSide
from ctxc.app.scan import Scan
from ctxc.app.selection import Selection
from ctxc.app.workspace import open_workspace
from ctxc.model.project import Settings
from ctxc.report import View, render_run
from ctxc.source.memory import MemoryTree

FOLDERS = ("templates", "fragments", "policies", "tests/fixtures", "tests/fixtures/deep")
OUTSIDE = "prompts"


def vocabulary(*pairs: bytes) -> str:
    """A vocabulary of all bytes and some pairs, in the form of Mistral's files."""
    listed = [*(bytes([n]) for n in range(256)), *pairs]
    vocab = [{"rank": n, "token_bytes": base64.b64encode(t).decode()} for n, t in enumerate(listed)]
    config = {"pattern": r"\w+|\W", "default_vocab_size": len(listed), "default_num_special_tokens": 0}
    return json.dumps({"config": config, "vocab": vocab})


TEMPLATE = """\
template_id: desk
version: 1.0.0
extends: ground
provider: house
model: small
request_profile: wide
route: [topic]
sections:
  - {id: rules, kind: policy, source: @text, required: true}
  - {id: fragments, kind: fragment, source: fragments}
  - {id: history, source: runtime}
  - {id: evidence, source: retrieval}
  - {id: user, source: runtime, required: true}
"""
FIXTURE = """\
fixture_id: one
template: desk
now: 2026-06-01T09:00:00Z
route: {topic: refund}
inputs:
  user: "Where is it?"
  history: {file: @history}
  evidence: {file: @evidence}
"""
OTHER = "fixture_id: two\ntemplate: plain\nnow: 2026-06-01T09:00:00Z\nroute: {topic: store}\ninputs: {user: Hello.}\n"


class Kind(NamedTuple):
    """A file: its name, its text, and edits (old, new) that change what some fixture is compiled to."""

    name: str
    text: str
    edits: tuple[tuple[str, str], ...]
    places: tuple[str, ...] = FOLDERS


DATA = (*FOLDERS, OUTSIDE)
PLAIN = (
    "template_id: plain\nversion: 1.0.0\nroute: [topic]\nsections:\n"
    "  - {id: head, kind: policy, source: literal, text: Be kind., required: true}\n"
    "  - {id: fragments, kind: fragment, source: fragments}\n  - {id: user, source: runtime, required: true}\n"
)
KINDS: dict[str, Kind] = {
    "template": Kind("desk.yaml", TEMPLATE, ((", required: true}\n  - {id: fr", ", priority: 7}\n  - {id: fr"),)),
    "template of others": Kind(
        "plain.yaml", PLAIN, (("Be kind.", "Be brief."), ("plain\nversion: 1.0.0", "plain\nversion: 1.0.1"))
    ),
    "base of a template": Kind(
        "ground.yaml",
        "template_id: ground\nversion: 1.0.0\nbudget: {ceiling: 2000, output_reserve: 500, safety_margin: 0}\n"
        "sections: [{id: ground, kind: policy, source: literal, text: Never mind.}]\n",
        (("ceiling: 2000", "ceiling: 1000"),),
    ),
    "manifest": Kind(
        "manifest.json",
        json.dumps(
            {
                "fragments": [
                    {
                        "fragment_id": "task.a",
                        "version": "1.0.0",
                        "path": "a.md",
                        "kind": "task",
                        "load_mode": "route_match",
                        "applies_when": {"topic": ["refund"]},
                    },
                ]
            }
        ),
        (('["refund"]', '["store"]'), ('["refund"]', '["refund", "store"]'), ('"route_match"', '"explicit"')),
    ),
    "manifest by escapes": Kind(
        "manifest.json",
        '{"\\u0066ragments": [{"fragm\\u0065nt_id": "task.a", "version": "1.0.0", "path": "a.md", "kind": "task",'
        ' "load_mode": "route_match", "applies_when": {"topic": ["refund"]}}]}',
        (('["refund"]', '["refund", "store"]'),),
    ),
    "front matter": Kind(
        "extra.md",
        "---\nfragment_id: core.extra\nversion: 1.0.0\nkind: core\nload_mode: route_match\n"
        "applies_when: {topic: [refund]}\n---\nBe exact.\n",
        (("[refund]", "[store]"), ("[refund]", "[refund, store]"), ("Be exact.", "Be very exact.")),
    ),
    "contract": Kind(
        "answer.json",
        '{"contract_id": "answer", "version": "1", "schema": {"type": "object", "properties": {"a": {"type": "string"}}}}',
        (('"string"', '"integer"'),),
    ),
    "tool set": Kind(
        "tools.yaml",
        "toolset_id: kit\nversion: 1\nnamespace: kit\nmcp: list.json\n",
        (
            (
                "mcp: list.json",
                "tools: [{name: seek, description: Seek it., input_schema: {type: object, properties: {}}}]",
            ),
        ),
    ),
    "request profile": Kind(
        "wide.yaml",
        "profile_id: wide\nversion: 1\ntoolset: kit\noutput_contract: answer\nstatic: [policy]\n",
        (("output_contract: answer\n", ""), ("toolset: kit\n", "")),
    ),
    "provider profile": Kind(
        "house.yaml",
        "provider_id: house\nversion: 2.0.0\nextends: openai\ndefault_model: small\nmodels:\n"
        '  - {pattern: "small*", window: 9000, max_output: 800, output_in_window: true,\n'
        "     tokenizer: {id: own, method: exact, file: @vocabulary},\n"
        "     cache: {mode: none}, capabilities: [tools, json_schema]}\n",
        (("window: 9000", "window: 900"),),
    ),
    "policy": Kind("production.yaml", "policy_id: production\nversion: 1.0.0\ngates: {}\n", (("1.0.0", "1.1.0"),)),
    "text of a section": Kind("rules.md", "Never guess.\n", (("Never", "Do not"),), DATA),
    "tool list": Kind(
        "list.json",
        '{"tools": [{"name": "find", "description": "Find it.", "inputSchema": {"type": "object", "properties": {}}}]}',
        (("Find it.", "Look for it."),),
        FOLDERS,
    ),
    "recorded history": Kind(
        "history.jsonl",
        '{"role": "user", "content": "First."}\n{"role": "assistant", "content": "Second."}\n',
        (("Second.", "Third."),),
        DATA,
    ),
    "recorded evidence": Kind(
        "evidence.json",
        '[{"id": "e1", "source": "kb://x", "version": "1", "locator": "p1", "text": "It is late."}]',
        (("late", "lost"),),
        DATA,
    ),
    "vocabulary": Kind("vocabulary.json", vocabulary(b"er"), ((vocabulary(b"er"), vocabulary(b"er", b"ve")),), DATA),
    "fixture": Kind("one.yaml", FIXTURE, (("Where is it?", "Where?"), ("topic: refund", "topic: store"))),
    "conversation": Kind(
        "talk.yaml",
        "conversation_id: talk\ntemplate: plain\nnow: 2026-06-01T09:00:00Z\nroute: {topic: store}\n"
        "turns:\n  - {fixture_id: t1, inputs: {user: One.}, reply: Go on.}\n  - {fixture_id: t2, inputs: {user: Two.}}\n",
        (("One.", "Uno."),),
    ),
    "configuration": Kind("ctxc.yaml", "provider: openai\nmodel: gpt-4.1\n", (("gpt-4.1", "gpt-4o"),), ("",)),
}
STANDARD = {
    "template": "templates", "template of others": "templates", "base of a template": "templates",
    "manifest": "fragments", "front matter": "fragments", "contract": "templates", "tool set": "templates",
    "request profile": "templates", "provider profile": "templates", "policy": "policies",
    "text of a section": "policies", "tool list": "templates", "recorded history": "tests/fixtures",
    "recorded evidence": "tests/fixtures", "vocabulary": OUTSIDE, "fixture": "tests/fixtures",
    "conversation": "tests/fixtures", "configuration": "",
}  # fmt: skip


def cases() -> Iterator[tuple[str, str]]:
    for name, kind in KINDS.items():
        for place in kind.places:
            yield name, place


def path_of(place: str, name: str) -> str:
    return f"{place}/{name}" if place else name


def write_project(root: Path, changed: str, place: str) -> Path:
    """The standard project with one kind of file in another place; the path of that file."""
    standing = "manifest" if changed == "manifest by escapes" else changed
    places = {**STANDARD, standing: place}
    if changed == "tool list":
        places["tool set"] = place  # a tool list lies beside the set that takes it in
    elif changed == "tool set":
        places["tool list"] = place
    if changed in ("recorded history", "recorded evidence") and place != OUTSIDE:
        places["fixture"] = place  # a recorded file is named from where its fixture lies
    names = {
        "@text": path_of(places["text of a section"], "rules.md"),
        "@history": "history.jsonl" if changed == "recorded history" and place != OUTSIDE else "",
        "@evidence": "evidence.json" if changed == "recorded evidence" and place != OUTSIDE else "",
        "@vocabulary": path_of(places["vocabulary"], "vocabulary.json"),
    }
    for word, kind in (("@history", "recorded history"), ("@evidence", "recorded evidence")):
        names[word] = names[word] or path_of(places[kind], KINDS[kind].name)
    found = None
    for name, where in places.items():
        kind = KINDS[changed if name == standing else name]
        text = kind.text
        for word, value in names.items():
            text = text.replace(word, value)
        target = root / path_of(where, kind.name)
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text)
        if name == "manifest":
            (target.parent / "a.md").write_text("Name the deadline.\n")
        if name == standing:
            found = target
    (root / "tests/fixtures").mkdir(parents=True, exist_ok=True)
    (root / "tests/fixtures/two.yaml").write_text(OTHER)
    assert found is not None
    return found


class Bench:
    """A project, compiled with and without a store."""

    def __init__(self, root: Path, cache: Path) -> None:
        self.root, self.cache = root, cache

    def run(self, *fixtures: str, stored: bool = True) -> Outcome:
        workspace = open_workspace(
            self.root, flags={}, environment={}, cache_dir=str(self.cache) if stored else None, no_cache=not stored
        )
        return compile_fixtures(workspace, Selection(fixtures=fixtures), CompileOptions(with_packages=True))

    def text(self, *fixtures: str, stored: bool = True) -> str:
        return render_run("json", self.run(*fixtures, stored=stored).run, View())

    def measured(self, *, stored: bool = True) -> dict[str, bytes]:
        workspace = open_workspace(
            self.root, flags={}, environment={}, cache_dir=str(self.cache) if stored else None, no_cache=not stored
        )
        side = GateSide(workspace.tree, workspace.settings, workspace.store, kept=stored)
        found = {name: store_text(m, ()) for name, m in side.measured.items()}
        workspace.close()
        return found

    def check(self, what: str) -> str:
        """Whatever way it is asked for, the store gives what compiling gives. Returns it."""
        fresh = self.text(stored=False)
        assert self.text("two") == self.text("two", stored=False), f"{what}: one fixture"
        assert self.text() == fresh, f"{what}: all"
        assert self.text() == fresh, f"{what}: all, once more"
        assert self.measured() == self.measured(stored=False), f"{what}: measured"
        return fresh


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    return Bench(tmp_path / "project", tmp_path / "cache")


@pytest.mark.parametrize(("kind", "place"), list(cases()))
def test_after_an_edit_the_store_gives_what_compiling_gives(bench: Bench, kind: str, place: str) -> None:
    path = write_project(bench.root, kind, place)
    before = bench.check("before")
    assert {c.row.outcome for c in bench.run().run.compiled} == {"compiled"}, bench.run().run.report.findings
    text = path.read_text()
    for old, new in KINDS[kind].edits:
        assert old in text
        path.write_text(text.replace(old, new, 1))
        after = bench.check(f"{old!r} -> {new!r}")
        assert after != before or kind == "policy"
    path.write_text(text)
    assert bench.check("and back") == before


@pytest.mark.parametrize("kind", sorted(KINDS.keys() - {"configuration"}))
def test_a_file_that_goes_and_comes_back_is_noticed(bench: Bench, kind: str) -> None:
    place = "tests/fixtures" if "tests/fixtures" in KINDS[kind].places else KINDS[kind].places[-1]
    path = write_project(bench.root, kind, place)
    text = path.read_text()
    before = bench.check("before")
    path.unlink()
    if kind not in ("vocabulary",):  # without it nothing can be counted: the command ends
        bench.check("gone")
    path.write_text(text)
    assert bench.check("back") == before


def test_what_is_added_among_the_fixtures_reaches_fixtures_that_do_not_name_it(bench: Bench) -> None:
    write_project(bench.root, "fixture", "tests/fixtures")
    bench.check("before")
    added = bench.root / "tests/fixtures/late.yaml"
    added.write_text(
        "fragments:\n  - {fragment_id: core.late, version: 1.0.0, path: late.md, kind: core, load_mode: always}\n"
    )
    (bench.root / "tests/fixtures/late.md").write_text("Be there in time.\n")
    assert bench.check("a manifest").count("fragments/core.late") >= 2
    added.write_text(added.read_text().replace("core.late", "core.soon"))
    assert "core.late" not in bench.check("another id")
    (bench.root / "fragments/late.md").write_text("Which of the two is meant?\n")
    assert "ambiguous-path" in bench.check("a path that is found twice")
    added.unlink()
    bench.check("gone")


def test_a_file_that_takes_the_place_of_a_recorded_one_is_noticed(bench: Bench) -> None:
    """What was not there when the fixture was loaded, in a folder of no kind."""
    write_project(bench.root, "recorded history", OUTSIDE)
    before = bench.check("before")
    # Found beside the fixture and from the root: it is not clear any more which is meant.
    beside = bench.root / "tests/fixtures/prompts/history.jsonl"
    beside.parent.mkdir()
    beside.write_text('{"role": "user", "content": "Another."}\n')
    assert bench.check("found twice") != before
    beside.unlink()
    assert bench.check("and back") == before


def test_a_vocabulary_that_the_configuration_names(bench: Bench) -> None:
    write_project(bench.root, "configuration", "")
    own = bench.root / "tests/fixtures/g.json"
    own.write_text(vocabulary(b"in"))
    house = bench.root / "templates/house.yaml"
    text = house.read_text().replace("prompts/vocabulary.json", "tests/fixtures/g.json")
    house.write_text(text)
    before = bench.check("before")
    own.write_text(vocabulary(b"in", b"er", b"th"))
    assert bench.check("another vocabulary") != before


def test_an_id_that_another_file_takes_over(bench: Bench) -> None:
    write_project(bench.root, "fixture", "tests/fixtures")
    bench.check("before")
    first = bench.root / "tests/fixtures/a_first.yaml"
    first.write_text(OTHER.replace("Hello.", "Good morning."))
    assert "defined twice" in bench.check("two fixtures of one id")
    first.unlink()
    assert "defined twice" not in bench.check("one again")


def test_a_second_version_among_the_fixtures_is_told_and_untold(bench: Bench) -> None:
    write_project(bench.root, "fixture", "tests/fixtures")
    bench.check("before")
    second = bench.root / "tests/fixtures/zz_plain.yaml"
    second.write_text(PLAIN.replace("version: 1.0.0", "version: 2.0.0").replace("Be kind.", "Be quick."))
    assert "has 2 versions" in bench.check("two versions")
    second.unlink()
    assert "has 2 versions" not in bench.check("one version")


# --- what a file may define, told without parsing it ----------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "text", "own"),
    [
        ("a.yaml", "fixture_id: a\ninputs:\n  fragments: [x.y]\n", True),
        ("a.yaml", "# about fragments\n\nfixture_id: a\ninputs: {fragments: [x.y]}\n", True),
        ("a.yaml", "--- # a fixture\nfixture_id: a\ninputs: {fragments: [x]}\n", False),
        ("a.yaml", "---\nfixture_id: a\ninputs: {fragments: [x]}\n", True),
        ("a.yaml", "fragments:\n  - x\n", False),
        ("a.yaml", "\ufefffragments:\n  - x\n", False),
        ("a.yaml", "\ufefffixture_id: a\ninputs: {fragments: [x]}\n", True),
        ("a.YML", "'fragments' : []\n", False),
        ("a.yaml", "? fragments\n: []\n", False),
        ("a.yaml", "  fragments: []\n", False),
        ("a.yaml", "x: &k fragments\n*k : []\n", False),
        ("a.yaml", "a: 1\rfragments: []\r", False),
        ("a.yaml", "&all\nfragments: []\n", False),
        ("a.yaml", '"frag\\x6dents": []\n', False),
        ("a.yaml", '? "frag\\\n  ments"\n: []\n', False),
        ("a.json", '{"fixture_id": "a", "inputs": {"user": "caf\\u00e9\\n"}}', True),
        ("a.json", '{"template\\u005fid": "t"}', False),
        ("a.json", '{"note": "a template_id may stand anywhere"}', False),
        ("a.jsonl", '{"template_id": "data"}\n', True),
        ("a.txt", "template_id: x\n", True),
        ("a.md", "template_id: x\n", True),
        ("a.md", "---\nfragment_id: x\n---\n", False),
        ("a.markdown", "\ufeff---\nfragment_id: x\n---\n", False),
    ],
)
def test_which_files_among_the_fixtures_are_only_theirs(name: str, text: str, own: bool) -> None:
    path = f"tests/fixtures/{name}"
    scan = Scan(MemoryTree({path: text}), Settings())
    assert scan.fixture_files == {path}
    assert (scan.own_files == {path}) is own
