"""One comment of the pull request that shows the last report: found by a marker, changed in place, or left as it is.

The marker is the first line of a comment, and counts only in one whose author is the account of the action's token:
anybody can write a comment with a marker in it, and a report may quote one. The marker says nothing but which use of
the action it belongs to. A comment is made where there is something to tell, and changed whenever the report has
changed, so that it never shows what no longer holds. Whatever goes wrong here is told and changes nothing of the
verdict.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from ctxc_action import pages
from ctxc_action.api import MAY_NOT, Api, told
from ctxc_action.runner import Runner

_PAGE = 100
_PAGES = 100
_BOT = "[bot]"


def run(runner: Runner) -> int:
    """Status 0, always."""
    number = _number(runner)
    if number is None:
        print("No comment: this is not a pull request.")
        return 0
    if not runner.may_write("comment"):
        return 0
    _post(runner, number)
    return 0


def _number(runner: Runner) -> int | None:
    if runner.value("GITHUB_EVENT_NAME") != "pull_request":
        return None
    request = runner.event().get("pull_request")
    number = request.get("number") if isinstance(request, dict) else None
    return number if type(number) is int and number > 0 else None


def body(runner: Runner) -> str:
    """The comment: the marker, and the report of the gate or that there is none."""
    page = _read(runner.value("GATE_MARKDOWN"))
    if not page:
        page = pages.not_judged(None, "")
    return pages.fit_comment(f"{marker(runner)}\n{page}")


def marker(runner: Runner) -> str:
    """The first line of the comment. A digest, so that no name of a workflow can end it."""
    return f"<!-- ctxc-gate {runner.key} -->"


def _read(name: str) -> str:
    try:
        return Path(name).read_text(encoding="utf-8") if name else ""
    except (OSError, ValueError):
        return ""


def _post(runner: Runner, number: int) -> None:
    api = Api(runner.value("GITHUB_API_URL", "https://api.github.com"), runner.value("GATE_TOKEN"))
    base = f"/repos/{runner.repository}/issues"
    status, mine = _find(api, f"{base}/{number}/comments", runner)
    if status != 200:
        _tell(runner, status)
        return
    text = body(runner)
    if mine is None:
        if runner.value("GATE_COMMENT") != "always" and not _worth_telling(runner):
            print("No comment: nothing was found, and nothing that a model sees differs.")
            return
        status, _ = api.call("POST", f"{base}/{number}/comments", {"body": text})
        done, word = status == 201, "made"
    elif _same(str(mine.get("body")), text):
        print("The comment is as it was.")
        return
    else:
        status, _ = api.call("PATCH", f"{base}/comments/{int(mine['id'])}", {"body": text})
        done, word = status == 200, "changed"
    if done:
        print(f"The comment was {word}.")
    else:
        _tell(runner, status)


def _find(api: Api, path: str, runner: Runner) -> tuple[int, dict[str, Any] | None]:
    """Status 200 with the first comment that is ours, or None where there is none; another status where it failed."""
    first, author = marker(runner), runner.value("GATE_COMMENT_AUTHOR", f"github-actions{_BOT}")
    for page in range(1, _PAGES + 1):
        status, found = api.call("GET", f"{path}?per_page={_PAGE}&page={page}")
        if status != 200 or not isinstance(found, list):
            return (status if status != 200 else 0), None
        for one in found:
            if isinstance(one, dict) and _by(one, author) and _first_line(one) == first:
                return 200, one
        if len(found) < _PAGE:
            break
    return 200, None


def _by(comment: dict[str, Any], author: str) -> bool:
    user = comment.get("user")
    if not isinstance(user, dict) or user.get("login") != author:
        return False
    return not author.endswith(_BOT) or user.get("type") == "Bot"


def _first_line(comment: dict[str, Any]) -> str:
    return str(comment.get("body")).replace("\r\n", "\n").partition("\n")[0]


def _same(one: str, other: str) -> bool:
    """Whether two texts are equal but for line ends and white space around them, which a server may change."""
    return one.replace("\r\n", "\n").strip() == other.replace("\r\n", "\n").strip()


def _worth_telling(runner: Runner) -> bool:
    """Whether the first comment of a pull request has anything to say."""
    if runner.value("GATE_EXIT_CODE") != "0":
        return True
    try:
        report = json.loads(_read(runner.value("GATE_JSON")))
        release = report["release"]
        return bool(report["findings"] or release["changes"] or release["base_bundle"] not in ("", release["bundle"]))
    except (ValueError, KeyError, TypeError):
        return True


def _tell(runner: Runner, status: int) -> None:
    if status in MAY_NOT:
        why = f"the token may not write here ({told(status)}); the job needs `pull-requests: write`"
        runner.tell(f"no comment: {why}")
    else:
        runner.tell(f"no comment: {told(status)}", "warning")
