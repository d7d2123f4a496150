"""A warm load gives the same project without importing YAML; a damaged cache changes nothing."""

from __future__ import annotations

import json
import pickle
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from parse_world import BlobStore, Load, short

from ctxc.model.fixture import Inputs, Record
from ctxc.model.project import Project
from ctxc.parse.lazy_inputs import LazyInputs, is_set_apart

FILES = {
    "templates/t.yaml": "template_id: t\nversion: 1\nsections: [{id: task, source: runtime}, {id: p, kind: policy, source: policies/p.md}]\n",
    "policies/p.md": "Be exact.\n",
    "fragments/m.yaml": "- {fragment_id: a, version: 1, path: a.md, kind: core, load_mode: always}\n",
    "fragments/a.md": "A.\n",
    "fragments/b.md": "---\nfragment_id: b\nversion: 1\nkind: task\nload_mode: explicit\nrequires: [a]\n---\nB.\n",
    "tests/fixtures/f.yaml": "fixture_id: f\ntemplate: t\nroute: {x: y}\nsensitive: [inputs.state.k]\ninputs:\n  user: on\n  state: {k: 1.50, l: [null]}\n"
    "  fragments: [b]\n  history: [{role: user, content: 12}]\n  evidence: [{id: E1, text: 'é', score: 0.5, version: 2}]\n",
    "tests/fixtures/g.yaml": "fixture_id: g\ntemplate: t\ninputs: {history: {file: h.jsonl}}\n",
    "tests/fixtures/h.jsonl": '{"role": "user", "content": "x"}\n',
    "tests/fixtures/c.yaml": "conversation_id: c\ntemplate: t\nturns: [{inputs: {user: a}, reply: b}, {inputs: {user: c}}]\n",
}


def same(one: Project, other: Project) -> None:
    for name in (
        "templates",
        "fragments",
        "contracts",
        "toolsets",
        "policies",
        "fixtures",
        "conversations",
        "findings",
        "broken",
    ):
        assert getattr(one, name) == getattr(other, name), name


def test_a_warm_load_is_the_cold_one(load: Load, store: BlobStore) -> None:
    cold = load(FILES, store=store)
    assert short(cold) == []
    store.asked = store.found = 0
    warm = load(FILES, store=store)
    assert store.found == store.asked == 6, "template, manifest, front matter, two fixtures, conversation"
    same(cold, warm)
    same(load(FILES), warm)
    assert isinstance(warm.fixtures["f"].inputs, LazyInputs)
    assert not isinstance(warm.fixtures["g"].inputs, LazyInputs), "it names a recorded file"
    assert warm.fixtures["f"].inputs.values["state"] == {"k": 1.5, "l": [None]}
    assert warm.fixtures["f"].inputs.history[0].content == "12"


def test_files_with_findings_are_not_kept(load: Load, store: BlobStore) -> None:
    files = FILES | {"templates/t.yaml": FILES["templates/t.yaml"].replace("version: 1", "version: 1.10")}
    first = load(files, store=store)
    again = load(files, store=store)
    assert short(first) == short(again) == ["templates/t.yaml:2:10 float-like-version"]
    same(first, again)


def test_a_reference_that_breaks_later_is_seen_in_a_warm_load(load: Load, store: BlobStore) -> None:
    load(FILES, store=store)
    files = {k: v for k, v in FILES.items() if k != "fragments/b.md"}
    project = load(files, store=store)
    assert short(project) == ["tests/fixtures/f.yaml:8:15 unknown-fragment"]
    without = {k: v for k, v in FILES.items() if k != "policies/p.md"}
    assert short(load(without, store=store)) == ["templates/t.yaml:3:71 missing-file"]


DAMAGE = [
    b"",
    b"{}",
    b"[]",
    b'["fixture"]',
    b'["fixture", {}]',
    b'["fixture", null]\n{}',
    b'["template", []]',
    b"\xff\xfe",
    b'["nonsense", {}]',
    b'["fragment", [["", {}]]]',
    b'["fragment", 5]',
    b'["conversation", {"turns": 1}]',
    b'["template", {"template_id": "t", "sections": [{"id": 5}]}]',
    b'["template", {"template_id": "t", "sections": []}]',
    b'["fixture", {"fixture_id": "z", "template": "nothing"}]\n{}',
    b"[" * 2_000,
]


@pytest.mark.parametrize("blob", DAMAGE)
def test_damaged_entries_are_parsed_again(load: Load, store: BlobStore, blob: bytes) -> None:
    cold = load(FILES, store=store)
    for space in store.blobs:
        store.blobs[space] = dict.fromkeys(store.blobs[space], blob)
    same(load(FILES, store=store), cold)


