"""Fragments: manifests and front matter, paths, references, circles."""

from __future__ import annotations

import pytest
from parse_world import Load, short

from ctxc.base.canonical import digest_text
from ctxc.base.spans import Origin
from ctxc.model.finding import Severity
from ctxc.model.project import Settings


def entry(name: str, path: str = "a.md", **more: str) -> str:
    keys = {"fragment_id": name, "version": "1", "path": path, "kind": "core", "load_mode": "always", **more}
    return "{" + ", ".join(f"{k}: {v}" for k, v in keys.items() if v) + "}"


def test_body_hash_and_line_do_not_depend_on_the_checkout(load: Load) -> None:
    text = "---\nfragment_id: a\nversion: 1\nkind: core\nload_mode: always\n---\n\nBody ä.\nTwo.\n"
    for data in (text.encode(), text.replace("\n", "\r\n").encode()):
        project = load({"fragments/a.md": data})
        assert short(project) == []
        (fragment,) = project.fragments["a"]
        assert (fragment.body_line, fragment.text_path) == (7, "fragments/a.md")
        assert fragment.text_hash == digest_text("\nBody ä.\nTwo.\n")
        assert project.sources.body("fragments/a.md") == "\nBody ä.\nTwo.\n"
        assert fragment.origin == Origin("fragments/a.md", "")
        assert str(project.sources.locate(fragment.origin.child("kind"))) == "fragments/a.md:4:7"


def test_one_bad_entry_spoils_itself_only(load: Load) -> None:
    manifest = f"fragments:\n- {entry('a')}\n- {entry('b', kind='cor')}\n- {entry('c', path='')}\n- {entry('d')}\n"
    project = load({"fragments/m.yaml": manifest, "fragments/a.md": "A.\n"})
    assert short(project) == ["fragments/m.yaml:3:50 bad-value", "fragments/m.yaml:4:3 missing-key"]
    assert list(project.fragments) == ["a", "d"]
    assert "fragments/m.yaml" in project.broken


def test_a_path_is_relative_to_the_manifest_else_to_the_root_of_fragments(load: Load) -> None:
    manifest = f"fragments: [{entry('a', 'x/a.md')}, {entry('b', 'y/b.md')}]\n"
    files = {"fragments/sub/m.yaml": manifest, "fragments/sub/x/a.md": "A.\n", "fragments/y/b.md": "B.\n"}
    project = load(files)
    assert short(project) == []
    assert project.fragments["a"][0].text_path == "fragments/sub/x/a.md"
    assert project.fragments["b"][0].text_path == "fragments/y/b.md"
    both = load({**files, "fragments/x/a.md": "Other.\n"})
    assert short(both) == ["fragments/sub/m.yaml:1:48 ambiguous-path"]
    assert "fragments/sub/x/a.md and fragments/x/a.md" in both.findings[0].message


@pytest.mark.parametrize(
    ("path", "name", "said"),
    [
        ("b.md", "missing-file", 'did you mean "fragments/a.md"?'),
        ("A.md", "path-case", 'is spelt "fragments/a.md"'),
        ("../a.md", "path-outside", "'..'"),
        ("/etc/passwd", "path-outside", "absolute"),
        ("~root/.ssh/id_rsa", "path-outside", "'~'"),
        ("file:///etc/passwd", "path-outside", "colon"),
        ('"C:\\\\Windows\\\\win.ini"', "path-outside", "backslash"),
        ("CON", "path-outside", "device name"),
        ("a.md.", "path-outside", "ends in a dot"),
        ("'%2e%2e/x'", "missing-file", '"fragments/%2e%2e/x"'),
        ("．．/x", "missing-file", '"fragments/．．/x"'),
        (".git/config", "path-outside", "git's own folder"),
        ("out.md", "unreadable-file", "leaves the project"),
    ],
)
def test_paths_that_are_refused(load: Load, path: str, name: str, said: str) -> None:
    files = {"fragments/m.yaml": entry("a", path), "fragments/a.md": "A.\n"}
    links = {"fragments/out.md": "../../outside.md"} if path == "out.md" else None
    project = load(files, links=links)
    found = [f for f in project.findings if f.location.path == "fragments/m.yaml"]
    assert [f.name for f in found] == [name]
    assert said in found[0].message
    assert found[0].location.pointer == "/path"
    assert project.fragments == {}


def test_a_symbolic_link_that_leaves_the_project_is_reported_at_its_own_path(load: Load) -> None:
    project = load({"fragments/a.md": "A.\n"}, links={"fragments/out.md": "/proc/self/environ"})
    assert [(f.location.path, f.name) for f in project.findings] == [("fragments/out.md", "unreadable-file")]
    assert "leaves the project" in project.findings[0].message


def test_paths_that_differ_in_case_only_collide(load: Load) -> None:
    project = load({"fragments/a.md": "A.\n", "fragments/A.md": "B.\n"})
    assert [(f.name, f.data["paths"]) for f in project.findings] == [
        ("path-collision", ["fragments/A.md", "fragments/a.md"])
    ]


def test_requires_and_conflicts_have_to_mean_something(load: Load) -> None:
    manifest = f"- {entry('core.a', requires='[core.aa, core.b]', conflicts_with='[core.x]')}\n- {entry('core.b')}\n"
    project = load({"fragments/m.yaml": manifest, "fragments/a.md": "A.\n"})
    assert [(f.name, f.severity, f.location.pointer) for f in project.findings] == [
        ("unknown-fragment", Severity.ERROR, "/0/requires/0"),
        ("unknown-fragment", Severity.WARNING, "/0/conflicts_with/0"),
    ]
    assert 'did you mean "core.a"?' in project.findings[0].message


