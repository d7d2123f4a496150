"""Which files a fixture's compile can read: never fewer than it does read, and not everything."""

from __future__ import annotations

import json

import pytest

import ctxc
from ctxc.app.diff_index import Index, Resolver, index_from, index_of, index_text
from ctxc.source.memory import MemoryTree

FRAGMENT = "---\nfragment_id: {id}\nversion: {version}\nkind: {kind}\nload_mode: {mode}\n{more}---\nText of {id}.\n"


def fragment(id: str, mode: str = "route_match", *, when: str = "", requires: str = "", version: str = "1") -> str:
    more = (f"applies_when: {when}\n" if when else "") + (f"requires: {requires}\n" if requires else "")
    return FRAGMENT.format(id=id, mode=mode, more=more, kind="family", version=version)


def fixture(id: str, template: str, route: str, more: str = "") -> str:
    return f"fixture_id: {id}\ntemplate: {template}\nroute: {route}\ninputs: {{user: Hello{more}}}\n"


def project() -> dict[str, str]:
    user = "  - {id: user, source: runtime, required: true}\n"
    return {
        "templates/plain.yaml": (
            "template_id: plain\nversion: 1\nprovider: text\nroute: [area]\nsections:\n"
            "  - {id: policy, source: docs/policy.md, required: true}\n" + user
        ),
        "templates/rich.yaml": (
            "template_id: rich\nversion: 2\nprovider: openai\nmodel: gpt-4.1\nroute: [area, language]\n"
            "output_contract: answer\nsections:\n"
            "  - {id: tools, source: toolset}\n  - {id: fragments, kind: fragment, source: fragments}\n" + user
        ).replace("output_contract: answer", "request_profile: desk\noutput_contract: answer"),
        "templates/desk.yaml": "profile_id: desk\nversion: 1\ntoolset: ts\n",
        "templates/ts.yaml": "toolset_id: ts\nversion: 1.0.0\nmcp: tools.json\n",
        "templates/tools.json": '[{"name": "find", "description": "Find it.", "inputSchema": {"type": "object"}}]',
        "templates/answer.yaml": "contract_id: answer\nversion: 1\nschema: {type: object}\n",
        "docs/policy.md": "Be kind.\n",
        "docs/unused.md": "Nobody reads this.\n",
        "fragments/always.md": fragment("always", "always"),
        "fragments/billing.md": fragment("billing", when="{area: [billing]}", requires="[ledger]"),
        "fragments/german.md": fragment("german", when="{area: [billing, returns], language: [de]}"),
        "fragments/returns.md": fragment("returns", when="{area: [returns]}"),
        "fragments/ledger.md": fragment("ledger", "explicit", requires="[audit]"),
        "fragments/audit.md": fragment("audit", "explicit"),
        "fragments/named.md": fragment("named", "explicit"),
        "tests/fixtures/a.yaml": fixture("a", "plain", "{area: billing}"),
        "tests/fixtures/b.yaml": fixture("b", "rich", "{area: billing, language: en}"),
        "tests/fixtures/c.yaml": fixture("c", "rich", "{area: returns, language: de}"),
        "tests/fixtures/d.yaml": fixture("d", "rich", "{area: other, language: en}", ", fragments: [named]"),
    }


@pytest.fixture(scope="module")
def index() -> Index:
    loaded = ctxc.load(MemoryTree(project()))
    assert [f for f in loaded.findings if f.severity.value == "error"] == []
    return index_of(loaded)


RICH = (
    "templates/answer.yaml", "templates/desk.yaml", "templates/rich.yaml", "templates/tools.json", "templates/ts.yaml",
)  # fmt: skip


@pytest.mark.parametrize(
    ("name", "own"),
    [
        ("a", ("docs/policy.md", "templates/plain.yaml")),
        # billing needs ledger, which needs audit
        ("b", (*RICH, *(f"fragments/{n}.md" for n in ("always", "audit", "billing", "ledger")))),
        ("c", (*RICH, *(f"fragments/{n}.md" for n in ("always", "german", "returns")))),
        ("d", (*RICH, "fragments/always.md", "fragments/named.md")),
    ],
)
def test_the_files_of_a_fixture(index: Index, name: str, own: tuple[str, ...]) -> None:
    assert index.fixtures[name].files == tuple(sorted((*own, f"tests/fixtures/{name}.yaml")))


