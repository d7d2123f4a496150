"""The whole action on real checkouts of a pull request: what it judges, what it leaves, how it ends."""

from __future__ import annotations

import base64
import gzip
import json
from pathlib import Path

import pytest
from actions import TOKEN, Github
from gate_world import STEPS
from pull_requests import PullRequest, reworded
from repos import Repo

ALL = ["install", "gate", "Comment", "Verdict"]


def test_a_change_that_may_ship(good: PullRequest, hub: Github) -> None:
    played = good.job(hub).play()
    assert played.steps == dict.fromkeys(ALL, 0)
    kept = {k: v for k, v in played.outputs.items() if not k.startswith("report")}
    assert kept == {
        "exit-code": "0", "findings": "0", "errors": "0", "warnings": "0", "token-difference": "-6",
        "prefix-changed": "true",
    }  # fmt: skip
    for name in ("json", "markdown", "html", "sarif"):
        assert Path(played.outputs[f"report-{name}"]).parent == Path(played.outputs["reports"])
        assert Path(played.outputs[f"report-{name}"]).stat().st_size > 200
    assert played.summary == Path(played.outputs["report-markdown"]).read_text(encoding="utf-8")
    assert played.summary.startswith("### ✅ ctxc gate: passed, no findings\n")
    assert [g["id"] for g in json.loads(Path(played.outputs["report-json"]).read_text())["gates"]] == list(STEPS)
    assert len(hub.comments) == 1
    assert hub.tokens == {f"Bearer {TOKEN}"}


def test_a_change_that_may_not_ship_fails_last(bad: PullRequest, hub: Github) -> None:
    played = bad.job(hub).play(reports="junit, gitlab")
    assert played.steps == {"install": 0, "gate": 0, "Comment": 0, "Verdict": 1}
    assert played.outputs["exit-code"] == played.outputs["findings"] == played.outputs["errors"] == "1"
    assert "::error file=policies/desk.md,line=3,col=34,endColumn=55,title=CTX340 forbidden-content::" in played.log
    assert played.summary.startswith("### ❌ ctxc gate: failed, 1 error\n")
    assert "desk@acme-support.com" not in played.summary + played.log
    assert hub.comments[0]["body"].partition("\n")[2] == played.summary
    names = sorted(p.name for p in Path(played.outputs["reports"]).iterdir())
    assert names == ["ctxc-gate." + e for e in ("gitlab.json", "html", "json", "md", "sarif", "xml")]


def test_the_work_tree_is_left_as_it_was(bad: PullRequest, hub: Github) -> None:
    job = bad.job(hub)
    job.play()
    assert Repo(job.checkout).git("status", "--porcelain", "--ignored") == ""


def test_what_fails_is_for_the_workflow_to_say(bad: PullRequest, hub: Github) -> None:
    assert bad.job(hub).play(fail_on="never", only="forbidden").status == 0
    played = bad.job(hub).play(only="schema,budget")
    assert (played.status, played.outputs["errors"]) == (0, "0")
    assert bad.job(hub).play(args="--only=forbidden\n--all\n").status == 1


def test_a_checkout_of_depth_one_says_what_is_missing(good: PullRequest, hub: Github) -> None:
    played = good.job(hub, depth=1).play()
    assert played.steps == {"install": 0, "gate": 0, "Comment": 0, "Verdict": 2}
    assert played.outputs["exit-code"] == "2"
    assert {v for k, v in played.outputs.items() if k not in ("exit-code", "reports", "report-markdown")} == {""}
    assert played.summary.startswith("### ❌ ctxc gate: nothing could be judged (status 2)\n\n```text\nerror: ")
    for word in (good.base, "shallow", "fetch-depth: 0", f"git fetch --depth=1 origin {good.base}"):
        assert word in played.summary
    assert hub.comments[0]["body"].partition("\n")[2] == played.summary


def test_a_checkout_of_depth_one_with_its_base_is_enough(good: PullRequest, hub: Github) -> None:
    job = good.job(hub, depth=1)
    clone = Repo(job.checkout)
    clone.git("-c", "protocol.file.allow=always", "fetch", "-q", "--depth=1", "origin", good.base)
    played = job.play()
    assert (played.status, played.outputs["token-difference"]) == (0, "-6")


