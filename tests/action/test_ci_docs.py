"""The page on CI: its workflows are such, its tables say what the action has, and its commands run."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
import yaml
from actions import ROOT, action
from gate_world import files
from pull_requests import reworded
from repos import Repo

PAGE = (ROOT / "docs/ci.md").read_text(encoding="utf-8")


def blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```", PAGE, re.DOTALL | re.MULTILINE)


def file(name: str) -> Any:
    return yaml.safe_load(next(b for b in blocks("yaml") if b.startswith(f"# {name}\n")))


def test_the_workflow_uses_inputs_and_outputs_that_exist() -> None:
    found = file(".github/workflows/context.yml")
    steps = found["jobs"]["gate"]["steps"]
    use = next(s for s in steps if "/.github/actions/ctxc@" in s.get("uses", ""))
    assert set(use["with"]) <= set(action()["inputs"])
    text = next(b for b in blocks("yaml") if "actions/ctxc@" in b)
    assert set(re.findall(r"steps\.context\.outputs\.([\w-]+)", text)) <= set(action()["outputs"])
    assert all("${{" not in s.get("run", "") for s in steps)
    assert found["permissions"] == {"contents": "read"}
    own = yaml.safe_load((ROOT / ".github/workflows/context.yml").read_text(encoding="utf-8"))
    assert found["jobs"]["gate"]["permissions"] == own["jobs"]["gate"]["permissions"]
    assert steps[0] == own["jobs"]["gate"]["steps"][0]


def test_every_input_and_output_is_told() -> None:
    rows = dict(re.findall(r"^\| `([\w-]+)` \| (.*) \|$", PAGE, re.MULTILINE))
    assert set(rows) == set(action()["inputs"])
    told = re.search(r"^Outputs: (.*?)\. Read them", PAGE, re.DOTALL | re.MULTILINE)
    assert told
    assert re.findall(r"`([\w-]+)`", told[1]) == list(action()["outputs"])
    for name, one in action()["inputs"].items():
        default = one["default"]
        if default and "${{" not in default:
            assert f"`{default}`" in rows[name], name


def test_the_hooks_that_it_names_exist() -> None:
    hooks = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text(encoding="utf-8"))
    named = [h["id"] for h in file(".pre-commit-config.yaml")["repos"][0]["hooks"]]
    assert named == ["ctxc-lint", "ctxc-gate"]
    assert set(named) <= {h["id"] for h in hooks}


class Machine:
    """A clone on a branch of its own, and ctxc where the page installs it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        origin = Repo(folder / "origin")
        self.base = origin.commit("base", files())
        self.repo = origin.clone(folder / "clone")
        self.repo.git("checkout", "-q", "-b", "topic")
        origin.commit("main moved on", {"fragments/sources.md": "Name each source.\n"})
        self.bin = folder / "ctxc/bin"
        self.bin.mkdir(parents=True)
        self._script("ctxc", f'exec "{sys.executable}" -I -m ctxc "$@"')
        for name in ("pip", "python3"):  # what is installed is this checkout
            self._script(name, f'echo "{name} $*" >> "{folder}/installed"')
        self.environment = {
            **self.repo.environ, "PATH": f"{self.bin}:{os.environ['PATH']}", "HOME": str(folder),
            "GIT_ALLOW_PROTOCOL": "file",
        }  # fmt: skip

    def _script(self, name: str, line: str) -> None:
        place = self.bin / name
        place.write_text(f"#!/bin/sh\n{line}\n")
        place.chmod(0o755)

    def run(self, script: str, **environment: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            ["bash", "-eu", "-c", script.replace("/tmp/ctxc", str(self.bin.parent))],
            cwd=self.repo.path, env={**self.environment, **environment}, capture_output=True, check=False,
            encoding="utf-8",
        )  # fmt: skip

    def installed(self) -> str:
        return (self.folder / "installed").read_text().replace(str(self.bin.parent), "/tmp/ctxc")


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    if os.name == "nt" or shutil.which("bash") is None:
        pytest.skip("needs bash")
    return Machine(tmp_path)


BAD = {"policies/desk.md": files()["policies/desk.md"] + "Write to desk@acme-support.com.\n"}
INSTALLED = "python3 -I -m venv /tmp/ctxc\npip install -q ctxc-toolkit\n"


@pytest.mark.parametrize(("changes", "status"), [(reworded(), 0), ({**reworded(), **BAD}, 1)], ids=["good", "bad"])
def test_the_recipe_for_any_ci(machine: Machine, changes: dict[str, str], status: int) -> None:
    machine.repo.commit("change", changes)
    done = machine.run(blocks("sh")[0])
    assert done.returncode == status, done.stderr
    assert machine.installed() == INSTALLED
    # The merge base, and not the tip of main, which has moved on.
    assert f"against {machine.base[:12]}" in done.stdout
    assert "judged by the base's and the head's policies" in done.stdout
    assert ElementTree.parse(machine.repo.path / "ctxc.xml").getroot().tag == "testsuites"
    assert (machine.repo.path / "ctxc.html").read_text(encoding="utf-8").startswith("<!doctype html>")


