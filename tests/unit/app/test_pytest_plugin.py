"""Fixtures as tests of pytest, run by pytest itself."""

from __future__ import annotations

import tomllib
from importlib.metadata import entry_points
from pathlib import Path
from xml.etree import ElementTree

import pytest
from hostile import is_hidden, runner_commands

import ctxc
import ctxc.app.gates._caches
import ctxc.app.rows
import ctxc.report._frame
from ctxc.app.withhold import Withholder

pytest_plugins = ["pytester"]

ROOT = Path(__file__).parents[3]
TEMPLATE = """\
template_id: desk
version: 1
provider: openai
model: gpt-4o
budget: {output_reserve: 100, ceiling: 400}
sections:
  - {id: policy, source: literal, text: Answer briefly.}
  - {id: fragments, source: fragments}
  - {id: user, source: runtime, required: true}
"""
REFUND = "fixture_id: refund\ntemplate: desk\ninputs: {user: It leaks.}\nexpect: {must_contain: [briefly]}\n"
HOURS = "fixture_id: hours\ntemplate: desk\ninputs: {user: When do you open?}\n"
TALK = (
    "conversation_id: talk\ntemplate: desk\nturns:\n  - {inputs: {user: Hello.}, reply: How can I help?}\n"
    "  - {inputs: {user: It leaks.}}\n"
)


FILES = {
    "ctxc.yaml": "{}\n",
    "pytest.ini": "[pytest]\naddopts = -p no:cacheprovider\n",
    "templates/desk.yaml": TEMPLATE,
    "fragments/manifest.yaml": "fragments:\n  - {fragment_id: a, version: 1, path: a.md, kind: core, load_mode: always}\n",
    "fragments/a.md": "Name your source.\n",
    "tests/fixtures/refund.yaml": REFUND,
    "tests/fixtures/hours.yaml": HOURS,
    "tests/fixtures/talk.yaml": TALK,
}  # fmt: skip


@pytest.fixture(scope="module", autouse=True)
def preloaded(tmp_path_factory: pytest.TempPathFactory) -> None:
    """Import what ctxc imports late: a run inside this process drops the modules that it was the first to import."""
    root = tmp_path_factory.mktemp("preloaded")
    write(root, FILES)
    loaded = ctxc.load(root)
    for name in loaded.fixtures:
        Withholder().check(loaded, ctxc.compile(loaded, name))


