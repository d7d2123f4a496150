"""Sources that cannot be read whole keep a request from being made; what is said names the file that is at fault."""

from __future__ import annotations

import pytest
from world import compiled

from ctxc.model.package import Outcome, Package
from ctxc.model.project import Settings
from ctxc.parse.load import load_project
from ctxc.providers import profile_ids, profile_text
from ctxc.source.memory import MemoryTree

TOOL = '{"name": "find", "description": "d", "inputSchema": {"type": "object"}}'
BROKEN = {
    "not JSON": '{"tools": [',
    "no list": '{"tools": 3}',
    "one without a name": f'{{"tools": [{TOOL}, {{"description": "x"}}]}}',
    "one twice": f'{{"tools": [{TOOL}, {TOOL}]}}',
}
TEMPLATE = "template_id: t\nversion: 1\nprovider: text\nsections:\n  - {id: policy, source: policies/p.md}\n"
FIXTURE = "fixture_id: f\ntemplate: t\ninputs: {user: Go on.}\n"


def package(files: dict[str, str | bytes]) -> Package:
    every = {"templates/t.yaml": TEMPLATE, "policies/p.md": "Be exact.\n", "tests/fixtures/f.yaml": FIXTURE, **files}
    shipped = {p: profile_text(p) for p in profile_ids()}
    project = load_project(MemoryTree(every), Settings(), builtin_providers=shipped)
    return compiled(project, project.fixtures["f"])


def told(found: Package) -> list[tuple[str, str, list[str]]]:
    return [(f"{f.location} {f.name}", f.help, [r.location.path for r in f.related]) for f in found.findings]


@pytest.mark.parametrize("listed", BROKEN.values(), ids=BROKEN)
@pytest.mark.parametrize("kept", ["named by path", "the list itself", "of a profile", "of a second profile"])
def test_no_request_is_made_with_the_tools_that_happen_to_be_in_order(listed: str, kept: str) -> None:
    toolset = "toolset_id: {id}\nversion: 1\nmcp: tools/list.json\n"
    files: dict[str, str | bytes] = {"tools/list.json": listed}
    where = "templates/t.yaml:6:25"
    if kept == "named by path":
        files["tools/set.yaml"] = toolset.format(id="s")
        files["templates/t.yaml"] = TEMPLATE + "  - {id: tools, source: tools/set.yaml}\n"
        places = ["tools/list.json", "tools/set.yaml"]
    elif kept == "the list itself":
        files["templates/t.yaml"] = TEMPLATE + "  - {id: tools, source: tools/list.json}\n"
        places = ["tools/list.json"]
    else:
        # The second set names the same list: it is lost as well, though the list is reported once.
        for name in ("a", "b"):
            files[f"templates/{name}.yaml"] = toolset.format(id=name)
            files[f"templates/profile_{name}.yaml"] = f"profile_id: {name}\nversion: 1\ntoolset: {name}\n"
        name = "a" if kept == "of a profile" else "b"
        files["tests/fixtures/f.yaml"] = FIXTURE + f"request_profile: {name}\n"
        places = ["tools/list.json", f"templates/{name}.yaml"]
        where = f"templates/profile_{name}.yaml:3:10"
    found = package(files)
    assert found.outcome is Outcome.INVALID
    assert found.request is None
    assert told(found) == [(f"{where} unknown-reference", "mend the findings of tools/list.json first", places)]


def test_a_whole_list_is_shown_whole() -> None:
    found = package(
        {
            "tools/list.json": f'{{"tools": [{TOOL}]}}',
            "tools/set.yaml": "toolset_id: s\nversion: 1\nmcp: list.json\n",
            "templates/t.yaml": TEMPLATE.replace("text", "openai") + "  - {id: tools, source: tools/set.yaml}\n",
        }
    )
    assert found.outcome is Outcome.COMPILED
    assert [t["function"]["name"] for t in (found.request or {})["tools"]] == ["find"]


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"Gr\xfc\xdfe\n", "byte 0xfc at offset 2 is not UTF-8"),
        (b"\x7fELF\x02\x01\x00\x00\xff\xfe\n", "the file is binary (a NUL byte at offset 6); expected UTF-8"),
    ],
)
def test_a_text_that_is_no_text_is_not_called_missing(data: bytes, message: str) -> None:
    found = package({"policies/p.md": data})
    assert found.outcome is Outcome.INVALID
    assert [(f"{f.location} {f.name}", f.message) for f in found.findings] == [
        ("templates/t.yaml:5:26 unreadable-file", f"section 'policy': 'policies/p.md': {message}")
    ]


def test_what_is_wrong_with_a_template_is_told_once_for_all_its_fixtures() -> None:
    files = {
        "templates/t.yaml": TEMPLATE + "cachable: true\n",
        **{f"tests/fixtures/{n}.yaml": FIXTURE.replace("fixture_id: f", f"fixture_id: {n}") for n in "ab"},
    }
    shipped = {p: profile_text(p) for p in profile_ids()}
    project = load_project(MemoryTree(files), Settings(), builtin_providers=shipped)
    found = [f for n in "ab" for f in compiled(project, project.fixtures[n]).findings]
    assert [f.fixture for f in found] == ["a", "b"]
    assert [(str(f.location), f.message, f.related) for f in found] == 2 * [
        ("templates/t.yaml:1:1", "template 't' could not be loaded: templates/t.yaml has errors", ())
    ]


def test_a_version_that_is_not_there_is_told_from_an_id_that_is_not() -> None:
    """To propose the id for `answer@2` would mend nothing that its author can see."""
    files: dict[str, str | bytes] = {
        "templates/t.yaml": TEMPLATE.replace("sections:", "output_contract: answer@2\nsections:"),
        "templates/c.yaml": "contract_id: answer\nversion: 1.4.0\nschema: {type: object}\n",
    }
    (finding,) = package(files).findings
    assert (finding.code, str(finding.location)) == ("CTX102", "templates/t.yaml:4:18")
    assert finding.message == "contract 'answer' has no version '2'; there is 1.4.0"
    assert finding.help == "name one that is there: answer@1.4.0"
