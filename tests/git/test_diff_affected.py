"""Only what a change can reach is compiled, and compiling everything says the same."""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path

import pytest
from diff_projects import (
    POLICY,
    basic,
    by_id,
    comparable,
    diff_of,
    differing,
    environment,
    fixture,
    fragment,
    template,
)
from repos import Repo

import ctxc
from ctxc.app.diff import diff_workspace
from ctxc.app.diff_index import Index, index_from, index_of, index_text
from ctxc.app.diff_sides import DiffRequest
from ctxc.app.workspace import open_workspace
from ctxc.source.memory import MemoryTree

ROOT = Path(__file__).parents[2]


def larger() -> dict[str, str]:
    """A project with everything that a fixture can depend on."""
    user = "{id: user, source: runtime, required: true}"
    return {
        **basic(),
        "templates/base.yaml": template("base", "{id: policy, source: policies/policy.md, required: true}", user),
        "templates/child.yaml": "template_id: child\nversion: 1\nextends: base\nfocus: [n]\nsections:\n"
        "  - {id: state, source: runtime}\n",
        "templates/full.yaml": (
            "template_id: full\nversion: 1\nprovider: openai\nmodel: gpt-4.1\nrequest_profile: desk\nsections:\n"
            "  - {id: policy, source: docs/outside.md, required: true, cacheable: true}\n"
            "  - {id: tools, source: toolset, cacheable: true}\n"
            "  - {id: fragments, kind: fragment, source: fragments}\n"
            "  - {id: history, source: runtime}\n"
            f"  - {user}\n"
        ),
        "templates/desk.yaml": "profile_id: desk\nversion: 1\ntoolset: ts\noutput_contract: answer\nstatic: [policy]\n",
        "templates/ts.yaml": "toolset_id: ts\nversion: 1.0.0\nmcp: tools.json\n",
        "templates/tools.json": '[{"name": "find", "description": "Find it.", "inputSchema": {"type": "object"}}]',
        "templates/answer.yaml": "contract_id: answer\nversion: 1\nschema: {type: object}\n",
        "docs/outside.md": "Outside of all folders.\n",
        "fragments/core/manifest.json": (
            '[{"fragment_id": "core.a", "version": "v1", "path": "a.md", "kind": "core", "load_mode": "always"},'
            '{"fragment_id": "core.b", "version": "v1", "path": "b.md", "kind": "core", "load_mode": "explicit"}]'
        ),
        "fragments/core/a.md": "Always.\n",
        "fragments/core/b.md": "By name.\n",
        "fragments/needy.md": fragment("needy", "Needs b.\n", when="{area: [needy]}", more="requires: [core.b]\n"),
        "tests/fixtures/full.yaml": (
            "fixture_id: full\ntemplate: full\nroute: {area: returns}\ninputs:\n  user: Hi\n"
            "  history: {file: talk.jsonl}\n"
        ),
        "tests/fixtures/talk.jsonl": '{"role": "user", "content": "Before"}\n{"role": "assistant", "content": "Yes"}\n',
        "tests/fixtures/needy.yaml": fixture("needy", template="full", route="{area: needy}"),
        "tests/fixtures/child.yaml": "fixture_id: child\ntemplate: child\ninputs: {user: Hi, state: {n: 1}}\n",
        "tests/fixtures/talk.yaml": (
            "conversation_id: talk\ntemplate: base\nturns:\n  - inputs: {user: One}\n    reply: Yes.\n"
            "  - inputs: {user: Two}\n"
        ),
    }


Files = dict[str, str]
Edit = Callable[[Files, random.Random], None]


def append(path: str, line: str = "More.\n") -> Edit:
    def edit(files: Files, rng: random.Random) -> None:
        if path in files:
            files[path] += line

    return edit


def swap(path: str, old: str, new: str) -> Edit:
    def edit(files: Files, rng: random.Random) -> None:
        if path in files:
            files[path] = files[path].replace(old, new)

    return edit


def put(path: str, text: str) -> Edit:
    def edit(files: Files, rng: random.Random) -> None:
        files[path] = text

    return edit


def remove(path: str) -> Edit:
    def edit(files: Files, rng: random.Random) -> None:
        files.pop(path, None)

    return edit


def rename(old: str, new: str) -> Edit:
    def edit(files: Files, rng: random.Random) -> None:
        if old in files:
            files[new] = files.pop(old)

    return edit


