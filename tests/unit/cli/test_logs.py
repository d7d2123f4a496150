"""What the console prints into logs that are read for commands."""

from __future__ import annotations

import json

import pytest
from hostile import runner_commands

from ctxc.app.logs import is_read_log
from ctxc.cli.console import Console

HOSTILE = "##vso[task.setvariable variable=x]y\n::error::x\na ##[error]b\n##teamcity[testFailed]\n"
READ = [{"GITHUB_ACTIONS": "true"}, {"TF_BUILD": "True"}, {"TEAMCITY_VERSION": "2026.1"}]


@pytest.mark.parametrize("environment", READ, ids=str)
def test_no_line_of_such_a_log_is_a_command(environment: dict[str, str], capsys: pytest.CaptureFixture[str]) -> None:
    console = Console(environment=environment)
    console.report(HOSTILE)
    console.note(HOSTILE)
    console.report(json.dumps({"a": HOSTILE}) + "\n", machine=True)
    said = capsys.readouterr()
    for text in (said.out, said.err):
        assert runner_commands(text) == []
        assert "##vso[" not in text
        assert "##teamcity[" not in text
    assert json.loads(said.out.splitlines()[-1]) == {"a": HOSTILE}
    assert said.out.startswith("##vso\\[task.setvariable variable=x]y\n")


def test_elsewhere_texts_are_as_they_are(capsys: pytest.CaptureFixture[str]) -> None:
    Console(environment={}).report(HOSTILE)
    assert capsys.readouterr().out == HOSTILE
    assert not is_read_log({"GITHUB_ACTIONS": "false", "CI": "true"})


def test_commands_that_are_meant_are_not_touched(capsys: pytest.CaptureFixture[str]) -> None:
    Console(environment={"GITHUB_ACTIONS": "true"}).report("::error file=a::x\n", commands=True)
    assert capsys.readouterr().out == "::error file=a::x\n"
