"""One entry of a manifest that cannot be used: whom it touches, where it is told, and what is not told beside it."""

from __future__ import annotations

import pytest
from world import compiler

from ctxc.app.workspace import load_tree
from ctxc.model.fragment import LoadMode
from ctxc.model.package import Package
from ctxc.model.project import Project
from ctxc.source.memory import MemoryTree

GOOD = "{fragment_id: core.a, version: 1, path: a.md, kind: core, load_mode: always}"
TEMPLATE = (
    "template_id: t\nversion: 1\nprovider: openai\nmodel: gpt-4.1\nsections:\n"
    "  - {id: fragments, kind: fragment, source: fragments}\n  - {id: user, source: runtime, required: true}\n"
)


def fixture(name: str, topic: str, fragments: str = "") -> str:
    return (
        f"fixture_id: {name}\ntemplate: t\nroute: {{topic: {topic}}}\ninputs: {{user: Hello.{fragments}}}\n"
        "expect: {loaded: [core.a], not_loaded: [task.x, family.y]}\n"
    )


def load(entry: str, **more: str) -> Project:
    """Three fixtures, of which one is about x, and a manifest with a good entry and the given one."""
    files = {
        "templates/t.yaml": TEMPLATE,
        "fragments/m.yaml": f"fragments:\n  - {GOOD}\n  - {entry}\n",
        "fragments/a.md": "Be kind.\n",
        "fragments/x.md": "About x.\n",
        "tests/fixtures/x.yaml": fixture("x", "x"),
        "tests/fixtures/y.yaml": fixture("y", "y"),
        "tests/fixtures/z.yaml": fixture("z", "z", ", fragments: [task.x]"),
        **{k.replace("__", "/").replace("_dot_", "."): v for k, v in more.items()},
    }
    return load_tree(MemoryTree(files))


def packages(project: Project) -> dict[str, Package]:
    return {name: compiler(project).compile(f) for name, f in project.fixtures.items()}


def invalid(project: Project) -> str:
    return "".join(sorted(n for n, p in packages(project).items() if p.outcome.value == "invalid"))


X = "fragment_id: task.x, version: 1, kind: task"


@pytest.mark.parametrize(
    ("entry", "touched"),
    [
        # The entry is whole: all fixtures compile.
        (f"{{{X}, path: x.md, load_mode: route_match, applies_when: {{topic: [x]}}}}", ""),
        # Its text is missing, or a key of it is wrong: those that its route meets, and those that name it.
        (f"{{{X}, path: no.md, load_mode: route_match, applies_when: {{topic: [x]}}}}", "xz"),
        (f"{{{X}, load_mode: route_match, applies_when: {{topic: [x]}}}}", "xz"),
        (f"{{{X}, path: ../x.md, load_mode: reference, applies_when: {{topic: [x]}}}}", "xz"),
        (f"{{{X}, path: x.md, load_mode: route_match, applies_when: {{topic: [x]}}, priority: high}}", "xz"),
        (f"{{{X}, path: x.md, load_mode: auto_candidate, applies_when: {{topic: [x]}}, owners: me}}", "xz"),
        (f"{{{X.replace('kind: task', 'kind: tusk')}, path: x.md, load_mode: explicit}}", "z"),
        (f"{{{X}, path: no.md, load_mode: always}}", "xyz"),
        # Nobody can tell whom it touches.
        (f"{{{X}, path: x.md, load_mode: route_match}}", "xyz"),
        (f"{{{X}, path: x.md, load_mode: rout_match, applies_when: {{topic: [x]}}}}", "xyz"),
        (f"{{{X}, path: x.md, load_mode: route_match, applies_when: [topic]}}", "xyz"),
        (f"{{{X}, path: x.md, load_mode: auto_candidate, aplies_when: {{topic: [x]}}}}", "xyz"),
        ("{version: 1, kind: task, path: x.md, load_mode: route_match, applies_when: {topic: [x]}}", "xyz"),
        ("{fragment_id: [task.x], kind: task, path: x.md, load_mode: explicit}", "xyz"),
        ("just a text", "xyz"),
    ],
)
def test_who_is_touched(entry: str, touched: str) -> None:
    project = load(entry)
    assert invalid(project) == touched
    assert [f.name for f in project.findings if f.name in ("unknown-fragment", "unknown-reference")] == []
    if touched:
        assert {(x.origin.path, x.origin.pointer) for x in project.lost_fragments} == {
            ("fragments/m.yaml", "/fragments/1")
        }
        for package in packages(project).values():
            for finding in package.findings:
                assert (finding.code, finding.location.path) == ("CTX113", "fragments/m.yaml")
                assert finding.location.span is not None
                assert finding.location.span[:2] == (3, 5)


