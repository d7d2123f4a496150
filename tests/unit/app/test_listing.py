"""Listings, schemas and checks."""

from __future__ import annotations

import json
from pathlib import Path

import jsonschema
import pytest

from ctxc.app.doctor import checks
from ctxc.app.init import write_starter
from ctxc.app.listing import kinds, listing, names, project_kinds
from ctxc.app.schemas import kinds as schema_kinds
from ctxc.app.schemas import output_kinds, schema_text
from ctxc.app.workspace import Workspace, open_workspace
from ctxc.base.errors import UsageError
from ctxc.report import View
from ctxc.report._lists import doctor_json, doctor_text, lists_json, lists_text

ROOT = Path(__file__).parents[3]


@pytest.fixture
def workspace(starter: Path) -> Workspace:
    return open_workspace(starter, flags={}, environment={"PATH": "/nowhere"}, no_cache=True)


def test_what_a_project_holds(workspace: Workspace) -> None:
    assert names(workspace, "fixtures") == ["opening_hours", "refund_question"]
    assert names(workspace, "templates") == ["helpdesk"]
    assert names(workspace, "fragments") == ["core.sources", "task.refund"]
    assert names(workspace, "policies") == ["production"]
    assert "openai" in names(workspace, "providers")
    assert "o200k_base" in names(workspace, "tokenizers")
    assert listing(workspace, "fixtures")[0]["path"] == "tests/fixtures/opening_hours.yaml"


@pytest.mark.parametrize("kind", kinds())
def test_every_listing_is_valid_and_drawn(workspace: Workspace, kind: str) -> None:
    groups = {kind: listing(workspace, kind)}
    schema = json.loads((ROOT / "ctxc/report/schemas/list.schema.json").read_text())
    jsonschema.validate(json.loads(lists_json(groups)), schema)
    for width in (None, 80, 200):
        text = lists_text(groups, View(width=width))
        assert text
        assert width is None or all(len(line) <= width for line in text.splitlines())


def test_an_unknown_kind_names_the_nearest(workspace: Workspace) -> None:
    with pytest.raises(UsageError) as caught:
        listing(workspace, "fixture")
    assert "did you mean fixtures?" in caught.value.help
    assert set(project_kinds()) < set(kinds())


@pytest.mark.parametrize("kind", schema_kinds())
def test_every_schema_is_a_schema(kind: str) -> None:
    schema = json.loads(schema_text(kind))
    jsonschema.Draft202012Validator.check_schema(schema)
    assert schema["$schema"] == "https://json-schema.org/draft/2020-12/schema"
    if kind in output_kinds():
        assert schema["$id"] == f"ctxc.{kind}/1"


def test_an_unknown_schema_names_the_nearest() -> None:
    with pytest.raises(UsageError) as caught:
        schema_text("tempalte")
    assert "did you mean template?" in caught.value.help


def test_doctor_checks_what_it_says(workspace: Workspace) -> None:
    found = checks(workspace, encoding="utf-8", terminal="80 columns")
    by_id = {c.id: c for c in found}
    assert [c.message for c in found if c.id == "vocabulary"] == [
        "cl100k_base: 100,256 tokens, sha256 as published",
        "o200k_base: 199,998 tokens, sha256 as published",
    ]
    assert by_id["git"].status == "warning"
    assert by_id["git"].remedy
    assert by_id["cache"].status == "warning"
    assert by_id["terminal"].status == "ok"
    values = [{"id": c.id, "status": c.status, "message": c.message, "remedy": c.remedy} for c in found]
    schema = json.loads((ROOT / "ctxc/report/schemas/doctor.schema.json").read_text())
    jsonschema.validate(json.loads(doctor_json(values)), schema)
    assert "✓ python" in doctor_text(values, View())


@pytest.mark.parametrize("below", ["", "deeper"])
def test_doctor_finds_a_cache_that_is_a_file(tmp_path: Path, below: str) -> None:
    (tmp_path / "cache").write_text("", encoding="utf-8")
    opened = open_workspace(tmp_path, flags={}, environment={}, cache_dir=str(tmp_path / "cache" / below))
    (found,) = [c for c in checks(opened, encoding="utf-8", terminal="") if c.id == "cache"]
    assert (found.status, found.remedy != "") == ("warning", True)
    assert f"{tmp_path / 'cache'} is a file" in found.message


def test_doctor_finds_a_damaged_vocabulary(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    from ctxc.tokens import vocabulary

    (tmp_path / "o200k_base.bin").write_bytes(b"damaged")
    original = vocabulary.load_ranks
    monkeypatch.setattr(vocabulary, "load_ranks", lambda v: original(v, tmp_path))
    found = [c for c in checks(workspace, encoding="cp1252", terminal="") if c.id in ("vocabulary", "terminal")]
    assert [c.status for c in found] == ["error", "error", "warning"]
    assert all(c.remedy for c in found)


def test_a_tool_file_that_a_section_names_by_path_is_listed_once(tmp_path: Path) -> None:
    write_starter(tmp_path)
    (tmp_path / "templates/tools.yaml").write_text(
        "toolset_id: shop\nversion: 1.0.0\ntools: [{name: find, description: Find., input_schema: {type: object}}]\n"
    )
    template = tmp_path / "templates/helpdesk.yaml"
    template.write_text(template.read_text() + "  - {id: tools, source: templates/tools.yaml}\n")
    work = open_workspace(tmp_path, flags={}, environment={}, no_cache=True)
    assert [(i["id"], i["path"]) for i in listing(work, "toolsets")] == [("shop", "templates/tools.yaml")]