@pytest.mark.parametrize(("changes", "status"), [(reworded(), 0), ({**reworded(), **BAD}, 1)], ids=["good", "bad"])
def test_the_recipe_for_gitlab(machine: Machine, changes: dict[str, str], status: int) -> None:
    job = file(".gitlab-ci.yml")["context"]
    head = machine.repo.commit("change", changes)
    machine.repo.git("checkout", "-q", "--detach")
    variables = {
        "CI": "true", "GITLAB_CI": "true", "CI_PIPELINE_SOURCE": "merge_request_event", "CI_COMMIT_SHA": head,
        "CI_MERGE_REQUEST_DIFF_BASE_SHA": machine.base, "CI_MERGE_REQUEST_TARGET_BRANCH_NAME": "main",
        "CI_DEFAULT_BRANCH": "main",
    }  # fmt: skip
    done = machine.run("\n".join(job["script"]), **variables)
    assert done.returncode == status, done.stderr
    assert machine.installed() == INSTALLED
    assert f"against {machine.base[:12]} (ci-variable)" in done.stdout
    named = [*job["artifacts"]["paths"], *job["artifacts"]["reports"].values()]
    assert len(named) == 4
    for name in named:
        assert (machine.repo.path / name).stat().st_size > 1, name
    quality = json.loads((machine.repo.path / job["artifacts"]["reports"]["codequality"]).read_text())
    assert [i["location"]["path"] for i in quality] == (["policies/desk.md"] if status else [])


def test_the_recipe_for_gitlab_at_a_depth_says_what_is_missing(machine: Machine, tmp_path: Path) -> None:
    machine.repo.commit("change", reworded())
    head = machine.repo.commit("another", {"README.md": "A desk.\n"})
    machine.repo = machine.repo.clone(tmp_path / "shallow", "--depth=1")
    variables = {"CI": "true", "CI_MERGE_REQUEST_DIFF_BASE_SHA": machine.base, "CI_COMMIT_SHA": head}
    done = machine.run("\n".join(file(".gitlab-ci.yml")["context"]["script"]), **variables)
    assert done.returncode == 2
    assert "shallow" in done.stderr
    assert "GIT_DEPTH: 0" in done.stderr


def test_without_a_network_the_packages_come_along(machine: Machine) -> None:
    assert machine.run(blocks("sh")[1]).returncode == 0
    assert machine.installed() == (
        "pip download -q -d wheels ctxc-toolkit\npip install -q --no-index --find-links wheels ctxc-toolkit\n"
    )


def test_a_release_is_judged_against_the_last_one(machine: Machine) -> None:
    script = blocks("sh")[2]
    last = machine.run("ctxc snapshot bundle release.json")
    assert last.returncode == 0, last.stderr
    first = json.loads((machine.repo.path / "release.json").read_text())["bundle"]
    machine.repo.commit("change", reworded())
    done = machine.run(script, CI="true")
    assert done.returncode == 0, done.stderr
    assert json.loads((machine.repo.path / "release.json").read_text())["bundle"] != first
    notes = (machine.repo.path / "release-notes.md").read_text(encoding="utf-8")
    assert "2 objects changed" in notes


def test_a_bundle_is_used_only_as_it_was_signed(machine: Machine, tmp_path: Path) -> None:
    if shutil.which("ssh-keygen") is None:
        pytest.skip("needs ssh-keygen")
    sign, use = blocks("sh")[3:5]
    key, signers, bundle = tmp_path / "key", tmp_path / "signers", machine.repo.path / "release.json"
    made = machine.run(f"ssh-keygen -q -t ed25519 -N '' -f {key}\nctxc snapshot bundle release.json")
    assert made.returncode == 0, made.stderr
    assert machine.run(sign, RELEASE_KEY=str(key)).returncode == 0
    signers.write_text(f"release@example.com {key.with_suffix('.pub').read_text()}")
    rules = machine.repo.path / "policies/desk.md"
    before = rules.read_bytes()
    machine.repo.commit("change", reworded())
    done = machine.run(use, SIGNERS=str(signers))
    assert done.returncode == 0 and rules.read_bytes() == before, done.stderr
    machine.repo.git("checkout", "-q", "--", ".")
    bundle.write_text(bundle.read_text().replace(" ", "", 1) + "\n")
    done = machine.run(use, SIGNERS=str(signers))
    assert done.returncode != 0 and rules.read_bytes() != before


def test_every_command_of_the_page_was_run_here() -> None:
    assert len(blocks("sh")) == 5
    assert len(blocks("yaml")) == 3
