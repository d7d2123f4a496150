"""Documentation that can be checked is checked: the command reference, the README's output and its commands."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from shell import clean_environment

from ctxc.cli.app import help_record, is_global, root_command, summary
from ctxc.cli.reference import reference
from ctxc.cli.session import FORMATS
from ctxc.report import format_ids
from ctxc.report.releases import format_ids as release_formats

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


def test_options_are_called_in_one_style() -> None:
    """``ID`` and ``a|b``, never ``<str>``; brackets for what may be left out stand in the usage alone."""
    root = root_command()
    context = root.make_context("ctxc", [], resilient_parsing=True)
    for name in root.list_commands(context):
        command = root.get_command(context, name)
        assert command is not None
        below = command.make_context(name, [], parent=context, resilient_parsing=True)
        for param in command.get_params(below):
            record = help_record(param, below)
            assert record is not None
            assert not set("<>{}[]") & set(record[0]), f"{name} {record[0]}"
        assert not set("<>{}") & set(" ".join(command.collect_usage_pieces(below)))


def test_the_formats_that_the_help_names_are_those_that_there_are() -> None:
    named = FORMATS.replace("text (default)", "text").split(", ")
    assert sorted(named) == sorted(format_ids())
    assert sorted([*named, "html"]) == sorted(release_formats())


def test_every_command_is_in_the_readme() -> None:
    root = root_command()
    text = README.read_text(encoding="utf-8")
    missing = [n for n in root.commands if f"`ctxc {n}" not in text]
    assert missing == []


def printed(command: str) -> str:
    done = subprocess.run(
        [sys.executable, "-m", *shlex.split(command), "--no-cache"],
        cwd=ROOT, capture_output=True, check=False, env=clean_environment(),
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


EDIT = re.compile(r"`sed -i '(s/([^/]+)/([^/]*)/)' (\S+)`")
JUDGED = re.compile(r"<!-- judged: (ctxc gate [^\n]*) -->\n```text\n(.*?)```\n", re.DOTALL)
LIBRARY = ("templates", "fragments", "policies", "tests/fixtures", "tools/schema_v4.json")


def judged(command: str, edit: re.Match[str], place: Path) -> str:
    """What the gate says of the example library with the edit of the README; a commit id of the example's own."""
    if not place.exists():
        for name in LIBRARY:
            (place / name).parent.mkdir(parents=True, exist_ok=True)
            (shutil.copytree if (ROOT / name).is_dir() else shutil.copy)(ROOT / name, place / name)
        who = {f"GIT_{who}_{what}": "a@example.com" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}
        names = {**who, "GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1", "PATH": os.environ["PATH"]}
        for arguments in (["init", "-q"], ["add", "-A"], ["commit", "-q", "-m", "library"]):
            subprocess.run(["git", *arguments], cwd=place, check=True, env=names)
        file = place / edit[4]
        text = file.read_text(encoding="utf-8")
        assert text.count(edit[2]) == 1
        file.write_text(text.replace(edit[2], edit[3]), encoding="utf-8", newline="\n")
    done = subprocess.run(
        [sys.executable, "-m", *shlex.split(command), "--no-cache"],
        cwd=place, capture_output=True, check=False, env={**clean_environment(), "CTXC_NOW": "2026-11-30"},
    )  # fmt: skip
    assert done.returncode == 1, done.stderr.decode()
    return re.sub(r"\b[0-9a-f]{12}\b", "9e1c8dd90f18", done.stdout.decode("utf-8"))


def test_the_readme_shows_the_real_report_of_the_gate(tmp_path: Path, update_goldens: bool) -> None:
    text = README.read_text(encoding="utf-8")
    edit = EDIT.search(text)
    assert edit
    place = tmp_path / "library"
    if update_goldens:
        shown = JUDGED.sub(lambda m: f"<!-- judged: {m[1]} -->\n```text\n{judged(m[1], edit, place)}```\n", text)
        README.write_text(shown, encoding="utf-8", newline="\n")
        text = shown
    blocks = JUDGED.findall(text)
    assert len(blocks) == 1
    for command, report in blocks:
        assert report == judged(command, edit, place), "pytest --update-goldens tests/arch/test_docs.py"
        steps = ("schema", "budget", "forbidden", "injection", "regression", "citations", "cost", "latency", "prefix")
        assert re.findall(r"^[✓✗] (\w+) ", report, re.MULTILINE)[:9] == list(steps)


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