def test_a_fixture_that_needs_it_through_another_is_touched() -> None:
    entry = f"{{{X}, path: no.md, load_mode: explicit}}"
    needs = "---\nfragment_id: family.y\nversion: 1\nkind: family\nload_mode: route_match\napplies_when: {topic: [y]}\n"
    project = load(entry, fragments__y_dot_md=f"{needs}requires: [task.x]\n---\nAbout y.\n")
    assert invalid(project) == "yz"
    (finding,) = packages(project)["y"].findings
    assert finding.message == "fragment 'task.x' could not be loaded, and 'family.y' requires it"


def test_an_older_version_does_not_stand_in() -> None:
    entry = (
        f"{{{X}, path: x.md, load_mode: route_match, applies_when: {{topic: [y]}}}}\n"
        f"  - {{{X.replace('version: 1', 'version: 2')}, path: no.md, load_mode: route_match, "
        "applies_when: {topic: [x]}}"
    )
    assert invalid(load(entry)) == "xyz"


def test_what_is_known_of_an_entry_is_kept() -> None:
    project = load(f"{{{X}, path: sub/no.md, load_mode: route_match, applies_when: {{topic: [x, w]}}}}")
    (lost,) = project.lost_fragments
    assert (lost.id, lost.load_mode, lost.applies_when) == ("task.x", LoadMode.ROUTE_MATCH, {"topic": ("x", "w")})
    assert lost.text_paths == ("fragments/sub/no.md", "fragments/sub/no.md")
    assert project.lost["fragment"] == {"task.x"}


@pytest.mark.parametrize(
    ("path", "text", "touched"),
    [
        # Broken as a whole: it may define any fragment.
        ("fragments/n.yaml", "fragments:\n  - {fragment_id: q\n", "xyz"),
        ("fragments/n.json", '{"fragments": [{"fragment_id": "q", ]}', "xyz"),
        ("tests/fixtures/n.json", '[{"version": "1", "fragment_id": "q", ]', "xyz"),
        ("fragments/n.yaml", "fragments: {fragment_id: q}\n", "xyz"),
        ("fragments/n.yaml", "fragments: []\nmore: 1\n", "xyz"),
        ("fragments/n.md", "---\nfragment_id: q\nversion: [\n---\nText.\n", "xyz"),
        ("fragments/n.yaml", "fragmnt_id: q\n", "xyz"),
        ("fragments/n.md", "---\nfragment_id: q\nkind: core\n---\nText.\n", "xyz"),
        # Something else, or nothing of ours.
        ("fragments/n.yaml", "template_id: q\nversion: [\n", ""),
        ("fragments/n.yaml", "templat_id: q\n", ""),
        ("tests/fixtures/n.yaml", "fixture_id: q\ninputs: {fragments: [\n", ""),
        ("tests/fixtures/n.json", '{"messages": [1, 2', ""),
        ("policies/n.md", "---\ntitle: [\n---\nText.\n", ""),
    ],
)
def test_broken_files(path: str, text: str, touched: str) -> None:
    project = load(f"{{{X}, path: x.md, load_mode: explicit}}", **{path.replace(".", "_dot_"): text})
    assert any(f.severity.name == "ERROR" for f in project.findings)
    assert invalid(project) == touched


def test_a_text_that_cannot_be_decoded_is_one_entry_only() -> None:
    files = {
        "templates/t.yaml": TEMPLATE,
        "fragments/m.yaml": f"- {GOOD}\n- {{{X}, path: x.md, load_mode: explicit}}\n",
        "fragments/a.md": "Be kind.\n",
        "fragments/x.md": b"caf\xe9\n",
        "tests/fixtures/y.yaml": fixture("y", "y"),
        "tests/fixtures/z.yaml": fixture("z", "z", ", fragments: [task.x]"),
    }
    project = load_tree(MemoryTree(files))
    assert invalid(project) == "z"
    # Nothing names it: then it may be a fragment itself.
    files["fragments/m.yaml"] = f"- {GOOD}\n"
    assert invalid(load_tree(MemoryTree(files))) == "yz"


def test_no_rule_calls_the_entry_unknown_and_its_text_forgotten() -> None:
    from ctxc.rules import expectation_names_nothing, orphan_file
    from ctxc.rules.engine import Context

    project = load(f"{{{X}, path: x.md, load_mode: route_match, applies_when: {{topic: [x]}}, priority: high}}")
    context = Context(project=project, tree=project.sources.tree, now="2026-11-30", tokenizers=None, params={})  # type: ignore
    told = [f.message for f in expectation_names_nothing.check(context)]
    # family.y is a mistake that nothing broken explains.
    assert {m.partition(" is called ")[2].split()[0] for m in told} == {"'family.y'"}
    assert len(told) == 3
    assert [f.location.path for f in orphan_file.check(context)] == []