def test_a_real_clone_of_depth_one_after_a_push(good: PullRequest, hub: Github) -> None:
    """On the default branch there is nothing to compare with: the absolute gates judge, the others say so."""
    job = good.job(hub)
    job.checkout = good.origin.clone(good.folder / "pushed", "--depth=1").path
    job.event("push", {"before": good.base}, GITHUB_REF="refs/heads/main", GITHUB_SHA=good.base, GITHUB_BASE_REF="")
    played = job.play()
    assert played.status == 0
    assert played.outputs["token-difference"] == played.outputs["prefix-changed"] == ""
    assert "| ➖ | versions | not applicable |" in played.summary
    assert hub.asked == []
    assert "No comment: this is not a pull request." in played.log


def test_a_cache_that_travels_with_the_change_is_not_read(bad: PullRequest, hub: Github) -> None:
    """The author judges a good change, and commits the cache of that beside a bad one."""
    job = bad.job(hub)
    for inside in (".ctxc/cache", "cache"):
        job.environment["CTXC_CACHE_DIR"] = str(job.checkout / inside)
        (job.checkout / inside).mkdir(parents=True)
        (job.checkout / inside / "CACHEDIR.TAG").write_text("anything")
        assert job.play(only="forbidden").status == 1
    assert "CACHEDIR.TAG" in (p.name for p in (job.checkout / "cache").iterdir())
    assert len(list((job.checkout / "cache").rglob("*"))) == 1  # nothing was written either


def test_the_policies_of_the_base_judge(tmp_path: Path, hub: Github) -> None:
    from gate_world import files

    start = files()
    loose = start["policies/production.yaml"].replace("forbid: {detect: [pii.email]}", "forbid: {keys: [never]}")
    loose = loose.replace("version: 1.0.0", "version: 1.1.0")
    assert loose != start["policies/production.yaml"]
    mail = {"policies/desk.md": start["policies/desk.md"] + "Write to desk@acme-support.com.\n"}
    request = PullRequest(tmp_path, {**reworded(), "policies/production.yaml": loose, **mail})
    played = request.job(hub).play()
    assert played.status == 1
    assert "FF-2" in played.summary
    found = request.job(hub).play(policy_source="head").summary
    assert "FF-2" not in found


def test_pull_request_target_is_refused(good: PullRequest, hub: Github) -> None:
    played = good.job(hub, event="pull_request_target").play()
    assert played.outputs["exit-code"] == "2"
    assert played.status == 2
    assert "Use the event pull_request." in played.summary
    assert hub.asked == []


def test_a_gate_that_does_not_run_has_not_passed(good: PullRequest, hub: Github) -> None:
    good.job(hub).play(only="schema")
    played = good.job(hub).play(installed=False)
    assert played.steps == {"install": 1, "Comment": 0, "Verdict": 3}
    assert hub.comments[0]["body"].splitlines()[1] == "### ❌ ctxc gate: it did not run"


def test_a_run_without_a_report_has_not_passed(good: PullRequest, hub: Github) -> None:
    played = good.job(hub).play(args="--help")
    assert played.outputs["exit-code"] == "3"
    assert played.status == 3
    assert "ended by a fault (status 3)" in played.summary


@pytest.mark.parametrize(
    "given",
    [
        {"project": "$(touch owned)"},
        {"base": "$(touch owned)"},
        {"base": '"; touch owned; "'},
        {"args": "`touch owned`"},
        {"only": "schema; touch owned"},
        {"reports": "junit;touch owned"},
        {"base": "--update-locks"},
        {"fail_on": "never --update-locks"},
    ],
    ids=str,
)
def test_an_input_is_a_value_and_nothing_else(good: PullRequest, hub: Github, given: dict[str, str]) -> None:
    job = good.job(hub)
    assert job.play(**given).status == 2
    assert Repo(job.checkout).git("status", "--porcelain") == ""


def test_nothing_of_the_checkout_is_imported(tmp_path: Path, hub: Github) -> None:
    evil = "raise SystemExit('imported from the checkout')\n"
    names = ("json.py", "ctxc.py", "ctxc_action.py", "venv.py", "sitecustomize.py", "yaml.py")
    request = PullRequest(tmp_path, {**reworded(), **dict.fromkeys(names, evil)})
    played = request.job(hub).play()
    assert "imported from the checkout" not in played.log
    assert played.status == 0


