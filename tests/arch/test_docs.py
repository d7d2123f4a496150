"""Documentation that can be checked is checked: the command reference, the README's output and its commands."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from ctxc.cli.app import is_global, root_command, summary
from ctxc.cli.reference import reference

ROOT = Path(__file__).parents[2]
README = ROOT / "README.md"
OUTPUT = re.compile(r"<!-- output: (ctxc [^\n]*) -->\n```text\n(.*?)```\n", re.DOTALL)


def test_the_command_reference_is_up_to_date(update_goldens: bool) -> None:
    path = ROOT / "docs" / "cli.md"
    if update_goldens:
        path.write_text(reference(), encoding="utf-8", newline="\n")
    assert path.read_text(encoding="utf-8") == reference(), "pytest --update-goldens tests/arch/test_docs.py"


def test_every_command_argument_and_option_says_what_it_is() -> None:
    root = root_command()
    context = root.make_context("ctxc", [], resilient_parsing=True)
    names = root.list_commands(context)
    assert len(names) >= 7
    for name in names:
        command = root.get_command(context, name)
        assert command is not None
        assert (command.help or "").startswith(summary(name)), name
        assert summary(name).endswith("."), name
        for param in command.get_params(context):
            record = param.get_help_record(context)
            assert record, f"{name} {param.name} is hidden"
            assert record[1].strip(), f"{name} {record[0]} has no help"
    assert sum(is_global(p) for p in root.get_params(context)) == 7


def test_every_command_is_in_the_readme() -> None:
    root = root_command()
    text = README.read_text(encoding="utf-8")
    missing = [n for n in root.commands if f"`ctxc {n}" not in text]
    assert missing == []


def printed(command: str) -> str:
    environment = {k: v for k, v in os.environ.items() if not k.startswith(("CTXC_", "GITHUB_", "FORCE_"))}
    done = subprocess.run(
        [sys.executable, "-m", *shlex.split(command), "--no-cache"],
        cwd=ROOT, capture_output=True, check=False, env=environment,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr.decode()
    return done.stdout.decode("utf-8")


def test_the_readme_shows_real_output(update_goldens: bool) -> None:
    text = README.read_text(encoding="utf-8")
    if update_goldens:
        text = OUTPUT.sub(lambda m: f"<!-- output: {m[1]} -->\n```text\n{printed(m[1])}```\n", text)
        README.write_text(text, encoding="utf-8", newline="\n")
    blocks = OUTPUT.findall(text)
    assert len(blocks) >= 2
    for command, shown in blocks:
        assert shown == printed(command), command


def test_ci_runs_the_readmes_test_command() -> None:
    commands = re.findall(r"^```sh\n(.*?)\n```$", README.read_text(encoding="utf-8"), re.DOTALL | re.MULTILINE)
    setup, test = commands
    script = (ROOT / ".ci" / "run").read_text(encoding="utf-8")
    assert [line for line in script.splitlines() if "pytest" in line] == [test]
    workflow = (ROOT / ".github/workflows/ci.yml").read_text(encoding="utf-8")
    assert "run: .ci/run" in workflow
    assert f"run: {setup}" in workflow
    if os.name != "nt":
        assert os.access(ROOT / ".ci" / "run", os.X_OK)


PAGES = [ROOT / "README.md", ROOT / "CHANGELOG.md", *sorted((ROOT / "docs").glob("*.md"))]
CODE = re.compile(r"^(```+).*?^\1|`[^`\n]+`", re.DOTALL | re.MULTILINE)


@pytest.mark.parametrize("path", PAGES, ids=lambda p: p.name)
def test_links_lead_somewhere(path: Path) -> None:
    for target in re.findall(r"\]\((?!https?:)([^)#]+)", CODE.sub("", path.read_text(encoding="utf-8"))):
        assert (path.parent / target).exists(), target


def test_every_page_is_in_the_index() -> None:
    index = (ROOT / "docs" / "README.md").read_text(encoding="utf-8")
    missing = [p.name for p in PAGES[2:] if p.name != "README.md" and f"]({p.name})" not in index]
    assert missing == []


def test_every_path_of_the_architecture_is_there() -> None:
    text = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    named = re.findall(
        r"`((?:ctxc/|tests/|base/|model/|source/|parse/|tokens/|providers/|compiler/|rules/|app/|cli/)[\w./]+)`", text
    )
    assert len(named) > 25
    missing = [n for n in named if not any((root / n).exists() for root in (ROOT, ROOT / "ctxc")) and "NAME" not in n]
    assert [n for n in missing if "CODE" not in n] == []