EDITS: dict[str, Edit] = {
    "policy text": append("policies/policy.md"),
    "outside text": append("docs/outside.md"),
    "fragment body": append("fragments/returns.md"),
    "fragment text": append("fragments/core/a.md"),
    "required text": append("fragments/core/b.md"),
    "fragment version": swap("fragments/billing.md", "1.0.0", "1.1.0"),
    "fragment route": swap("fragments/billing.md", "[billing]", "[billing, other]"),
    "fragment leaves its route": swap("fragments/returns.md", "[returns]", "[nowhere]"),
    "fragment explicit": swap(
        "fragments/returns.md", "load_mode: route_match\napplies_when: {area: [returns]}", "load_mode: explicit"
    ),
    "manifest priority": swap(
        "fragments/core/manifest.json",
        '"kind": "core", "load_mode": "always"',
        '"kind": "core", "load_mode": "always", "priority": 3',
    ),
    "requires more": swap("fragments/returns.md", "kind: family", "kind: family\nrequires: [core.b]"),
    "new fragment": put("fragments/new.md", fragment("new", "New.\n", when="{area: [other]}")),
    "new fragment nobody asks for": put("fragments/idle.md", fragment("idle", "Idle.\n", mode="explicit")),
    "fragment gone": remove("fragments/returns.md"),
    "required gone": swap("fragments/needy.md", "requires: [core.b]\n", ""),
    "fragment file renamed": rename("fragments/returns.md", "fragments/r2.md"),
    "template budget": swap("templates/t.yaml", "route: [area]\n", "route: [area]\nbudget: {ceiling: 9000}\n"),
    "template version": swap("templates/t.yaml", "version: 1\n", "version: 2\n"),
    "base template": swap("templates/base.yaml", "required: true", "required: true, cacheable: true"),
    "template comment": swap("templates/full.yaml", "template_id", "# note\ntemplate_id"),
    "template without fragments": swap(
        "templates/t.yaml", "  - {id: fragments, kind: fragment, source: fragments, cacheable: true}\n", ""
    ),
    "second version of a template": put("templates/t2.yaml", template(version="9")),
    "contract": swap("templates/answer.yaml", "{type: object}", "{type: object, required: [x]}"),
    "tools": swap("templates/tools.json", "Find it.", "Find it quickly."),
    "tool set version": swap("templates/ts.yaml", "1.0.0", "2.0.0"),
    "profile": swap("templates/desk.yaml", "static: [policy]", "static: [policy, tools]"),
    "fixture input": swap("tests/fixtures/a.yaml", "Hello", "Hello you"),
    "fixture route": swap("tests/fixtures/c.yaml", "other", "billing"),
    "fixture template": swap("tests/fixtures/c.yaml", "template: t", "template: base"),
    "new fixture": put("tests/fixtures/n.yaml", fixture("n", route="{area: billing}")),
    "fixture gone": remove("tests/fixtures/b.yaml"),
    "fixture renamed": rename("tests/fixtures/b.yaml", "tests/fixtures/z/b.yaml"),
    "fixture with another id": swap("tests/fixtures/b.yaml", "fixture_id: b", "fixture_id: bb"),
    "history": append("tests/fixtures/talk.jsonl", '{"role": "user", "content": "More"}\n'),
    "history gone": remove("tests/fixtures/talk.jsonl"),
    "conversation": swap("tests/fixtures/talk.yaml", "Two", "Second"),
    "file of the same name elsewhere": put("fragments/a.md", "Another a.\n"),
    "unrelated file": put("fragments/core/notes.txt", "Notes.\n"),
    "broken fragment": swap("fragments/billing.md", "kind: family", "kind: clan"),
    "broken fixture": swap("tests/fixtures/a.yaml", "template: t", "templat: t"),
    "policy file": put("policies/gates.yaml", "policy_id: p\nversion: 1\ngates: {}\n"),
    "provider profile": put(
        "policies/provider.yaml",
        "provider_id: mine\nversion: 1\nshape: text\nplatform: test\nas_of: 2026-11-30\nsources: [none]\n"
        "models: [{pattern: '*', window: 1000, tokenizer: {id: o200k_base, method: exact}}]\n",
    ),
    "settings": put("ctxc.yaml", "model: cl100k_base\n"),
    "line ends": swap("policies/policy.md", "\n", "\r\n"),
    "duplicate id": put("fragments/zz.md", fragment("returns", "Again.\n")),
}


def replace_all(repo: Repo, files: Files, message: str) -> None:
    for path in repo.git("ls-files", "-z").split("\0"):
        if path and path not in files:
            (repo.path / path).unlink()
    repo.commit(message, files)


@pytest.mark.parametrize("name", sorted(EDITS))
def test_each_edit_says_the_same_as_compiling_everything(repo: Repo, name: str) -> None:
    files = larger()
    repo.commit("base", files)
    EDITS[name](files, random.Random(0))
    replace_all(repo, files, name)
    for sides in ({"base": "HEAD~1", "head": "HEAD"}, {"base": "HEAD", "head": "HEAD~1"}):
        some = diff_of(repo, **sides)
        everything = diff_of(repo, whole=True, **sides)
        assert comparable(some) == comparable(everything)
        assert some.totals.compiled <= everything.totals.compiled