@pytest.mark.parametrize(
    "inputs", [b"", b"[1]", b'{"history": [1]}', b'{"evidence": [{"id": 1}]}', b"{", b'{"history": 5}']
)
def test_damaged_inputs_are_read_from_the_file_when_they_are_used(load: Load, store: BlobStore, inputs: bytes) -> None:
    cold = load(FILES, store=store)
    for space, blobs in store.blobs.items():
        store.blobs[space] = {k: b.partition(b"\n")[0] + b"\n" + inputs if b"\n" in b else b for k, b in blobs.items()}
    warm = load(FILES, store=store)
    assert isinstance(warm.fixtures["f"].inputs, LazyInputs)
    assert warm.fixtures["f"].inputs == cold.fixtures["f"].inputs


def test_entries_are_keyed_by_content_and_syntax(load: Load, store: BlobStore) -> None:
    text = json.dumps({"template_id": "t", "version": 1.10, "sections": [{"id": "task", "source": "runtime"}]})
    load({"templates/t.json": text.replace("1.1", '"1.1"')}, store=store)
    (space,) = [s for s in store.blobs if s.startswith("parse/")]
    (key,) = store.blobs[space]
    assert key.startswith("json-")
    assert len(key) == 5 + 64


def test_lazy_inputs_are_as_good_as_others() -> None:
    made: list[int] = []

    def make() -> Inputs:
        made.append(1)
        return Inputs(values={"user": "x"}, summary="s", files=("a",))

    lazy, plain = LazyInputs(make), Inputs(values={"user": "x"}, summary="s", files=("a",))
    assert made == []
    assert lazy == plain
    assert plain == lazy
    assert lazy == LazyInputs(make)
    assert lazy != Inputs()
    assert (lazy.values, lazy.summary, lazy.files, lazy.history) == ({"user": "x"}, "s", ("a",), ())
    assert made == [1, 1], "once each"
    assert replace(lazy, summary="t") == replace(plain, summary="t")
    assert type(replace(lazy, summary="t")) is Inputs
    assert pickle.loads(pickle.dumps(lazy)) == plain
    assert repr(lazy).removeprefix("Lazy") == repr(plain)


def test_what_is_not_written_is_known_to_be_empty_without_making_anything() -> None:
    made: list[int] = []

    def make() -> Inputs:
        made.append(1)
        return Inputs(values={"user": "x"}, evidence=(Record(id="e", text="t"),))

    lazy = LazyInputs(make, b'{"user":"x","evidence":[{"id":"e","text":"t"}]}')
    assert is_set_apart(lazy)
    assert (lazy.files, lazy.examples, lazy.memory, lazy.tool_results, lazy.handoff) == ((), (), (), (), ())
    assert made == []
    assert [r.id for r in lazy.evidence] == ["e"]
    assert made == [1]
    assert not is_set_apart(lazy)
    assert (lazy.examples, lazy.values) == ((), {"user": "x"})
    assert not is_set_apart(Inputs())


PROGRAM = """
import pickle, sys
sys.path.insert(0, sys.argv[4])
from parse_world import BlobStore
from ctxc.model.project import Settings
from ctxc.parse.load import load_project
from ctxc.source.worktree import WorkTree
store = BlobStore()
if sys.argv[2] == "warm":
    store.blobs = pickle.load(open(sys.argv[3], "rb"))
project = load_project(WorkTree(sys.argv[1]), Settings(), store=store)
assert not project.findings, project.findings
print(*[m for m in ("yaml", "jsonschema", "difflib", "tomllib") if m in sys.modules])
pickle.dump(store.blobs, open(sys.argv[3], "wb"))
"""


def test_a_warm_load_imports_no_yaml_and_no_jsonschema(tmp_path: Path) -> None:
    for path, text in FILES.items():
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text(text, encoding="utf-8")
    kept, here = str(tmp_path.parent / "kept.pickle"), str(Path(__file__).parent)
    runs = [
        subprocess.run(
            [sys.executable, "-c", PROGRAM, str(tmp_path), mode, kept, here], capture_output=True, text=True, check=True
        )
        for mode in ("cold", "warm")
    ]
    assert [r.stdout.strip() for r in runs] == ["yaml", ""]


@pytest.mark.parametrize(
    "text",
    [
        "- fixture_id: a\n  template: t\n",
        "- 1\n- {note: x}\n- {template_id: a}\n",
        "[1, 2]\n",
        "",
        "null\n",
        "tempalte_id: a\n",
        "{" + ", ".join(f"k{n}: 1" for n in range(300)) + ", tempalte_id: a}\n",
        "just text\n",
    ],
)
def test_a_file_of_no_kind_is_told_alike_from_the_cache(load: Load, store: BlobStore, text: str) -> None:
    """A list of fixtures was an error, and from the cache a remark: the second run passed."""
    first, second = (load({**FILES, "tests/fixtures/other.yaml": text}, store=store) for _ in range(2))
    assert first.findings and first.findings == second.findings
    assert first.broken_kinds == second.broken_kinds
