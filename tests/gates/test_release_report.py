"""The report of a real run of the gate: what it holds, and the same bytes wherever and however it is made."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import jsonschema
import pytest
from gate_world import RULES, GateWorld
from shell import Run, clean_environment

from ctxc.report.releases import format_ids

FORMATS = format_ids()
WAIVER = {
    "rule": "FF-2", "path": "policies/desk.md", "owner": "desk", "reason": "published mailbox",
    "created": "2026-11-01", "expires": "2027-02-28",
}  # fmt: skip


def changed(world: GateWorld) -> None:
    """A change that the report has something to say of in each of its parts."""
    text = (world.root / "policies/production.yaml").read_text(encoding="utf-8")
    world.change({"policies/production.yaml": text + f"waivers: [{json.dumps(WAIVER)}]\n"})
    world.base = world.repo.commit("waiver")
    world.change({"policies/desk.md": RULES + "Write to jane.roe@kettle-works.com.\n"})
    world.edit("fragments/refund.md", "has to be sent back", "to send back")
    world.bump("template", "profile")


def run(world: GateWorld, folder: Path, *arguments: str, **environment: str) -> subprocess.CompletedProcess[bytes]:
    folder.mkdir(parents=True, exist_ok=True)
    command = [sys.executable, "-m", "ctxc", "-C", str(world.root), "--no-cache", "--now", "2026-11-30", "gate"]
    return subprocess.run(
        [*command, "--against", world.base, *arguments],
        cwd=folder, env={**clean_environment(), **environment}, capture_output=True, check=False,
    )  # fmt: skip


def written(world: GateWorld, folder: Path, **environment: str) -> dict[str, bytes]:
    """The report in every format, of one run."""
    outputs = [f"--output={name}:{folder / name}" for name in FORMATS]
    done = run(world, folder, *outputs, **environment)
    assert done.returncode == 1, done.stderr.decode()
    assert done.stdout == (folder / "text").read_bytes()
    return {name: (folder / name).read_bytes() for name in FORMATS}


@pytest.fixture(scope="module")
def reports(tmp_path_factory: pytest.TempPathFactory) -> tuple[GateWorld, dict[str, bytes]]:
    """One project with a change, and its report in every format."""
    folder = tmp_path_factory.mktemp("release")
    world = GateWorld(folder / "project")
    changed(world)
    return world, written(world, folder / "one", PYTHONHASHSEED="1", TZ="UTC", LC_ALL="C.UTF-8")


ENVIRONMENTS = {
    "another seed": {"PYTHONHASHSEED": "2"},
    "east": {"TZ": "Asia/Tokyo", "LC_ALL": "de_DE.UTF-8", "PYTHONHASHSEED": "3"},
    "west": {"TZ": "America/Los_Angeles", "LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONHASHSEED": "4"},
    "narrow": {"PYTHONIOENCODING": "cp1252", "LANG": "tr_TR.UTF-8", "COLUMNS": "40", "TERM": "dumb"},
}


@pytest.mark.parametrize("name", ENVIRONMENTS)
def test_every_format_is_byte_identical(reports: tuple[GateWorld, dict[str, bytes]], tmp_path: Path, name: str) -> None:
    world, expected = reports
    found = written(world, tmp_path / name.replace(" ", "-") / "deep", **ENVIRONMENTS[name])
    assert [f for f in FORMATS if found[f] != expected[f]] == []


def test_the_cache_changes_no_byte(reports: tuple[GateWorld, dict[str, bytes]], tmp_path: Path) -> None:
    world, expected = reports
    for number in ("cold", "warm"):
        folder = tmp_path / number
        folder.mkdir()
        outputs = [f"--output={name}:{folder / name}" for name in FORMATS]
        command = [sys.executable, "-m", "ctxc", "-C", str(world.root), "--now", "2026-11-30"]
        command += ["--cache-dir", str(tmp_path / "cache"), "gate", "--against", world.base, *outputs]
        done = subprocess.run(command, cwd=folder, env=clean_environment(), capture_output=True, check=False)
        assert done.returncode == 1
        # Code frames aside, which need the files: they are read again in a warm run as well.
        assert [f for f in FORMATS if (folder / f).read_bytes() != expected[f]] == []


def test_nothing_of_the_machine_is_in_a_report(reports: tuple[GateWorld, dict[str, bytes]]) -> None:
    world, found = reports
    for name, data in found.items():
        assert str(world.root).encode() not in data, name
        assert str(world.root.parent).encode() not in data, name
        assert os.uname().nodename.encode() not in data, name
        assert b"\r" not in data
        assert data == b"" or data.endswith(b"\n")
        assert not re.search(rb"\d\d:\d\d:\d\d", data), f"{name} holds a time of day"


def test_what_changed_is_what_the_step_versions_counts(world: GateWorld) -> None:
    """A template changes with the text that it shows, though its own file is as it was."""
    world.edit("policies/desk.md", "Answer from the evidence.", "Answer briefly, from the evidence.")
    run = world.judge()
    (versions,) = [g for g in run.report.gates if g.id == "versions"]
    assert versions.message == "2 of 7 objects changed"
    moved = [(s.kind, s.id, s.status) for s in run.release.shipped if s.status != "same"]
    assert moved == [("template", "desk", "changed"), ("profile", "front", "changed")]


@pytest.mark.parametrize("name", FORMATS)
def test_the_status_does_not_depend_on_the_format(
    reports: tuple[GateWorld, dict[str, bytes]], run_here: Run, tmp_path: Path, name: str
) -> None:
    world, expected = reports
    arguments = ("-C", str(world.root), "--no-cache", "--now", "2026-11-30", "gate", "--against", world.base)
    done = run_here(tmp_path, *arguments, "--format", name, CI="")
    assert done.returncode == 1
    assert done.stdout == expected[name]
    if name == "sarif":
        assert run_here(tmp_path, *arguments, "--format", name, "--fail-on", "never", CI="").returncode == 0


def test_the_report_says_what_ships_what_was_checked_what_changed_what_it_costs_and_what_was_waived(
    reports: tuple[GateWorld, dict[str, bytes]],
) -> None:
    _, found = reports
    value = json.loads(found["json"])
    release = value["release"]
    kinds = {"template", "fragment", "contract", "toolset", "profile", "policy", "provider", "tokenizer"}
    assert {s["kind"] for s in release["shipped"]} == kinds
    changed = {(s["kind"], s["id"], s["status"]) for s in release["shipped"] if s["status"] != "same"}
    assert changed == {
        ("template", "desk", "changed"), ("profile", "front", "changed"), ("fragment", "task.refund", "changed"),
    }  # fmt: skip
    assert len(value["gates"]) == 14
    assert all(g["checked"] > 0 for g in value["gates"] if g["status"] in ("passed", "failed"))
    assert [c["fixture"] for c in release["changes"]] == ["hours", "long", "refund"]
    (cost,) = release["costs"]
    assert cost["template"] == "desk"
    assert float(cost["cold"]) >= float(cost["warm"]) > 0
    assert release["prices"]
    (waiver,) = release["waivers"]
    assert (waiver["rule"], waiver["state"], waiver["expires"], waiver["count"]) == ("FF-2", "used", "2027-02-28", 1)
    assert [f["suppressed"]["until"] for f in value["suppressed"]] == ["2027-02-28"]
    plain = {n: re.sub(r"&#(\d+);", lambda m: chr(int(m[1])), found[n].decode()) for n in ("markdown", "html")}
    for name, text in plain.items():
        for word in (
            release["bundle"], "What was checked", "What changed", "What it costs", "What was waived", "What ships",
            "task.refund", "published mailbox", "2027-02-28", "missing-bump" if name == "html" else "CTX7",
        ):  # fmt: skip
            assert word in text, (name, word)
        for gate in value["gates"]:
            assert gate["id"] in text, (name, gate["id"])


def test_machine_formats_are_of_their_schemas(reports: tuple[GateWorld, dict[str, bytes]]) -> None:
    _, found = reports
    root = Path(__file__).parents[2]

    def schema(path: str) -> Any:
        return json.loads((root / path).read_text(encoding="utf-8"))

    jsonschema.validate(json.loads(found["json"]), schema("ctxc/report/schemas/report.schema.json"))
    log = json.loads(found["sarif"])
    jsonschema.Draft4Validator(schema("tests/schemas/sarif-2.1.0.json")).validate(log)
    assert [r["ruleId"] for r in log["runs"][0]["results"] if "suppressions" in r] == ["CTX340"]
    jsonschema.validate(json.loads(found["gitlab"]), schema("tests/schemas/gitlab-codequality.json"))


def test_a_passed_and_a_failed_gate_are_cases_of_junit(reports: tuple[GateWorld, dict[str, bytes]]) -> None:
    _, found = reports
    suites = {s.get("name"): s for s in ElementTree.fromstring(found["junit"]).iter("testsuite")}
    gates = json.loads(found["json"])["gates"]
    assert list(suites) == [*(g["id"] for g in gates), "findings"]
    for gate in gates:
        failed = suites[gate["id"]].get("failures") == "1"
        assert failed == (gate["status"] == "failed")
    assert {g["id"] for g in gates if g["status"] == "failed"} == {"versions"}


def test_the_page_loads_nothing(reports: tuple[GateWorld, dict[str, bytes]]) -> None:
    page = reports[1]["html"].decode()
    assert re.findall(r"""(?:src|href|action|data|poster|srcset)\s*=""", page) == []
    assert "<script" not in page
    assert "url(" not in page
    assert "@import" not in page
    assert "default-src 'none'" in page
    assert page.count("<html") == page.count("</html>") == 1