@pytest.fixture
def project(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project with two fixtures and a conversation of two turns."""
    monkeypatch.delenv("PYTEST_ADDOPTS", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(pytester.path / "cache"))
    write(pytester.path, FILES)
    return pytester.path


def write(root: Path, files: dict[str, str]) -> None:
    for path, text in files.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text, encoding="utf-8")


def lines(result: pytest.RunResult) -> str:
    return "\n".join(result.outlines)


ALL = [
    "ctxc::sources",
    "tests/fixtures/hours.yaml::hours",
    "tests/fixtures/refund.yaml::refund",
    "tests/fixtures/talk.yaml::talk.1",
    "tests/fixtures/talk.yaml::talk.2",
]


def test_the_package_brings_the_plugin() -> None:
    told = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["entry-points"]["pytest11"]
    assert told == {"ctxc": "ctxc.app.pytest_plugin"}
    assert [e.value for e in entry_points(group="pytest11", name="ctxc")] == ["ctxc.app.pytest_plugin"]


# --- what is collected ----------------------------------------------------------------------------------------------


def test_nothing_is_collected_and_nothing_imported_unless_asked(pytester: pytest.Pytester, project: Path) -> None:
    probe = (
        "import sys\ndef test_what_is_imported():\n    found = {m for m in sys.modules if m.split('.')[0] == 'ctxc'}\n"
        "    assert found == {'ctxc', 'ctxc.app', 'ctxc.app.pytest_plugin'}\n"
        "    assert not {'yaml', 'tiktoken', 'jsonschema', 'git', 'typer'} & sys.modules.keys()\n"
    )
    write(project, {"tests/test_probe.py": probe, "ctxc.yaml": "no such key: 1\n"})
    result = pytester.runpytest_subprocess("-p", "no:anyio", "-p", "no:hypothesispytest", "-q")
    result.assert_outcomes(passed=1)
    assert result.ret == 0


def test_each_fixture_is_a_test_with_its_id(pytester: pytest.Pytester, project: Path) -> None:
    result = pytester.runpytest("--ctxc", "-v")
    assert result.ret == 0
    result.assert_outcomes(passed=5)
    assert [line.split(" PASSED")[0] for line in result.outlines if " PASSED" in line] == ALL
    assert "collected 5 items" in lines(result)


@pytest.mark.parametrize(
    ("arguments", "names"),
    [
        (["-k", "refund"], ALL[2:3]),
        (["tests/fixtures/hours.yaml"], ALL[:2]),
        (["tests/fixtures/talk.yaml::talk.2"], ALL[4:]),
        (["tests/fixtures/hours.yaml", "tests/fixtures/refund.yaml"], ALL[:3]),
        (["--deselect", ALL[0]], ALL[1:]),
    ],
)
def test_tests_are_chosen_as_others_are(
    pytester: pytest.Pytester, project: Path, arguments: list[str], names: list[str]
) -> None:
    result = pytester.runpytest("--ctxc", "-v", *arguments)
    assert [line.split(" PASSED")[0] for line in result.outlines if " PASSED" in line] == names


def test_the_order_is_the_same_under_every_hash_seed(
    pytester: pytest.Pytester, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for seed in ("1", "2"):
        monkeypatch.setenv("PYTHONHASHSEED", seed)
        result = pytester.runpytest_subprocess("--ctxc", "--collect-only", "-q")
        assert [line for line in result.outlines if "::" in line] == ALL


def test_several_processes_share_the_tests(pytester: pytest.Pytester, project: Path) -> None:
    pytest.importorskip("xdist", reason="needs pytest-xdist")
    write(project, {"tests/fixtures/refund.yaml": REFUND.replace("briefly", "at length")})
    result = pytester.runpytest_subprocess("--ctxc", "-n", "2")
    result.assert_outcomes(passed=4, failed=1)
    assert "error[CTX801] expectation-failed" in lines(result)


def test_a_folder_that_pytest_would_not_look_at_is_looked_at(pytester: pytest.Pytester, project: Path) -> None:
    write(project, {
        "ctxc.yaml": "fixtures: [evals]\n",
        "evals/refund.yaml": REFUND,
        "pytest.ini": "[pytest]\ntestpaths = tests\naddopts = --ctxc -p no:cacheprovider\n",
        "tests/test_a.py": "def test_a(): pass\n",
    })  # fmt: skip
    result = pytester.runpytest("-v")
    assert result.ret == 0
    assert [line.split(" PASSED")[0] for line in result.outlines if " PASSED" in line] == [
        "tests/test_a.py::test_a", "ctxc::sources", "evals/refund.yaml::refund",
    ]  # fmt: skip


def test_a_project_in_a_folder_of_the_repository(pytester: pytest.Pytester, project: Path) -> None:
    for name in ("ctxc.yaml", "templates", "fragments", "tests"):
        (project / "prompts").mkdir(exist_ok=True)
        (project / name).rename(project / "prompts" / name)
    write(project, {"pytest.ini": "[pytest]\nctxc_project = prompts\naddopts = -p no:cacheprovider\n"})
    result = pytester.runpytest("--ctxc", "-v")
    assert [line.split(" PASSED")[0] for line in result.outlines if " PASSED" in line] == [
        name if name == ALL[0] else f"prompts/{name}" for name in ALL
    ]


def test_the_environment_names_a_project_as_it_does_for_the_command(
    pytester: pytest.Pytester, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(
        project,
        {"other/ctxc.yaml": "{}\n", "other/templates/desk.yaml": TEMPLATE, "other/tests/fixtures/a.yaml": HOURS},
    )
    monkeypatch.setenv("CTXC_PROJECT", "other")
    result = pytester.runpytest("--ctxc", "-v")
    assert [line.split(" PASSED")[0] for line in result.outlines if " PASSED" in line] == [
        ALL[0], "other/tests/fixtures/a.yaml::hours",
    ]  # fmt: skip


def test_the_page_shows_what_is_printed(pytester: pytest.Pytester, project: Path) -> None:
    from ctxc.app.init import write_starter

    started = project / "started"
    write_starter(started)
    path = started / "tests/fixtures/refund_question.yaml"
    path.write_text(path.read_text("utf-8").replace("sent back within 30 days", "sent back within 31 days"), "utf-8")
    write(started, {"pytest.ini": "[pytest]\naddopts = -p no:cacheprovider\n"})
    result = pytester.runpytest("--ctxc", "--rootdir", str(started), "-c", str(started / "pytest.ini"), str(started))
    page = (ROOT / "docs/pytest.md").read_text(encoding="utf-8").split("```console\n")[1].split("```")[0]
    block = page[page.index("error[") :].splitlines()
    at = result.outlines.index(block[0])
    assert result.outlines[at : at + len(block)] == block


# --- what fails -----------------------------------------------------------------------------------------------------


def test_an_expectation_that_does_not_hold(pytester: pytest.Pytester, project: Path) -> None:
    write(project, {"tests/fixtures/refund.yaml": REFUND.replace("briefly", "at length")})
    result = pytester.runpytest("--ctxc", "--junitxml=out.xml")
    assert result.ret == 1
    result.assert_outcomes(passed=4, failed=1)
    at = result.outlines.index(next(line for line in result.outlines if line.startswith("error[")))
    assert result.outlines[at : at + 5] == [
        "error[CTX801] expectation-failed: the request does not contain 'at length'",
        " --> tests/fixtures/refund.yaml:4:25  (fixture refund)",
        "  |",
        "4 | expect: {must_contain: [at length]}",
        "  |                         ^^^^^^^^^",
    ]
    assert "Traceback" not in lines(result)
    assert "pytest_plugin.py" not in lines(result)
    cases = {c.get("name"): c for c in ElementTree.parse(project / "out.xml").iter("testcase")}
    assert list(cases) == ["sources", "hours", "refund", "talk.1", "talk.2"]
    failure = cases["refund"].find("failure")
    assert failure is not None
    assert (failure.get("message") or "").startswith("error[CTX801] expectation-failed")
    told = {p.get("name"): p.get("value") for p in cases["hours"].iter("property")}
    assert told["ctxc_outcome"] == "compiled"
    assert int(told["ctxc_tokens"] or 0) > 0


def test_the_first_failure_ends_the_run_where_that_was_asked(pytester: pytest.Pytester, project: Path) -> None:
    write(project, {"tests/fixtures/hours.yaml": HOURS + "expect: {max_input_tokens: 1}\n"})
    pytester.runpytest("--ctxc", "-x").assert_outcomes(passed=1, failed=1)


def test_an_outcome_that_nobody_expected(pytester: pytest.Pytester, project: Path) -> None:
    write(project, {"templates/desk.yaml": TEMPLATE.replace("ceiling: 400", "ceiling: 15")})
    result = pytester.runpytest("--ctxc")
    result.assert_outcomes(passed=1, failed=4)
    assert "tests/fixtures/hours.yaml" in lines(result)
    assert "budget_exceeded" in lines(result)


def test_an_outcome_that_is_expected(pytester: pytest.Pytester, project: Path) -> None:
    write(project, {
        "templates/desk.yaml": TEMPLATE.replace("ceiling: 400", "ceiling: 15"),
        "tests/fixtures/hours.yaml": HOURS + "expect: {outcome: budget_exceeded}\n",
    })  # fmt: skip
    pytester.runpytest("--ctxc", "-k", "hours").assert_outcomes(passed=1)


def test_a_fixture_that_cannot_be_compiled(pytester: pytest.Pytester, project: Path) -> None:
    write(project, {"tests/fixtures/hours.yaml": HOURS.replace("template: desk", "template: desc")})
    result = pytester.runpytest("--ctxc", "-k", "hours")
    result.assert_outcomes(failed=1)
    assert "error[CTX102] unknown-reference: there is no template 'desc'. Did you mean 'desk'?" in result.outlines
    assert " --> tests/fixtures/hours.yaml:2:11  (fixture hours)" in result.outlines


def test_a_source_that_no_fixture_uses(pytester: pytest.Pytester, project: Path) -> None:
    write(project, {"templates/other.yaml": "template_id: [\n"})
    result = pytester.runpytest("--ctxc")
    result.assert_outcomes(passed=4, failed=1)
    assert "FAILED ctxc::sources - error[CTX001] syntax" in lines(result)
    assert any(line.strip().startswith("--> templates/other.yaml:") for line in result.outlines)


def test_a_file_that_should_hold_a_fixture(pytester: pytest.Pytester, project: Path) -> None:
    write(project, {"tests/fixtures/hours.yaml": "fixture_id: hours\ntemplate: [\n"})
    result = pytester.runpytest("--ctxc")
    assert result.ret == 2
    result.assert_outcomes(errors=1)
    assert any(line.strip().startswith("--> tests/fixtures/hours.yaml:3:") for line in result.outlines)
    assert "Traceback" not in lines(result)


def test_a_secret_in_the_request_fails_and_is_not_printed(pytester: pytest.Pytester, project: Path) -> None:
    secret = "ghp_" + "q7Xw2Lr9Tn4Vb6Mz1Kc8Js5Hd3Fg0PaYeUiR"
    write(project, {"tests/fixtures/hours.yaml": HOURS.replace("When do you open?", f"My token is {secret}")})
    result = pytester.runpytest("--ctxc", "-k", "hours")
    result.assert_outcomes(failed=1)
    assert "secret" in lines(result)
    assert secret not in lines(result)


# --- what cannot be a silent pass -----------------------------------------------------------------------------------


def test_no_fixtures_at_all(pytester: pytest.Pytester, project: Path) -> None:
    for path in (project / "tests/fixtures").iterdir():
        path.unlink()
    write(project, {"tests/test_a.py": "def test_a(): pass\n"})
    result = pytester.runpytest("--ctxc")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    assert "ERROR: --ctxc: the project has no fixtures, so nothing would be tested" in result.errlines
    assert pytester.runpytest().ret == 0


def test_a_configuration_that_cannot_be_used(pytester: pytest.Pytester, project: Path) -> None:
    write(project, {"ctxc.yaml": "fixturs: [evals]\n"})
    result = pytester.runpytest("--ctxc")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    assert 'ERROR: --ctxc: ctxc.yaml:1:1: unknown key "fixturs"; did you mean "fixtures"?' in result.errlines
    assert "Traceback" not in "\n".join(result.errlines)


def test_fixtures_that_are_left_out_as_a_whole(pytester: pytest.Pytester, project: Path) -> None:
    write(project, {"tests/test_a.py": "def test_a(): pass\n"})
    result = pytester.runpytest("--ctxc", "--ignore=tests/fixtures")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    assert "none of the project's 4 fixtures was collected" in "\n".join(result.errlines)


def test_a_file_of_python_alone_asks_nothing_of_the_project(pytester: pytest.Pytester, project: Path) -> None:
    write(project, {"ctxc.yaml": "fixturs: 1\n", "tests/test_a.py": "def test_a(): pass\n"})
    result = pytester.runpytest("--ctxc", "tests/test_a.py")
    result.assert_outcomes(passed=1)
    assert result.ret == 0


# --- what people and logs see ---------------------------------------------------------------------------------------


def test_what_a_fixture_says_is_harmless(
    pytester: pytest.Pytester, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    words = '"\\e[31m\\u202e\\n::error::x ##[error]y"'
    write(project, {
        "tests/fixtures/hours.yaml": HOURS + f"expect: {{must_contain: [{words}]}}\n",
        "tests/fixtures/refund.yaml": REFUND.replace("refund", "'::error::##[error]x'"),
    })  # fmt: skip
    result = pytester.runpytest("--ctxc", "-v", "--color=no")
    result.assert_outcomes(passed=4, failed=1)
    text = lines(result)
    assert [c for c in text if is_hidden(c) and c != "\n"] == []
    assert runner_commands(text) == []
    assert "##\\[error]x PASSED" in text


# --- tests in Python ------------------------------------------------------------------------------------------------


def test_python_compiles_fixtures_of_the_project(pytester: pytest.Pytester, project: Path) -> None:
    write(project, {"tests/test_requests.py": (
        "import json, pytest\n"
        "from dataclasses import replace\n"
        "def test_sent(ctxc_compile, ctxc_project):\n"
        "    package = ctxc_compile('refund')\n"
        "    assert 'Answer briefly.' in json.dumps(package.request)\n"
        "    assert package.as_expected\n"
        "    made = replace(ctxc_project.fixtures['refund'], id='made')\n"
        "    assert ctxc_compile(made).fixture_id == 'made'\n"
        "    other = ctxc_compile('refund', provider='anthropic', model='claude-sonnet-4-5')\n"
        "    assert 'max_tokens' in other.request\n"
        "def test_unknown(ctxc_compile):\n"
        "    with pytest.raises(Exception, match='there is no fixture'):\n"
        "        ctxc_compile('refunds')\n"
    )})  # fmt: skip
    result = pytester.runpytest("tests")
    result.assert_outcomes(passed=2)
