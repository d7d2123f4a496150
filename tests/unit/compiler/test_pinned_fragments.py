"""``id@version`` where a fragment is named: by a fixture, by ``requires`` and by ``conflicts_with``."""

from __future__ import annotations

import json
from collections.abc import Sequence

import pytest

import ctxc
from ctxc.model.package import Outcome, Package
from ctxc.source.memory import MemoryTree

TEMPLATE = (
    "template_id: t\nversion: 1\nprovider: text\nsections:\n"
    "  - {id: prompt, kind: fragment, source: fragments}\n  - {id: user, source: runtime}\n"
)


def text(id: str, version: str, mode: str = "explicit", **more: Sequence[str]) -> str:
    keys = {"fragment_id": id, "version": version, "kind": "core", "load_mode": mode, **more}
    head = "".join(f"{key}: {json.dumps(value)}\n" for key, value in keys.items())
    return f"---\n{head}---\nText of {id} {version}.\n"


def compiled(named: Sequence[str] = (), **files: str) -> Package:
    tree = {f"fragments/{name}.md": body for name, body in files.items()}
    inputs = json.dumps({"user": "hi", "fragments": list(named)})
    tree |= {"templates/t.yaml": TEMPLATE, "tests/fixtures/f.yaml": f"fixture_id: f\ntemplate: t\ninputs: {inputs}\n"}
    return ctxc.compile(ctxc.load(MemoryTree(tree)), "f")


def loaded(package: Package) -> list[tuple[str, str]]:
    assert package.outcome is Outcome.COMPILED, package.findings
    return [(p.section.item_id, p.section.source_version) for p in package.placed if p.section.slot == "prompt"]


@pytest.mark.parametrize("name", ["a@1", "a@v1", "a_v1"])
def test_a_fixture_names_a_version(name):
    assert loaded(compiled([name], a1=text("a", "1"), a2=text("a", "2"))) == [("a", "1")]


def test_a_requirement_names_a_version_and_is_followed_from_there():
    package = compiled(
        a=text("a", "1", "always", requires=["b@1"]),
        b1=text("b", "1", requires=["c"]),
        b2=text("b", "2", requires=["d"]),
        c=text("c", "1"),
        d=text("d", "1"),
    )
    assert loaded(package) == [("a", "1"), ("b", "1"), ("c", "1")]


def test_a_version_that_is_not_there_is_an_error():
    package = compiled(a=text("a", "1", "always", requires=["b@3"]), b=text("b", "2"))
    assert package.outcome is Outcome.INVALID
    assert package.findings[0].name == "unknown-fragment"


def test_two_versions_of_one_fragment_never_meet():
    package = compiled(["b@2"], a=text("a", "1", "always", requires=["b@1"]), b1=text("b", "1"), b2=text("b", "2"))
    assert package.outcome is Outcome.INVALID
    finding = package.findings[0]
    assert finding.name == "fragment-conflict"
    assert finding.message == "fragment 'b' is needed in two versions: 2 (explicit) and 1 (required by a)"
    assert finding.location.path == "fragments/a.md"


def test_a_conflict_with_a_version_is_one_with_that_version_alone():
    a = text("a", "1", "always", conflicts_with=["b@2"])
    assert loaded(compiled(["b@1"], a=a, b1=text("b", "1"), b2=text("b", "2"))) == [("a", "1"), ("b", "1")]
    refused = compiled(["b@2"], a=a, b1=text("b", "1"), b2=text("b", "2"))
    assert refused.findings[0].name == "fragment-conflict"


def test_a_circle_through_an_older_version_is_told_where_it_closes():
    tree = {
        "templates/t.yaml": TEMPLATE,
        "fragments/a.md": text("a", "1", "always", requires=["b@1"]),
        "fragments/b1.md": text("b", "1", requires=["a"]),
        "fragments/b2.md": text("b", "2"),
        "tests/fixtures/f.yaml": "fixture_id: f\ntemplate: t\ninputs: {user: hi}\n",
    }
    project = ctxc.load(MemoryTree(tree))
    told = [f for f in project.findings if f.name == "requires-cycle"]
    assert [(f.location.path, f.message.rpartition(": ")[2]) for f in told] == [("fragments/b1.md", "a -> b -> a")]
    assert ctxc.compile(project, "f").outcome is Outcome.INVALID


def test_several_versions_that_routes_load_are_told():
    tree = {
        "templates/t.yaml": TEMPLATE,
        "fragments/a.md": text("a", "2", "always"),
        "fragments/b.md": text("a", "1", "always"),
        "fragments/c.md": text("c", "1"),
        "fragments/d.md": text("c", "2"),
        "tests/fixtures/f.yaml": "fixture_id: f\ntemplate: t\ninputs: {user: hi}\n",
    }
    told = [f for f in ctxc.load(MemoryTree(tree)).findings if f.name == "ambiguous-id"]
    assert [(f.location.path, f.severity.label) for f in told] == [("fragments/b.md", "warning")]
    assert "(2, 1); routes load the last, 1" in told[0].message
