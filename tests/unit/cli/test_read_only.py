"""A checkout that may not be written, as a user who is not root, with a home that may be written and with one that may
not: everything that only reads works, and what has to write says what it cannot write."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from ctxc.app.init import write_starter

NOBODY = 65534
Done = subprocess.CompletedProcess[str]
GIT = ("git", "-c", "user.name=a", "-c", "user.email=a@b.example", "-c", "safe.directory=*")

pytestmark = pytest.mark.skipif(
    sys.platform == "win32" or (os.geteuid() == 0 and shutil.which("setpriv") is None),
    reason="root may write everywhere, and setpriv is not installed",
)


def run(folder: Path, home: str, *command: str) -> Done:
    """A command as somebody who is not root; ``home`` empty: there is none."""
    environment = {"PATH": os.environ["PATH"], "PYTHONDONTWRITEBYTECODE": "1", "LC_ALL": "C.UTF-8"}
    environment |= {"PYTHONPATH": str(Path(__file__).parents[3])} | ({"HOME": home} if home else {})
    other = ("setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups") if os.geteuid() == 0 else ()
    return subprocess.run([*other, *command], cwd=folder, env=environment, capture_output=True, text=True, check=False)


def ctxc(folder: Path, home: str, *arguments: str) -> Done:
    done = run(folder, home, sys.executable, "-m", "ctxc", *arguments)
    assert "Traceback" not in done.stderr and "internal fault" not in done.stderr, done.stderr
    return done


@pytest.fixture
def place() -> Iterator[Path]:
    """A folder that everybody reaches, with a committed project of somebody else's than root and two homes."""
    folder = Path(tempfile.mkdtemp(prefix="ctxc-"))
    folder.chmod(0o755)
    project = folder / "project"
    write_starter(project)
    for arguments in (("init", "-q"), ("add", "-A"), ("commit", "-qm", "one")):
        subprocess.run([*GIT, *arguments], cwd=project, check=True, env={**os.environ, "HOME": os.devnull})
    template = project / "templates/helpdesk.yaml"
    template.write_text(template.read_text().replace("five sentences", "six sentences"))
    subprocess.run([*GIT, "commit", "-qam", "two"], cwd=project, check=True, env={**os.environ, "HOME": os.devnull})
    for name in ("home", "closed", "empty"):
        (folder / name).mkdir()
    if os.geteuid() == 0:
        for path in (folder, *folder.rglob("*")):
            os.chown(path, NOBODY, NOBODY, follow_symlinks=False)
    for path in (*project.rglob("*"), project, folder / "closed", folder / "empty"):
        path.chmod(path.stat().st_mode & ~0o222)
    if run(folder, "", sys.executable, "-c", "import ctxc").returncode:
        pytest.skip("the installed Python cannot be run by another user than root")
    yield folder
    for path in (folder, *folder.rglob("*")):
        path.chmod(0o755)
    shutil.rmtree(folder)


def listed(folder: Path) -> dict[str, bytes]:
    return {str(p): p.read_bytes() for p in sorted(folder.rglob("*")) if p.is_file()}


READS = [
    ("compile", 0), ("lint", 0), ("diff HEAD~1 HEAD", 0), ("diff HEAD", 2), ("gate --against HEAD~1", 1),
    ("explain refund_question", 0), ("list", 0), ("cache", 0), ("config", 0), ("doctor", 0), ("schema template", 0),
    ("tokens tests/fixtures/opening_hours.yaml --provider openai --model gpt-4.1", 0), ("snapshot check", 2),
]  # fmt: skip


@pytest.mark.parametrize("home", ["home", "closed", "nowhere", ""])
def test_what_reads_works(place: Path, home: str) -> None:
    project = place / "project"
    before = listed(project)
    name = str(place / home) if home else ""
    for command, status in READS:
        for again in range(2 if command in ("compile", "lint", "diff HEAD~1 HEAD") else 1):
            done = ctxc(project, name, *command.split())
            assert done.returncode == status, (command, again, done.stdout[-500:], done.stderr)
    assert listed(project) == before
    assert (place / "home" / ".cache").exists() is (home == "home")


@pytest.mark.parametrize(
    ("folder", "command"),
    [
        ("project", "compile --output markdown:out.md"),
        ("project", "diff HEAD~1 HEAD --output html:out.html"),
        ("project", "lint --update-baseline"),
        ("project", "snapshot save"),
        ("empty", "init"),
    ],
)
def test_what_writes_says_what_it_cannot_write(place: Path, folder: str, command: str) -> None:
    before = listed(place / folder)
    done = ctxc(place / folder, str(place / "closed"), *command.split())
    assert done.returncode == 2
    assert "error: cannot write '" in done.stderr and "Permission denied" in done.stderr
    assert listed(place / folder) == before


@pytest.mark.parametrize(
    ("closed", "said"),
    [
        ("policies/platform.md", "'policies/platform.md' cannot be read: Permission denied"),
        ("fragments", "'fragments' cannot be read: Permission denied"),
        ("fragments/task/refund.md", "'fragments/task/refund.md' cannot be read: Permission denied"),
        ("templates/helpdesk.yaml", "'templates/helpdesk.yaml' cannot be read: Permission denied"),
    ],
)
def test_a_file_that_may_not_be_read_is_told_and_nothing_is_compiled_without_it(
    place: Path, closed: str, said: str
) -> None:
    path = place / "project" / closed
    path.chmod(0)
    done = ctxc(place / "project", str(place / "home"), "compile", "refund_question")
    path.chmod(0o755)
    assert done.returncode == 1
    assert "refund_question" in done.stdout and "compiled" not in done.stdout.split("refund_question")[1].split("\n")[0]
    assert said in done.stdout


def test_a_repository_that_may_not_be_read(place: Path) -> None:
    git = place / "project" / ".git"
    git.chmod(0)
    compiled = ctxc(place / "project", str(place / "home"), "compile", "-v")
    compared = ctxc(place / "project", str(place / "home"), "diff", "HEAD~1", "HEAD")
    git.chmod(0o755)
    assert compiled.returncode == 0
    assert "files that git ignores are not left out" in compiled.stderr
    assert compared.returncode == 2
    assert ".git/HEAD' of the repository cannot be read: Permission denied" in compared.stderr