def test_what_each_file_defines_or_is_read_for(index: Index) -> None:
    found = index.objects()
    assert found["docs/policy.md"] == ["template plain"]
    assert found["templates/tools.json"] == ["toolset ts"]
    assert found["tests/fixtures/a.yaml"] == ["fixture a"]
    assert "docs/unused.md" not in found
    assert index.several() == frozenset()


def test_an_id_in_several_versions_makes_all_of_its_files_count() -> None:
    files = project() | {"fragments/returns2.md": fragment("returns", when="{area: [refunds]}", version="2")}
    index = index_of(ctxc.load(MemoryTree(files)))
    assert index.several() == {"fragments/returns.md", "fragments/returns2.md"}
    readers = [n for n, f in index.fixtures.items() if "fragments/returns2.md" in f.files]
    assert all("fragments/returns.md" in index.fixtures[n].files for n in readers)


def test_a_route_finds_its_candidates_by_one_condition_and_proves_them_by_all(index: Index) -> None:
    resolver = Resolver(index.entries)
    assert sorted(resolver.candidates({"area": ["billing"], "language": ["de"]})) == ["always", "billing", "german"]
    assert sorted(resolver.candidates({"area": ["returns"], "language": ["en"]})) == ["always", "returns"]
    assert sorted(resolver.candidates({"language": ["de"]})) == ["always"]
    assert resolver.newly(index.fixtures["c"], {"returns"})
    assert not resolver.newly(index.fixtures["c"], {"billing", "named"})


def test_the_set_is_never_smaller_than_what_the_compiler_reads() -> None:
    loaded = ctxc.load(MemoryTree(project()))
    index = index_of(loaded)
    checked = 0
    for name in loaded.fixtures:
        read = {p for p in ctxc.compile(loaded, name).dependencies if not p.startswith("ctxc:")}
        assert read <= set(index.fixtures[name].files), name
        checked += 1
    assert checked == 4


def test_a_version_that_is_named_counts_with_what_it_requires() -> None:
    files = project() | {
        "fragments/named2.md": fragment("named", "explicit", version="2"),
        "fragments/named.md": fragment("named", "explicit", requires="[ledger@1]"),
        "tests/fixtures/d.yaml": fixture("d", "rich", "{area: other, language: en}", ", fragments: [named@1]"),
    }
    loaded = ctxc.load(MemoryTree(files))
    read = {p for p in ctxc.compile(loaded, "d").dependencies if not p.startswith("ctxc:")}
    assert {"fragments/named.md", "fragments/ledger.md", "fragments/audit.md"} <= read
    assert read <= set(index_of(loaded).fixtures["d"].files)


def test_a_kept_index_is_the_same(index: Index) -> None:
    text = index_text(index)
    assert index_from(text) == index_from(text.encode()) == index
    assert text.isascii()


@pytest.mark.parametrize(
    ("place", "value"),
    [
        ((0,), 1),  # another format
        ((1, 0), 7),  # a path that is no text
        ((1,), "paths"),
        ((2, 0), ["fragment"]),  # a row that is too short
        ((2, 0, 1), None),
        ((2, 0, 3), -1),  # no path has that number
        ((2, 0, 3), 9999),
        ((2, 0, 5), [9999]),
        ((2, 0, 6), [["contract"]]),
        ((2, 0, 6), [["contract", 7]]),
        ((2, 0, 7), "[]"),
        ((2, 0, 7), "["),
        ((2, 0, 7), '["always",{"area":"billing"},[],"family"]'),
        ((3, 0, 0), ["a"]),
        ((3, 0, 1), {}),
        ((3, 0, 8), "named"),
        ((3, 0, 9), [-1]),
        ((3,), {"a": 1}),
    ],
)
def test_nothing_else_is_taken_for_an_index(index: Index, place: tuple[int, ...], value: object) -> None:
    """A cache is untrusted."""
    kept = json.loads(index_text(index))
    inner = kept
    for step in place[:-1]:
        inner = inner[step]
    inner[place[-1]] = value
    with pytest.raises(ValueError):
        index_from(json.dumps(kept))


@pytest.mark.parametrize("text", ["", "null", "{}", "[]", "[2,[],[]]", "[2,[],[],[[]]]", "[" * 100_000])
def test_no_text_of_another_shape_is_an_index(text: str) -> None:
    with pytest.raises(ValueError):
        index_from(text)
