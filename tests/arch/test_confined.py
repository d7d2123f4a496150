"""What may be imported where, and what no module below the application may read."""

from __future__ import annotations

import ast
import re
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "ctxc"

CONFINED = {
    "typer": ("ctxc/cli/",),
    "rich": ("ctxc/cli/console.py", "ctxc/report/"),
    "tiktoken": ("ctxc/tokens/",),
    "jsonschema": ("ctxc/parse/",),
    "git": ("ctxc/source/",),
    "subprocess": ("ctxc/source/",),
    "deepdiff": ("ctxc/compare/",),
    "pytest": ("ctxc/app/pytest_plugin.py",),
    "re2": ("ctxc/detect/", "ctxc/app/doctor.py"),
}
MACHINE = {"time", "random", "secrets", "uuid", "locale", "socket", "urllib.request", "http.client"}
"""Modules through which the machine would get into a result: only the command line and the application may use them."""


@cache
def modules() -> tuple[Path, ...]:
    return tuple(sorted(PACKAGE.rglob("*.py")))


@cache
def tree(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


@cache
def nodes(path: Path) -> tuple[ast.AST, ...]:
    """The nodes that these tests look at; each file is parsed once for all of them."""
    wanted = (ast.Import, ast.ImportFrom, ast.Attribute, ast.Name)
    return tuple(node for node in ast.walk(tree(path)) if isinstance(node, wanted))


@cache
def imports(path: Path) -> tuple[tuple[int, str], ...]:
    found: list[tuple[int, str]] = []
    for node in nodes(path):
        if isinstance(node, ast.Import):
            found += ((node.lineno, alias.name) for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            found.append((node.lineno, node.module))
            found += ((node.lineno, f"{node.module}.{alias.name}") for alias in node.names)
    return tuple(found)


def dotted(node: ast.Attribute) -> str:
    """``os.environ`` of the attribute that reads so; empty for an attribute of anything but a name."""
    return f"{node.value.id}.{node.attr}" if isinstance(node.value, ast.Name) else ""


def name_of(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


@pytest.mark.parametrize("library", CONFINED)
def test_a_library_is_imported_only_where_it_belongs(library: str) -> None:
    strays = [
        f"{name_of(path)}:{line}"
        for path in modules()
        if not name_of(path).startswith(CONFINED[library])
        for line, name in imports(path)
        if name.split(".")[0] == library
    ]
    assert strays == []


def test_nothing_below_the_application_reads_the_machine() -> None:
    strays = [
        f"{name_of(path)}:{line} imports {name}"
        for path in modules()
        if not name_of(path).startswith(("ctxc/cli/", "ctxc/app/"))
        for line, name in imports(path)
        if name in MACHINE
    ]
    assert strays == []


def test_nothing_below_the_application_reads_environment_or_folder() -> None:
    strays = []
    for path in modules():
        if name_of(path).startswith(("ctxc/cli/", "ctxc/app/")):
            continue
        for node in nodes(path):
            if not isinstance(node, ast.Attribute):
                continue
            text = dotted(node)
            # The process's own environment is handed to git by value, never read.
            if text in (
                "os.environ",
                "os.getenv",
                "os.getcwd",
                "Path.cwd",
                "datetime.now",
                "datetime.utcnow",
                "date.today",
            ):
                strays.append(f"{name_of(path)}:{node.lineno} {text}")
    assert strays == []


def test_only_the_console_prints() -> None:
    strays = []
    for path in modules():
        if name_of(path) in ("ctxc/cli/console.py", "ctxc/__main__.py"):
            continue
        for node in nodes(path):
            if isinstance(node, ast.Name) and node.id == "print":
                strays.append(f"{name_of(path)}:{node.lineno}")
            if isinstance(node, ast.Attribute) and dotted(node) in ("sys.stdout", "sys.stderr", "typer.echo"):
                strays.append(f"{name_of(path)}:{node.lineno}")
    assert strays == []


def test_modules_stay_readable() -> None:
    """One subject a file: about 400 lines, and not more than 480."""
    long = {
        name_of(path): count
        for path in modules()
        if (count := len(path.read_text(encoding="utf-8").splitlines())) > 480
    }
    assert long == {}


def test_every_module_says_what_it_is() -> None:
    silent = [name_of(p) for p in modules() if len((ast.get_docstring(tree(p)) or "").split()) < 4]
    assert silent == []


def test_no_text_refers_to_documents_that_are_not_here() -> None:
    strays = [
        f"{name_of(path)}: {found}"
        for path in modules()
        for found in re.findall(r"DESIGN[ .]|CONVENTIONS|\bseed 00\d|docs/[\w-]+\.md", path.read_text(encoding="utf-8"))
        if not found.startswith("docs/") or not (ROOT / found).is_file()
    ]
    assert strays == []