def test_circles_of_requires_name_the_chain(load: Load) -> None:
    manifest = "\n".join(
        f"- {entry(a, requires=f'[{b}]')}" for a, b in (("a", "b"), ("b", "c"), ("c", "b"), ("d", "d"))
    )
    project = load({"fragments/m.yaml": manifest, "fragments/a.md": "A.\n"})
    assert [(f.name, f.data["chain"], f.location.pointer) for f in project.findings] == [
        ("requires-cycle", ["b", "c", "b"], "/2/requires/0"),
        ("requires-cycle", ["d", "d"], "/3/requires/0"),
    ]


def test_what_a_load_mode_needs(load: Load) -> None:
    manifest = (
        f"- {entry('a', load_mode='route_match')}\n- {entry('b', load_mode='compacted')}\n"
        f"- {entry('c', load_mode='reference')}\n- {entry('d', requires='[a]', conflicts_with='[a]')}\n"
    )
    project = load({"fragments/m.yaml": manifest, "fragments/a.md": "A.\n"})
    assert [(f.name, f.severity.label, f.location.pointer) for f in project.findings] == [
        ("missing-key", "error", "/0"),
        ("missing-key", "error", "/1"),
        ("missing-key", "warning", "/2"),
        ("bad-value", "error", "/3/conflicts_with"),
    ]
    assert list(project.fragments) == ["c"]


def test_the_same_id_and_version_twice(load: Load) -> None:
    files = {
        "fragments/m1.yaml": f"- {entry('a')}\n- {entry('a', version='2', load_mode='explicit')}\n",
        "fragments/m2.yaml": f"- {entry('a', version='v1')}\n",
        "fragments/a.md": "A.\n",
    }
    project = load(files)
    assert short(project) == ["fragments/m2.yaml:1:17 duplicate-id"]
    assert project.findings[0].data == {"first": "fragments/m1.yaml", "first_pointer": "/0"}
    assert [(str(r.location), r.message) for r in project.findings[0].related] == [
        ("fragments/m1.yaml:1:3", "the first")
    ]
    assert [f.version for f in project.fragments["a"]] == ["1", "2"]


def test_a_name_that_has_several_versions(load: Load) -> None:
    manifest = f"- {entry('a')}\n- {entry('a', version='2', load_mode='explicit')}\n- {entry('b', requires='[a]')}\n"
    manifest += (
        f"- {entry('c', requires='[a@1]')}\n- {entry('d', requires='[a@3]')}\n- {entry('e', requires='[a_v2]')}\n"
    )
    project = load({"fragments/m.yaml": manifest, "fragments/a.md": "A.\n"})
    assert [(f.name, f.location.pointer, f.severity.label) for f in project.findings] == [
        ("ambiguous-id", "/2/requires/0", "warning"),
        ("unknown-fragment", "/4/requires/0", "error"),
    ]
    assert "there is 1, 2" in project.findings[1].message


@pytest.mark.parametrize(
    ("text", "where", "name"),
    [
        ("---\ntemplate_id: x\n---\nbody\n", "2:1", "front-matter"),
        ("---\nfragmnt_id: x\n---\nbody\n", "2:1", "unknown-file-kind"),
        ("---\nfragment_id: x\nkind: core\n", "1:1", "front-matter"),
        ("---\n- x\n---\n", "1:1", "front-matter"),
        ("---\nfragment_id: a\nkind: core\nload_mode: always\npath: x.md\n---\n", "5:1", "unknown-key"),
        ("---\nfragment_id: a\nkind: core\nlod_mode: always\n---\n", "2:1", "missing-key"),
    ],
)
def test_faults_of_front_matter(load: Load, text: str, where: str, name: str) -> None:
    project = load({"fragments/a.md": text})
    assert short(project)[0] == f"fragments/a.md:{where} {name}"
    assert project.fragments == {}
    assert "fragments/a.md" in project.broken


def test_metadata_of_somebody_else_is_not_judged(load: Load) -> None:
    project = load({"policies/a.md": "---\ntitle: T\ntags: [x]\nctxc_ignore: [CTX301]\n---\nBody.\n"})
    assert short(project) == []
    assert project.sources.body("policies/a.md") == "Body.\n"


def test_faults_of_texts_are_reported_at_the_text(load: Load) -> None:
    project = load({"fragments/m.yaml": entry("a"), "fragments/a.md": b"x\n\xff\n"})
    assert short(project) == ["fragments/a.md:2:1 wrong-encoding"]
    assert project.fragments == {}
    assert set(project.broken) == {"fragments/m.yaml", "fragments/a.md"}


def test_other_folders(load: Load) -> None:
    settings = Settings(templates=("./prompts/",), fragments=("parts",), policies=(), fixtures=("cases",))
    files = {"parts/sub/m.yaml": entry("a", "x/a.md"), "parts/x/a.md": "A.\n", "fragments/b.md": "---\nbroken"}
    files |= {"prompts/p.md": "P.\n", "cases/c.md": "C.\n"}
    project = load(files, settings=settings)
    assert short(project) == []
    assert list(project.fragments) == ["a"]


def test_a_key_that_is_missing_is_told_with_what_it_may_be(load: Load) -> None:
    project = load({"fragments/a.md": "---\nfragment_id: a\nversion: 1\n---\nA.\n"})
    helps = [f.help for f in project.findings if f.name == "missing-key"]
    assert helps[0] == "add `kind:`, one of core, family, task, capability"
    assert helps[1].startswith("add `load_mode:`, one of always, route_match")
