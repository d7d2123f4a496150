"""The contract with the shell: exit statuses, streams, colours, and what happens when a reader goes away."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from shell import Run, clean_environment, run_process

from ctxc.app.init import write_starter
from ctxc.cli.console import wants_color


@pytest.fixture
def project(tmp_path: Path) -> Path:
    root = tmp_path / "project"
    write_starter(root)
    return root


@pytest.fixture(scope="module")
def shared_cache(tmp_path_factory: pytest.TempPathFactory) -> str:
    """One cache for all processes of this module, which would each load a vocabulary."""
    return str(tmp_path_factory.mktemp("cache"))


@pytest.fixture
def run(project: Path, shared_cache: str) -> Run:
    def call(*arguments: str, stdout: int | None = subprocess.PIPE, **environment: str) -> object:
        return run_process(project, *arguments, stdout=stdout, **{"CTXC_CACHE_DIR": shared_cache, **environment})

    return call  # type: ignore[return-value]


@pytest.fixture
def quick(project: Path, tmp_path: Path, run_here: Run) -> Run:
    """The same inside this process, for what does not depend on being one of its own."""

    def call(*arguments: str, **environment: str) -> object:
        return run_here(project, *arguments, **{"CTXC_CACHE_DIR": str(tmp_path / "cache"), **environment})

    return call  # type: ignore[return-value]


def error_of(done: subprocess.CompletedProcess[bytes]) -> str:
    return done.stderr.decode("utf-8")


# --- statuses ---------------------------------------------------------------------------------------------------------


def test_a_profiler_has_the_last_word(project: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "cProfile", "-m", "ctxc", "--version"],
        cwd=project, env=clean_environment(), capture_output=True, check=True,
    )  # fmt: skip
    assert done.stdout.startswith(b"ctxc ")
    assert b"function calls" in done.stdout


def test_0_when_everything_is_as_expected(run: Run) -> None:
    done = run("compile")
    assert (done.returncode, done.stderr) == (0, b"")
    assert done.stdout.decode().endswith("2 fixtures, all as expected\n")


@pytest.mark.parametrize(
    "format_id", ["text", "concise", "json", "jsonl", "sarif", "junit", "github", "gitlab", "markdown"]
)
def test_1_for_findings_whatever_the_format(quick: Run, project: Path, format_id: str) -> None:
    (project / "fragments/broken.yaml").write_text("fragment_id: [\n")
    assert quick("compile", "--format", format_id).returncode == 1
    assert quick("compile", "--format", format_id, "--fail-on", "never").returncode == 0


def test_1_for_an_expectation_that_does_not_hold(quick: Run, project: Path) -> None:
    path = project / "tests/fixtures/opening_hours.yaml"
    path.write_text(path.read_text().replace("max_input_tokens: 900", "max_input_tokens: 9"))
    done = quick("compile")
    assert done.returncode == 1
    assert "max_input_tokens" in done.stdout.decode()


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("compile", "nothing"), "no fixture matches 'nothing'"),
        (("compile", "--format", "jsn"), "did you mean json?"),
        (("compile", "--output", "sarif"), "is not FORMAT:FILE"),
        (("compile", "--output", "json:a.json", "--output", "junit:a.json"), "--output names a.json twice"),
        (("compile", "--request", "--format", "json"), "--request prints requests"),
        (("compile", "--watch"), "--watch needs a terminal"),
        (("compile", "--nope"), "No such option"),
        (("compil",), "Did you mean 'compile'?"),
        (("explain",), "Missing argument"),
        (("snapshot",), "Choose from: save, check, review"),
        (("explain", "nothing"), "there is no fixture 'nothing'"),
        (("explain", "opening_hours", "nothing"), "no candidate 'nothing'"),
        (("schema", "tempalte"), "did you mean template?"),
        (("list", "fixture"), "did you mean fixtures?"),
        (("-C", "nowhere", "compile"), "is not a folder"),
        (("config", "--clear-cache", "--no-cache"), "there is no cache to clear"),
        (("--now", "tomorrow", "list"), "is not a date"),
        (("-q", "-v", "compile"), "contradict each other"),
        # An empty text is what a variable holds that was never set; it does not mean "no base", "the work tree", "all".
        (("gate", "--against", ""), "--against was given an empty text"),
        (("gate", "--rev="), "--rev was given an empty text"),
        (("gate", "--only", "budget", "--only", ""), "--only was given an empty text"),
        (("-C", "", "gate"), "--project was given an empty text"),
        (("diff", "", "HEAD"), "BASE was given an empty text"),
    ],
)
def test_2_for_wrong_usage(quick: Run, arguments: tuple[str, ...], words: str) -> None:
    done = quick(*arguments)
    assert done.returncode == 2
    assert done.stdout == b""
    assert words in error_of(done)
    assert error_of(done).startswith("error: ")


def test_2_without_a_command_with_the_help(quick: Run) -> None:
    done = quick()
    assert done.returncode == 2
    assert "Commands:" in error_of(done)


@pytest.mark.skipif(os.name == "nt", reason="removing the current folder of a POSIX process")
def test_2_where_the_current_folder_is_gone(tmp_path: Path) -> None:
    gone = tmp_path / "gone"
    gone.mkdir()
    done = subprocess.run(
        f'rmdir "{gone}" && "{sys.executable}" -m ctxc lint',
        cwd=gone, shell=True, capture_output=True, check=False, env=clean_environment(),
    )  # fmt: skip
    assert (done.returncode, done.stdout) == (2, b"")
    assert error_of(done).startswith("error: the current folder cannot be read: No such file or directory\n  help: ")


@pytest.mark.parametrize("arguments", [["--version"], ["-q", "-V"], ["--version", "--no-cache"], ["-V", "compile"]])
def test_the_version_beside_other_options(quick: Run, arguments: list[str]) -> None:
    done = quick(*arguments)
    assert (done.returncode, done.stderr) == (0, b"")
    assert done.stdout.startswith(b"ctxc ") and done.stdout.count(b"\n") == 1


def test_2_for_a_broken_configuration_with_its_place(quick: Run, project: Path) -> None:
    (project / "ctxc.yaml").write_text("modle: x\n")
    done = quick("compile")
    assert done.returncode == 2
    assert error_of(done).startswith("error: ctxc.yaml:1:1: ")
    assert 'did you mean "model"?' in error_of(done)


def test_2_where_no_fixture_is_left(quick: Run, project: Path) -> None:
    for path in (project / "tests/fixtures").iterdir():
        path.unlink()
    assert quick("compile").returncode == 2
    assert quick("compile", "--allow-empty").returncode == 0


@pytest.mark.parametrize("command", ["compile", "lint"])
def test_2_in_an_empty_project(quick: Run, project: Path, command: str) -> None:
    for name in ("templates", "fragments", "policies", "tests"):
        shutil.rmtree(project / name)
    done = quick(command)
    assert (done.returncode, done.stdout) == (2, b"")
    assert error_of(done).startswith("error: the ") and "ctxc init" in error_of(done)
    if command != "gate":
        done = quick(command, "--allow-empty")
        assert done.returncode == 0 and b"CTX111" not in done.stdout
    # Nothing kept a file from being loaded: there is none.
    assert b"kept files" not in quick("list").stderr


FAULT = "import sys; sys.argv = ['ctxc', 'compile']; import ctxc.app.compiling as m; m.compile_fixtures = None;"
PANIC = (
    "import sys; sys.argv = ['ctxc', 'compile']\nimport ctxc.app.compiling as m\nclass Panic(BaseException): pass\n"
    "def panic(*a): raise Panic('called `Option::unwrap()`')\nm.compile_fixtures = panic\n"
)


@pytest.mark.parametrize("code", [FAULT, PANIC])
def test_3_for_a_fault_inside_without_a_traceback(project: Path, code: str) -> None:
    code += "\nfrom ctxc.__main__ import main; sys.exit(main())"
    done = subprocess.run([sys.executable, "-c", code], cwd=project, capture_output=True, text=True, check=False)
    assert done.returncode == 3
    assert "please report" in done.stderr
    assert "Traceback" not in done.stderr
    environment = {**os.environ, "CTXC_DEBUG": "1"}
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=project, capture_output=True, text=True, check=False, env=environment
    )
    assert done.returncode == 3
    assert "Traceback" in done.stderr


def test_130_when_interrupted(project: Path) -> None:
    code = (
        "import sys; sys.argv = ['ctxc', 'compile']\nimport ctxc.app.compiling as m\n"
        "def stop(*a): raise KeyboardInterrupt\nm.compile_fixtures = stop\n"
        "from ctxc.__main__ import main; sys.exit(main())"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=project, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (130, "")


def test_130_when_interrupted_before_anything_ran(project: Path) -> None:
    """While the modules are still being loaded: a traceback of the import machinery once came out."""
    code = (
        "import sys; sys.argv = ['ctxc', 'compile']\n"
        "class Stop:\n"
        "    def find_spec(self, name, *a):\n"
        "        if name == 'ctxc.cli.console': raise KeyboardInterrupt\n"
        "sys.meta_path.insert(0, Stop())\n"
        "from ctxc.__main__ import main; sys.exit(main())"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=project, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (130, "")


# --- streams ----------------------------------------------------------------------------------------------------------


@pytest.mark.skipif(os.name == "nt", reason="pipes of a POSIX shell")
def test_a_closed_pipe_is_quiet_and_does_not_change_the_status(run: Run, project: Path) -> None:
    (project / "fragments/broken.yaml").write_text("fragment_id: [\n")
    for arguments, status in (
        (("compile",), 1), (("schema", "fixture"), 0), (("--help",), 0), (("compile", "-h"), 0), (("--version",), 0),
    ):  # fmt: skip
        reader, writer = os.pipe()
        os.close(reader)
        done = run(*arguments, stdout=writer)
        os.close(writer)
        assert (done.returncode, done.stderr) == (status, b"")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
@pytest.mark.parametrize("arguments", ["compile", "schema fixture", "--help", "compile --help", "--version"])
def test_a_report_that_is_lost_is_no_success(run: Run, arguments: str) -> None:
    with open("/dev/full", "w") as full:
        done = run(*arguments.split(), stdout=full.fileno())
    assert done.returncode == 2
    assert error_of(done) == "error: the output could not be written: No space left on device\n"


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
@pytest.mark.parametrize("arguments", ["compile nothing_of_that_name", "nonsense", ""])
def test_an_error_that_is_lost_keeps_its_status(project: Path, shared_cache: str, arguments: str) -> None:
    done = subprocess.run(
        f'"{sys.executable}" -m ctxc {arguments} 2>/dev/full',
        cwd=project, shell=True, capture_output=True, check=False,
        env={**clean_environment(), "CTXC_CACHE_DIR": shared_cache},
    )  # fmt: skip
    assert (done.returncode, done.stdout) == (2, b"")


@pytest.mark.skipif(os.name == "nt", reason="closing a descriptor of a POSIX shell")
@pytest.mark.parametrize(
    "arguments", ["tokens --provider text", "cache --requests -", "lint - --stdin-filename fragments/a.md"]
)
def test_2_where_the_standard_input_is_closed(project: Path, shared_cache: str, arguments: str) -> None:
    done = subprocess.run(
        f'"{sys.executable}" -m ctxc {arguments} <&-',
        cwd=project, shell=True, capture_output=True, check=False,
        env={**clean_environment(), "CTXC_CACHE_DIR": shared_cache},
    )  # fmt: skip
    assert done.returncode == 2
    assert error_of(done) == "error: the standard input is closed\n  help: name a file, or pipe one in\n"


@pytest.mark.skipif(os.name == "nt", reason="closing a descriptor of a POSIX shell")
def test_a_closed_standard_output_is_survived(project: Path, shared_cache: str) -> None:
    for arguments in ("--version", "compile", "nonsense"):
        done = subprocess.run(
            f'"{sys.executable}" -m ctxc {arguments} >&-',
            cwd=project, shell=True, capture_output=True, check=False,
            env={**clean_environment(), "CTXC_CACHE_DIR": shared_cache},
        )  # fmt: skip
        assert done.returncode == (2 if arguments == "nonsense" else 0), done.stderr


@pytest.mark.parametrize("encoding", ["cp1252", "ascii", "utf-8"])
def test_output_is_utf8_whatever_the_locale_says(run: Run, project: Path, encoding: str) -> None:
    """Output piped on Windows once used cp1252 and died on the first other character."""
    path = project / "tests/fixtures/opening_hours.yaml"
    path.write_text(path.read_text().replace("fixture_id: opening_hours", "fixture_id: 營業時間"), encoding="utf-8")
    done = run("compile", PYTHONIOENCODING=encoding)
    assert done.returncode == 0
    assert "✓ 營業時間" in done.stdout.decode("utf-8")
    assert b"\r" not in done.stdout


def test_the_report_is_on_stdout_and_the_rest_on_stderr(quick: Run) -> None:
    done = quick("-v", "compile")
    assert "2 compiled, 0 from the cache" in error_of(done)
    assert b"from the cache" not in done.stdout
    done = quick("-v", "compile")
    assert "0 compiled, 2 from the cache: nothing changed" in error_of(done)


def test_quiet_twice_leaves_only_the_status(quick: Run, project: Path) -> None:
    (project / "fragments/broken.yaml").write_text("fragment_id: [\n")
    done = quick("-qq", "compile")
    assert (done.returncode, done.stdout, done.stderr) == (1, b"", b"")


def test_global_options_stand_on_either_side(quick: Run, project: Path) -> None:
    (project / "sub").mkdir()
    first = quick("-C", "sub", "-v", "compile")
    second = quick("compile", "-C", "sub", "-v")
    assert first.stdout == second.stdout
    assert first.returncode == second.returncode == 0


# --- colour -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("choice", "environment", "terminal", "expected"),
    [
        ("auto", {}, True, True),
        ("auto", {}, False, False),
        ("auto", {"NO_COLOR": "1"}, True, False),
        ("auto", {"NO_COLOR": ""}, True, True),
        ("auto", {"FORCE_COLOR": "1"}, False, True),
        ("auto", {"FORCE_COLOR": "0"}, True, False),
        ("auto", {"NO_COLOR": "1", "FORCE_COLOR": "1"}, True, False),
        ("auto", {"TERM": "dumb"}, True, False),
        ("auto", {"TERM": "dumb", "FORCE_COLOR": "1"}, True, True),
        ("always", {"NO_COLOR": "1", "TERM": "dumb"}, False, True),
        ("never", {"FORCE_COLOR": "1"}, True, False),
    ],
)
def test_precedence_of_colour(choice: str, environment: dict[str, str], terminal: bool, expected: bool) -> None:
    assert wants_color(choice, environment, terminal) is expected


def test_colour_reaches_the_report(quick: Run) -> None:
    assert b"\x1b[" in quick("--color", "always", "compile").stdout
    assert b"\x1b[" in quick("compile", FORCE_COLOR="1").stdout
    assert b"\x1b[" in quick("compile", CTXC_COLOR="always").stdout
    assert b"\x1b[" not in quick("compile").stdout
    assert b"\x1b[" not in quick("--color", "never", "compile", FORCE_COLOR="1").stdout


# --- GitHub Actions ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "environment", "expected"),
    [
        (("compile", "nobody"), {}, False),
        (("compile", "nobody"), {"CTXC_COLOR": "always"}, True),
        (("compile", "nobody", "--color", "always"), {}, True),
        (("--color=always", "compile", "nobody"), {}, True),
        (("compile", "nobody", "--color", "always", "--nonsense"), {}, True),
        (("compile", "nobody", "--color", "never"), {"CTXC_COLOR": "always"}, False),
        (("compile", "nobody", "--color", "never"), {"FORCE_COLOR": "1"}, False),
        (("compile", "nobody"), {"FORCE_COLOR": "1"}, True),
        (("compile", "nobody"), {"FORCE_COLOR": "1", "NO_COLOR": "1"}, False),
        (("compile", "--", "--color", "always"), {}, False),
    ],
)
def test_colour_reaches_errors(
    quick: Run, arguments: tuple[str, ...], environment: dict[str, str], expected: bool
) -> None:
    done = quick(*arguments, **environment)
    assert done.returncode == 2
    assert done.stderr.startswith(b"\x1b[1;31merror\x1b[0m: " if expected else b"error: ")


def test_in_actions_text_comes_with_annotations(quick: Run, project: Path) -> None:
    (project / "fragments/broken.yaml").write_text("fragment_id: [\n")
    done = quick("compile", GITHUB_ACTIONS="true")
    out = done.stdout.decode()
    assert done.returncode == 1
    assert "error[CTX001]" in out
    assert "::error file=fragments/broken.yaml,line=" in out
    assert "::error" not in quick("compile", "--format", "concise", GITHUB_ACTIONS="true").stdout.decode()


@pytest.mark.parametrize("command", ["compile", "lint", "gate"])
def test_annotations_of_a_project_in_a_folder_are_of_files_in_the_repository(
    quick: Run, project: Path, command: str
) -> None:
    (project.parent / ".git").mkdir()
    (project / "fragments/broken.yaml").write_text("fragment_id: [\n")
    out = quick(command, GITHUB_ACTIONS="true").stdout.decode()
    assert "::error file=project/fragments/broken.yaml,line=" in out


def test_in_actions_nothing_that_a_user_wrote_is_a_command(quick: Run, project: Path) -> None:
    evil = '"##[error]x ::set-output name=a::b"'
    path = project / "tests/fixtures/opening_hours.yaml"
    text = path.read_text().replace('"When do you open on Saturdays?"', evil)
    path.write_text(text.replace("fixture_id: opening_hours", "fixture_id: '::add-mask::opening'"))
    for arguments in (("compile",), ("compile", "--request"), ("compile", "--format", "json"), ("list", "fixtures")):
        done = quick(*arguments, GITHUB_ACTIONS="true")
        out = (done.stdout + done.stderr).decode()
        assert "##[" not in out
        assert not any(line.lstrip().startswith("::") for line in out.splitlines())
    request = json.loads(quick("compile", "--request", "::add-mask::opening", GITHUB_ACTIONS="true").stdout)
    assert "##[error]x ::set-output name=a::b" in json.dumps(request)


def test_an_error_about_user_text_is_inert(quick: Run) -> None:
    done = quick("compile", "\x1b]0;x\x07::error::a\u202e")
    assert b"\x1b" not in done.stderr
    assert "\\x1b]0;x\\x07::error::a\\u202e" in error_of(done)
    assert "\u202e" not in error_of(done)


# --- files ------------------------------------------------------------------------------------------------------------


def test_several_artefacts_from_one_run(quick: Run, project: Path) -> None:
    done = quick("compile", "--output", "sarif:out/a.sarif", "--output", "markdown:out/b.md", "--format", "concise")
    assert done.returncode == 0
    assert json.loads((project / "out/a.sarif").read_text())["version"] == "2.1.0"
    assert (project / "out/b.md").read_text().startswith("### ctxc compile")
    assert done.stdout.decode().startswith("opening_hours: compiled")


def test_one_file_a_fixture(quick: Run, project: Path) -> None:
    assert quick("compile", "-o", "out").returncode == 0
    assert sorted(p.name for p in (project / "out").iterdir()) == ["opening_hours.json", "refund_question.json"]
    package = json.loads((project / "out/refund_question.json").read_text())
    assert package["fixture_id"] == "refund_question"
    assert quick("compile", "--request", "-o", "requests").stdout == b""
    assert json.loads((project / "requests/refund_question.json").read_text()) == package["request"]


def test_no_request_of_an_earlier_run_is_left_of_a_refused_fixture(quick: Run, project: Path) -> None:
    quick("compile", "--request", "-o", "requests")
    (project / "requests/other.json").write_text("{}")
    template = project / "templates/helpdesk.yaml"
    template.write_text(template.read_text().replace("ceiling: 3000", "ceiling: 250"))
    assert quick("compile", "--request", "-o", "requests").returncode == 1
    assert sorted(p.name for p in (project / "requests").iterdir()) == ["opening_hours.json", "other.json"]


def test_requests_are_printed_one_a_line(quick: Run) -> None:
    lines = quick("compile", "--request").stdout.decode().splitlines()
    assert [json.loads(line)["model"] for line in lines] == ["gpt-4.1", "gpt-4.1"]


def test_a_read_only_checkout_works(run: Run, project: Path, tmp_path: Path) -> None:
    if os.name == "nt" or os.geteuid() == 0:
        cache = tmp_path / "is-a-file"
        cache.write_text("")
        done = run("compile", CTXC_CACHE_DIR=str(cache))
    else:
        project.chmod(0o555)
        done = run("compile", CTXC_CACHE_DIR="/proc/nowhere")
        project.chmod(0o755)
    assert (done.returncode, done.stderr) == (0, b"")


def test_nothing_is_written_into_the_project(quick: Run, project: Path) -> None:
    before = {p: p.stat().st_mtime_ns for p in project.rglob("*")}
    quick("compile")
    quick("explain", "refund_question")
    quick("list")
    assert {p: p.stat().st_mtime_ns for p in project.rglob("*")} == before


def test_the_cache_is_marked_and_can_be_cleared(quick: Run, tmp_path: Path) -> None:
    quick("compile")
    cache = tmp_path / "cache"
    assert (cache / "CACHEDIR.TAG").read_text().startswith("Signature: 8a477f597d28d172789f06886806bc55")
    assert (cache / ".gitignore").read_text() == "*\n"
    assert "bytes freed" in quick("config", "--clear-cache").stdout.decode()
    assert list(cache.glob("*.sqlite3*")) == []
    assert "2 compiled" in error_of(quick("-v", "compile"))


def test_no_cache_neither_reads_nor_writes(quick: Run, tmp_path: Path) -> None:
    assert quick("--no-cache", "compile").returncode == 0
    assert not (tmp_path / "cache").exists()


# --- completion -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("ctxc com", {"compile"}),
        ("ctxc compile ref", {"refund_question"}),
        ("ctxc compile --template he", {"helpdesk"}),
        ("ctxc explain op", {"opening_hours"}),
        ("ctxc explain refund_question p", {"policy"}),
        ("ctxc explain refund_question kb", {"kb-12"}),
        ("ctxc explain refund_question task", {"task.refund"}),
        ("ctxc explain nobody p", set()),
        ("ctxc compile --format sar", {"sarif"}),
        ("ctxc list frag", {"fragments"}),
        ("ctxc schema templ", {"template"}),
        ("ctxc rule missing-b", {"missing-bump"}),
        ("ctxc lint --select CTX710", {"CTX710"}),
        ("ctxc lint --ignore CTX201,missing-b", {"CTX201,missing-bump"}),
        ("ctxc diff --fixture op", {"opening_hours"}),
    ],
)
def test_names_complete(run: Run, line: str, expected: set[str]) -> None:
    done = run(_CTXC_COMPLETE="complete_bash", COMP_WORDS=line, COMP_CWORD=str(len(line.split()) - 1))
    assert set(done.stdout.decode().split()) == expected
    assert done.stderr == b""


def test_a_broken_project_completes_nothing_and_says_nothing(run: Run, project: Path) -> None:
    (project / "ctxc.yaml").write_text("modle: [\n")
    done = run(_CTXC_COMPLETE="complete_bash", COMP_WORDS="ctxc compile ref", COMP_CWORD="2")
    assert (done.stdout.strip(), done.stderr) == (b"", b"")


def test_in_an_empty_folder_names_of_the_project_complete_to_nothing(run: Run, project: Path) -> None:
    shutil.rmtree(project)
    project.mkdir()
    for line in ("ctxc compile ref", "ctxc explain ref", "ctxc diff --template he"):
        done = run(_CTXC_COMPLETE="complete_bash", COMP_WORDS=line, COMP_CWORD=str(len(line.split()) - 1))
        assert (done.returncode, done.stdout.strip(), done.stderr) == (0, b"", b"")
    done = run(_CTXC_COMPLETE="complete_bash", COMP_WORDS="ctxc comp", COMP_CWORD="1")
    assert done.stdout.split() == [b"compile"]


def test_the_script_for_bash_completes_in_bash(run: Run, project: Path, tmp_path: Path) -> None:
    bash = shutil.which("bash")
    if bash is None:
        pytest.skip("bash is not installed")
    script = run(_CTXC_COMPLETE="source_bash").stdout.decode()
    command = tmp_path / "ctxc"
    command.write_text(f'#!/bin/sh\nexec {sys.executable} -m ctxc "$@"\n')
    command.chmod(0o755)
    text = (
        f'{script}\nCOMP_WORDS=(ctxc compile ref)\nCOMP_CWORD=2\n_ctxc_completion {command}\necho "${{COMPREPLY[@]}}"\n'
    )
    done = subprocess.run(
        [bash, "--norc", "-c", text], cwd=project, capture_output=True, check=False, env=clean_environment()
    )
    assert (done.stdout, done.stderr) == (b"refund_question\n", b"")
    for shell, marks in (("zsh", "#compdef ctxc"), ("fish", "complete --command ctxc")):
        assert run(_CTXC_COMPLETE=f"source_{shell}").stdout.decode().strip().startswith(marks)


@pytest.mark.parametrize("line", ["ctxc com", "ctxc compile ref", "ctxc rule CTX2"])
def test_completing_imports_nothing_heavy(project: Path, line: str) -> None:
    code = (
        "import atexit, sys\natexit.register(lambda: sys.stderr.write(' '.join(sys.modules)))\n"
        "sys.argv = ['ctxc']\nfrom ctxc.__main__ import main\nsys.exit(main([]))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=project, capture_output=True, check=False,
        env={**clean_environment(), "_CTXC_COMPLETE": "complete_bash", "COMP_WORDS": line,
             "COMP_CWORD": str(len(line.split()) - 1)},
    )  # fmt: skip
    assert done.stdout.split()
    heavy = {"rich", "jsonschema", "git", "tiktoken", "regex", "deepdiff", "pydantic", "re2", "jinja2"}
    assert not heavy & set(done.stderr.decode().split())


def test_fish_completes_what_the_script_for_fish_offers(run: Run, project: Path, tmp_path: Path) -> None:
    fish = shutil.which("fish")
    if fish is None:
        pytest.skip("fish is not installed")
    command = tmp_path / "ctxc"
    command.write_text(f'#!/bin/sh\nexec {sys.executable} -m ctxc "$@"\n')
    command.chmod(0o755)
    done = subprocess.run(
        [fish, "-c", run(_CTXC_COMPLETE="source_fish").stdout.decode() + "\ncomplete -C 'ctxc compile ref'"],
        cwd=project, capture_output=True, check=False,
        env={**clean_environment(), "HOME": str(tmp_path), "PATH": f"{tmp_path}{os.pathsep}{os.environ['PATH']}"},
    )  # fmt: skip
    assert done.stdout == b"refund_question\n"


@pytest.mark.parametrize(
    ("shell", "mark"),
    [("bash", "complete -o default -F _ctxc_completion"), ("zsh", "#compdef ctxc"), ("fish", "complete")],
)
def test_the_script_for_a_shell_is_shown(run: Run, shell: str, mark: str) -> None:
    assert "--install-completion" in run("--help").stdout.decode()
    done = run("--show-completion", shell, _TYPER_COMPLETE_TEST_DISABLE_SHELL_DETECTION="1")
    assert done.returncode == 0
    assert mark in done.stdout.decode()


# --- watch ------------------------------------------------------------------------------------------------------------


@pytest.mark.skipif(os.name == "nt", reason="needs a pseudo-terminal")
def test_watch_compiles_again_after_a_change_and_ends_with_130(project: Path, tmp_path: Path) -> None:
    import pty
    import select
    import signal
    import time

    leader, follower = pty.openpty()
    # A job in the background of a shell ignores the signal, and so would its children.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    process = subprocess.Popen(
        [sys.executable, "-m", "ctxc", "compile", "--watch"],
        cwd=project, stdin=follower, stdout=follower, stderr=follower, start_new_session=True,
        env={**os.environ, "CTXC_CACHE_DIR": str(tmp_path / "cache"), "TERM": "xterm", "COLUMNS": "120"},
    )  # fmt: skip
    signal.signal(signal.SIGINT, before)
    os.close(follower)
    seen = ""

    def read_until(text: str, count: int) -> None:
        nonlocal seen
        end = time.monotonic() + 30
        while seen.count(text) < count and time.monotonic() < end:
            if select.select([leader], [], [], 0.2)[0]:
                seen += os.read(leader, 65536).decode("utf-8", "replace")
        assert seen.count(text) >= count, seen

    try:
        read_until("watching", 1)
        assert "2 fixtures, all as expected" in seen
        (project / "ctxc.yaml").write_text("modle: x\n")
        read_until("watching", 2)
        assert 'did you mean "model"?' in seen
        (project / "ctxc.yaml").write_text("provider: openai\nmodel: gpt-4o\n")
        read_until("watching", 3)
        assert seen.count("2 fixtures, all as expected") == 2
        process.send_signal(signal.SIGINT)
        assert process.wait(30) == 130
    finally:
        process.kill()
        process.wait()
        os.close(leader)