def test_code_scanning_gets_the_findings(bad: PullRequest, hub: Github) -> None:
    played = bad.job(hub).play(upload_sarif="auto", comment="never")
    assert hub.asked == [("POST", "/repos/ada/desk/code-scanning/sarifs")]
    sent = hub.sent[0]
    assert (sent["commit_sha"], sent["ref"]) == (bad.merge, "refs/pull/7/merge")
    log = json.loads(gzip.decompress(base64.b64decode(sent["sarif"])))
    assert [r["ruleId"] for r in log["runs"][0]["results"] if "suppressions" not in r] == ["CTX340"]
    assert log["runs"][0]["automationDetails"]["id"].startswith("ctxc-gate/")
    assert log["runs"][0]["tool"] == json.loads(Path(played.outputs["report-sarif"]).read_text())["runs"][0]["tool"]


@pytest.mark.parametrize(("status", "level"), [(403, "notice"), (404, "notice"), (500, "warning"), (307, "warning")])
def test_code_scanning_that_says_no_changes_nothing(good: PullRequest, hub: Github, status: int, level: str) -> None:
    hub.answer = {"POST": status}
    played = good.job(hub).play(upload_sarif="auto", comment="never", only="schema")
    assert played.status == 0
    assert f"::{level} title=ctxc gate::no code scanning" in played.log
    assert f"GitHub answered {status}" in played.log
    assert len(hub.asked) == 1  # a redirect is not followed with the token


def test_a_fork_reports_in_the_summary_alone(bad: PullRequest, hub: Github) -> None:
    played = bad.job(hub, fork=True).play(upload_sarif="auto", only="forbidden")
    assert played.status == 1
    assert hub.asked == []
    assert played.log.count("the pull request comes from a fork") == 2
    assert "### ❌ ctxc gate: failed, 1 error" in played.summary


HOSTILE = "![x](https://evil.example/?q=1) @org/team #1 GH-1 </td></table><img src=x onerror=alert(1)> ``` <!-- ctxc-gate 0 -->"


def rendered(text: str) -> tuple[set[str], str]:
    """The elements of a page, and the words that a reader of it sees outside of code."""
    from html.parser import HTMLParser

    markdown_it = pytest.importorskip("markdown_it", reason="needs markdown-it")
    tags: set[str] = set()
    words: list[str] = []
    inside: list[str] = []

    class Reader(HTMLParser):
        def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
            assert not [name for name, _ in attrs if name not in ("style", "class")], (tag, attrs)
            tags.add(tag)
            inside.append(tag)

        def handle_endtag(self, tag: str) -> None:
            while inside and inside.pop() != tag:
                pass

        def handle_comment(self, data: str) -> None:
            tags.add("comment")

        def handle_data(self, data: str) -> None:
            if "code" not in inside:
                words.append(data)

    Reader().feed(markdown_it.MarkdownIt("commonmark", {"html": True}).enable("table").render(text))
    return tags, "".join(words)


def test_what_a_change_says_stays_words_in_summary_and_comment(tmp_path: Path, hub: Github) -> None:
    pieces = [
        "![x](https://evil.example/q)",
        "@org/team #1 GH-1",
        "</td></table><img src=x onerror=alert(1)>",
        "``` <!-- ctxc-gate 0 -->",
    ]
    sections = "".join(
        f"  - {{id: s{n}, kind: policy, source: {json.dumps(f'policies/{p}.md')}}}\n" for n, p in enumerate(pieces)
    )
    request = PullRequest(
        tmp_path, {"templates/broken.yaml": f"template_id: broken\nversion: 1\nsections:\n{sections}"}
    )
    played = request.job(hub).play()
    assert played.status == 1
    tags, words = rendered(hub.comments[0]["body"])
    known = {
        "h3",
        "h4",
        "p",
        "table",
        "thead",
        "tbody",
        "tr",
        "th",
        "td",
        "code",
        "br",
        "details",
        "summary",
        "comment",
    }
    assert tags <= known
    for piece in pieces:
        assert piece.replace("@", "@\u200b").replace("#", "#\u200b").replace("GH-", "GH-\u200b") in words
    for made in ("@org", "#1", "GH-1"):
        assert made not in words
    assert not [line for line in played.log.splitlines() if line.lstrip().startswith("::") and "title=CTX" not in line]


def test_what_a_change_says_stays_in_its_fence(tmp_path: Path, hub: Github) -> None:
    request = PullRequest(tmp_path, {"ctxc.yaml": f"{json.dumps(HOSTILE)}: 1\n"})
    played = request.job(hub).play()
    assert played.status == 2
    tags, words = rendered(hub.comments[0]["body"])
    assert tags == {"comment", "h3", "pre", "code"}
    assert "team" not in words
