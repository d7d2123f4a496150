"""The one comment: found, made, changed, left alone, left out; and nothing in it that a change could have put there."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest
from actions import ACTION, BOT, TOKEN, Github

sys.path.insert(0, str(ACTION))

from ctxc_action import comment, pages
from ctxc_action.runner import Runner

PAGE = "### ✅ ctxc gate: passed, no findings\n\nAll is well.\n"
SOMEBODY = {"login": "mallory", "type": "User"}


class Desk:
    """A step with a report, and what the server then has."""

    def __init__(self, folder: Path, hub: Github) -> None:
        self.folder, self.hub = folder, hub
        self.report: dict[str, Any] = {
            "findings": [{}],
            "release": {"changes": [], "bundle": "bnd_1", "base_bundle": "bnd_1"},
        }
        self.request: dict[str, Any] = {
            "number": 7,
            "head": {"repo": {"full_name": "ada/desk"}},
            "base": {"repo": {"full_name": "ada/desk"}},
        }
        self.page = PAGE

    def runner(self, **environment: str) -> Runner:
        files = {"report.json": json.dumps(self.report), "page.md": self.page}
        files["event.json"] = json.dumps({"pull_request": self.request})
        for name, text in files.items():
            (self.folder / name).write_text(text, encoding="utf-8", newline="\n")
        return Runner({
            "GITHUB_API_URL": self.hub.url, "GITHUB_REPOSITORY": "ada/desk", "GITHUB_EVENT_NAME": "pull_request",
            "GITHUB_EVENT_PATH": str(self.folder / "event.json"), "GITHUB_WORKFLOW": "context", "GITHUB_JOB": "gate",
            "GATE_COMMENT": "auto", "GATE_TOKEN": TOKEN, "GATE_EXIT_CODE": "0",
            "GATE_JSON": str(self.folder / "report.json"), "GATE_MARKDOWN": str(self.folder / "page.md"), **environment,
        })  # fmt: skip

    def post(self, **environment: str) -> list[tuple[str, str]]:
        """Run the step; what it changed on the server."""
        self.hub.asked.clear()
        assert comment.run(self.runner(**environment)) == 0
        return self.hub.writes()

    @property
    def marker(self) -> str:
        return comment.marker(self.runner())


@pytest.fixture
def desk(tmp_path: Path, hub: Github, monkeypatch: pytest.MonkeyPatch) -> Desk:
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    return Desk(tmp_path, hub)


MADE = [("POST", "/repos/ada/desk/issues/7/comments")]


def changed(number: int) -> list[tuple[str, str]]:
    return [("PATCH", f"/repos/ada/desk/issues/comments/{number}")]


def test_it_is_made_changed_and_left_as_it_is(desk: Desk) -> None:
    assert desk.post() == MADE
    assert desk.hub.comments == [{"id": 900, "user": BOT, "body": f"{desk.marker}\n{PAGE}"}]
    assert desk.post() == []
    desk.page = PAGE.replace("✅", "❌")
    assert desk.post() == changed(900)
    assert desk.hub.comments == [{"id": 900, "user": BOT, "body": f"{desk.marker}\n{desk.page}"}]


def test_line_ends_that_a_server_changes_are_no_change(desk: Desk) -> None:
    desk.post()
    desk.hub.comments[0]["body"] = desk.hub.comments[0]["body"].replace("\n", "\r\n").strip()
    assert desk.post() == []


def test_it_is_found_on_the_second_page(desk: Desk) -> None:
    desk.hub.comments = [{"id": n, "user": SOMEBODY, "body": "A word."} for n in range(1, 131)]
    desk.hub.comments[120] |= {"user": BOT, "body": f"{desk.marker}\nbefore"}
    assert desk.post() == changed(121)
    assert [a for a in desk.hub.asked if a[0] == "GET"] == [
        ("GET", f"/repos/ada/desk/issues/7/comments?per_page=100&page={n}") for n in (1, 2)
    ]
    assert len(desk.hub.comments) == 130


def test_exactly_one_page_of_others(desk: Desk) -> None:
    desk.hub.comments = [{"id": n, "user": SOMEBODY, "body": "A word."} for n in range(100)]
    assert desk.post() == MADE
    assert len(desk.hub.comments) == 101


@pytest.mark.parametrize(
    "forged",
    [
        {"user": SOMEBODY},
        {"user": {"login": "github-actions[bot]", "type": "User"}},
        {"user": {"login": "other-app[bot]", "type": "Bot"}},
        {"user": None},
        {"body": " MARKER\n"},
        {"body": "> MARKER\n"},
        {"body": "A report that quotes\nMARKER\n"},
        {"body": None},
        {"body": "<!-- ctxc-gate 0000000000000000 -->\nof another job"},
    ],
    ids=str,
)
def test_a_comment_that_is_not_ours_is_never_touched(desk: Desk, forged: dict[str, Any]) -> None:
    theirs = {"id": 5, "user": BOT, "body": "MARKER\nmine", **forged}
    if theirs["body"]:
        theirs["body"] = theirs["body"].replace("MARKER", desk.marker)
    desk.hub.comments = [dict(theirs)]
    assert desk.post() == MADE
    assert desk.hub.comments[0] == theirs
    assert desk.post() == []


def test_a_token_of_somebody_else_has_comments_of_its_own(desk: Desk) -> None:
    desk.hub.comments = [{"id": 3, "user": {"login": "ada", "type": "User"}, "body": f"{desk.marker}\nbefore"}]
    assert desk.post(GATE_COMMENT_AUTHOR="ada") == changed(3)


def test_two_uses_have_two_comments(desk: Desk) -> None:
    desk.post()
    assert desk.post(GATE_COMMENT_KEY="second") == MADE
    assert desk.post(GITHUB_JOB="other") == MADE
    assert desk.post(GATE_PROJECT="apps/desk") == MADE
    assert len({c["body"].partition("\n")[0] for c in desk.hub.comments}) == 4


def test_where_there_is_nothing_to_tell_none_is_made(desk: Desk) -> None:
    desk.report["findings"] = []
    assert desk.post() == []
    assert desk.post(GATE_COMMENT="always") == MADE
    desk.page = "other"
    assert desk.post() == changed(900)  # one that is there never shows what no longer holds


@pytest.mark.parametrize(
    "why",
    [
        {"GATE_EXIT_CODE": "2"},
        {"GATE_EXIT_CODE": ""},
        {"findings": [{}]},
        {"changes": [{}]},
        {"base_bundle": "bnd_0"},
        {"GATE_JSON": "no such file"},
    ],
    ids=str,
)
def test_what_is_worth_telling(desk: Desk, why: dict[str, Any]) -> None:
    desk.report["findings"] = []
    environment = {k: v for k, v in why.items() if k.startswith("GATE_")}
    for name, value in why.items():
        (desk.report if name == "findings" else desk.report["release"])[name] = value
    assert desk.post(**environment) == MADE


@pytest.mark.parametrize("method", ["GET", "POST", "PATCH"])
@pytest.mark.parametrize(("status", "level"), [(401, "notice"), (403, "notice"), (404, "notice"), (502, "warning")])
def test_a_server_that_says_no_changes_nothing(
    desk: Desk, capsys: pytest.CaptureFixture[str], method: str, status: int, level: str
) -> None:
    if method == "PATCH":
        desk.post()
        desk.page = "other"
    desk.hub.answer = {method: status}
    before = [dict(c) for c in desk.hub.comments]
    desk.post()
    told = capsys.readouterr().out.splitlines()[-1]
    assert told.startswith(f"::{level} title=ctxc gate::no comment: ")
    assert f"GitHub answered {status}" in told
    assert "Resource not accessible" not in told
    assert desk.hub.comments == before


def test_a_server_that_is_not_there(desk: Desk, capsys: pytest.CaptureFixture[str]) -> None:
    comment.run(desk.runner(GITHUB_API_URL="http://127.0.0.1:9"))
    assert "::warning title=ctxc gate::no comment: GitHub did not answer" in capsys.readouterr().out
    comment.run(desk.runner(GITHUB_API_URL="file:///etc/passwd"))
    assert "GitHub did not answer" in capsys.readouterr().out


def test_the_token_is_not_taken_elsewhere(desk: Desk) -> None:
    desk.hub.answer = {"GET": 302}
    desk.post()
    assert [path for _, path in desk.hub.asked] == ["/repos/ada/desk/issues/7/comments?per_page=100&page=1"]


@pytest.mark.parametrize(
    "environment",
    [
        {"GATE_TOKEN": ""},
        {"GITHUB_REPOSITORY": "ada/desk/../../other"},
        {"GITHUB_EVENT_NAME": "push"},
        {"GITHUB_EVENT_NAME": "pull_request_target"},
        {"GITHUB_EVENT_PATH": "no such file"},
    ],
    ids=str,
)
def test_where_nobody_is_asked(desk: Desk, environment: dict[str, str]) -> None:
    desk.post(**environment)
    assert desk.hub.asked == []


@pytest.mark.parametrize("repo", [{"full_name": "eve/desk"}, None])
def test_a_fork_is_told_and_nobody_is_asked(
    desk: Desk, capsys: pytest.CaptureFixture[str], repo: dict[str, str] | None
) -> None:
    desk.request["head"] = {"repo": repo}
    desk.post()
    assert desk.hub.asked == []
    assert "::notice title=ctxc gate::no comment: the pull request comes from a fork" in capsys.readouterr().out


@pytest.mark.parametrize("number", [None, 0, -1, "7/../8", True, 1.5])
def test_a_number_that_is_none(desk: Desk, number: object) -> None:
    desk.request["number"] = number
    desk.post()
    assert desk.hub.asked == []


def test_the_comment_fits() -> None:
    row = "| `desk` | changed | 😀 |\n"
    whole = "### title\n\n<details><summary>x</summary>\n\n" + row * 5000 + "\n</details>\n"
    text = pages.fit_comment(whole)
    assert len(text.encode("utf-16-le")) // 2 <= pages.COMMENT_LIMIT
    assert len(text) > 60_000
    left = 5000 + 6 - len(text.split("\n</details>")[0].splitlines()) - 0
    assert text.endswith(f"\n</details>\n\n{left:,} more lines left out: the limit is 65,536 characters.\n")
    assert pages.fit_comment("short\n") == "short\n"


def test_the_summary_fits() -> None:
    said = "```\n" + "é" * 2_000_000 + "\n" + "line ```` of ```\n" * 200_000
    text = pages.fit_summary(pages.not_judged(2, said))
    assert len(text.encode()) <= pages.SUMMARY_LIMIT
    assert text.startswith("### ❌ ctxc gate: nothing could be judged (status 2)\n\n`````text\n")
    assert text.rstrip().splitlines()[-3] == "`````"


def test_what_stands_in_a_fence_stays_in_it() -> None:
    markdown_it = pytest.importorskip("markdown_it", reason="needs markdown-it")
    said = "@everyone ```\n</details><script>alert(1)</script>\n````\n# big\n<!-- ctxc-gate 00 -->\n"
    kinds = [t.type for t in markdown_it.MarkdownIt("commonmark").parse(pages.not_judged(2, said))]
    assert kinds == ["heading_open", "inline", "heading_close", "fence"]


@pytest.mark.parametrize("value", ["x\nPATH=/evil", "x\rPATH=/evil", "x\n"])
def test_t085_an_output_is_one_line(tmp_path: Path, value: str) -> None:
    """A line end in a value would set another output, or end the list."""
    file = tmp_path / "output"
    runner = Runner({"GITHUB_OUTPUT": str(file)})
    runner.output("findings", 3)
    with pytest.raises(ValueError, match="the output report has a line end"):
        runner.output("report", value)
    assert file.read_bytes() == b"findings=3\n"