@pytest.mark.parametrize("seed", range(6))
def test_edits_together_say_the_same_as_compiling_everything(repo: Repo, seed: int) -> None:
    rng = random.Random(seed)
    files = larger()
    repo.commit("base", files)
    for round in range(4):
        for name in rng.sample(sorted(EDITS), rng.randrange(1, 4)):
            EDITS[name](files, rng)
        replace_all(repo, files, f"round {round}")
        some, everything = (diff_of(repo, base="HEAD~1", head="HEAD", whole=w, allow_same=True) for w in (False, True))
        if some.fixtures or some.sources:
            assert comparable(some) == comparable(everything)
        else:
            assert everything.is_empty


def test_the_index_holds_everything_that_a_compile_reads() -> None:
    checked = 0
    for project in (ctxc.load(ROOT), ctxc.load(MemoryTree(larger()))):
        index = index_of(project)
        for fixture_id in project.fixtures:
            package = ctxc.compile(project, fixture_id)
            read = {p for p in package.dependencies if not p.startswith("ctxc:")}
            assert read <= set(index.fixtures[fixture_id].files), fixture_id
            checked += 1
    assert checked > 35


def test_the_index_is_read_back_as_it_was_and_never_half() -> None:
    index = index_of(ctxc.load(MemoryTree(larger())))
    text = index_text(index)
    assert index_from(text) == index
    for broken in (
        "",
        "{}",
        "[]",
        text[:-2],
        text.replace("[2,", "[1,", 1),
        text.replace("],[[", "],[[-", 1),
        text.replace('"fragment"', "7"),
    ):
        with pytest.raises(ValueError):
            index_from(broken)
    assert isinstance(index, Index)


def test_few_fixtures_are_compiled_where_few_are_reached(repo: Repo) -> None:
    files = basic()
    for number in range(40):
        files[f"tests/fixtures/many/{number}.yaml"] = fixture(f"many.{number}", route="{area: other}")
    repo.commit("base", files)
    repo.commit("head", {"fragments/billing.md": fragment("billing", "Changed.\n", when="{area: [billing]}")})
    change = diff_of(repo, base="HEAD~1", head="HEAD")
    assert (change.totals.fixtures, change.totals.compiled, differing(change)) == (43, 1, ["b"])
    assert sum(f.proof == "record" for f in change.fixtures) == 42


def test_an_index_that_was_kept_is_carried_over(repo: Repo, tmp_path: Path) -> None:
    """With the base's index in the cache neither side is loaded whole, whatever of a manifest changes."""
    repo.commit("base", larger())
    cache = str(tmp_path / "cache")

    def once(**request: object) -> tuple[object, tuple[str, ...]]:
        workspace = open_workspace(repo.path, flags={}, environment=environment(repo), cache_dir=cache)
        outcome = diff_workspace(workspace, DiffRequest(**{"context": 0, **request}))
        return outcome.change, outcome.notes

    repo.commit("one", {"policies/policy.md": POLICY + "One.\n"})
    once(base="HEAD~1", head="HEAD")
    for name in ("fragment version", "fragment route", "fixture route", "new fragment", "template budget", "history"):
        files = {p: (repo.path / p).read_text() for p in larger()}
        before = dict(files)
        EDITS[name](files, random.Random(0))
        repo.commit(name, {p: t for p, t in files.items() if before.get(p) != t})
        change, notes = once(base="HEAD~1", head="HEAD")
        assert not any("everything is loaded" in n for n in notes), (name, notes)
        assert comparable(change) == comparable(diff_of(repo, base="HEAD~1", head="HEAD", whole=True)), name


def test_why_everything_was_loaded_is_said(repo: Repo) -> None:
    repo.commit("base", larger())
    repo.commit("head", {"ctxc.yaml": "model: cl100k_base\n"})
    workspace = open_workspace(repo.path, flags={}, environment=environment(repo), no_cache=True)
    outcome = diff_workspace(workspace, DiffRequest(base="HEAD~1", head="HEAD"))
    assert "everything is loaded: the configuration differs" in outcome.notes


def test_the_library_of_the_package_compares_projects() -> None:
    files = larger()
    base, head = ctxc.load(MemoryTree(files)), ctxc.load(MemoryTree({**files, "policies/policy.md": "New.\n"}))
    change = ctxc.diff(base, head)
    assert {"a", "b", "c", "child"} <= set(differing(change)) and "full" not in differing(change)
    assert by_id(change)["a"].sections[0].path == "policies/policy.md"
    assert ctxc.diff(base, base).is_empty
