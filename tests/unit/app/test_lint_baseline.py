"""The baseline: keyed by content, counted, sorted; it grows only on purpose and does not hide what is new."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from lint_world import TEMPLATE, codes, judge, silenced, write

from ctxc.app.lint import new_baseline
from ctxc.base.errors import ConfigError

FLOAT = TEMPLATE.replace("version: 1", "version: 1.10")


def accept(root: Path, reason: str = "there before") -> str:
    text, _ = new_baseline(judge(root), accept_new=True, reason=reason)
    write(root, {".ctxc/baseline.jsonl": text})
    return text


def test_accepted_findings_do_not_count_and_are_kept_in_the_report(tmp_path: Path) -> None:
    write(tmp_path, {"templates/t.yaml": FLOAT})
    text = accept(tmp_path)
    linted = judge(tmp_path)
    assert codes(linted) == []
    assert silenced(linted) == [("CTX019", "baseline", "there before")]
    row = json.loads(text)
    assert {k: row[k] for k in ("code", "count", "name", "path", "reason")} == {
        "code": "CTX019", "count": 1, "name": "float-like-version", "path": "templates/t.yaml", "reason": "there before",
    }  # fmt: skip
    assert not {"line", "date", "commit"} & row.keys()


def test_an_edit_above_changes_nothing_and_another_text_is_new(tmp_path: Path) -> None:
    write(tmp_path, {"templates/t.yaml": FLOAT})
    before = accept(tmp_path)
    write(tmp_path, {"templates/t.yaml": "# a comment\n\n" + FLOAT})
    assert codes(judge(tmp_path)) == []
    assert new_baseline(judge(tmp_path), accept_new=False, reason="")[0] == before
    write(tmp_path, {"templates/t.yaml": FLOAT.replace("1.10", "1.20")})
    assert codes(judge(tmp_path)) == [".ctxc/baseline.jsonl:1 CTX905", "templates/t.yaml:2 CTX019"]


def test_equal_findings_are_counted(tmp_path: Path) -> None:
    entry = "  - {{fragment_id: core.{n}, version: 2.0, path: a.md, kind: core, load_mode: explicit}}\n"
    two = "fragments:\n" + "".join(entry.format(n=n) for n in "ab")
    write(tmp_path, {
        "templates/t.yaml": TEMPLATE + "  - {id: f, source: fragments}\n",
        "fragments/a.md": "Short.\n",
        "fragments/manifest.yaml": two,
    })  # fmt: skip
    text = accept(tmp_path)
    assert [json.loads(line)["count"] for line in text.splitlines()] == [2]
    write(tmp_path, {"fragments/manifest.yaml": two + entry.format(n="c")})
    assert codes(judge(tmp_path)) == ["fragments/manifest.yaml:4 CTX019"]
    write(tmp_path, {"fragments/manifest.yaml": "fragments:\n" + entry.format(n="a")})
    slack = judge(tmp_path)
    assert codes(slack) == [".ctxc/baseline.jsonl:1 CTX905"]
    assert slack.report.findings[0].data == {"code": "CTX019", "path": "fragments/manifest.yaml", "count": 1}


def test_it_shrinks_by_itself_and_grows_only_when_told(tmp_path: Path) -> None:
    write(tmp_path, {"templates/t.yaml": FLOAT, "templates/u.yaml": FLOAT.replace(": t", ": u")})
    accept(tmp_path, "first")
    write(tmp_path, {"templates/t.yaml": TEMPLATE, "templates/v.yaml": FLOAT.replace(": t", ": v")})
    text, counts = new_baseline(judge(tmp_path), accept_new=False, reason="")
    assert [json.loads(row)["path"] for row in text.splitlines()] == ["templates/u.yaml"]
    assert counts == {"accepted": 1, "new": 0, "gone": 1}
    text, counts = new_baseline(judge(tmp_path), accept_new=True, reason="second")
    assert [(r["path"], r["reason"]) for r in map(json.loads, text.splitlines())] == [
        ("templates/u.yaml", "first"), ("templates/v.yaml", "second"),
    ]  # fmt: skip
    assert counts == {"accepted": 2, "new": 1, "gone": 1}


def test_a_run_of_some_rules_says_nothing_about_the_others(tmp_path: Path) -> None:
    write(tmp_path, {"templates/t.yaml": FLOAT})
    accept(tmp_path)
    write(tmp_path, {"templates/t.yaml": TEMPLATE})
    assert codes(judge(tmp_path, select=("CTX003",))) == []
    text, _ = new_baseline(judge(tmp_path, select=("CTX003",)), accept_new=False, reason="")
    assert json.loads(text)["code"] == "CTX019"


def test_a_suppression_counts_before_the_baseline(tmp_path: Path) -> None:
    write(tmp_path, {"templates/t.yaml": FLOAT})
    accept(tmp_path)
    write(tmp_path, {"templates/t.yaml": FLOAT.replace("1.10", "1.10  # ctxc: ignore[CTX019] reason: inline")})
    linted = judge(tmp_path)
    assert silenced(linted) == [("CTX019", "inline", "inline")]
    assert codes(linted) == [".ctxc/baseline.jsonl:1 CTX905"]


def test_hygiene_is_never_accepted(tmp_path: Path) -> None:
    write(tmp_path, {"templates/t.yaml": TEMPLATE.replace("1\n", "1  # ctxc: ignore[CTX019] reason: x\n", 1)})
    assert new_baseline(judge(tmp_path), accept_new=True, reason="x")[0] == ""


@pytest.mark.parametrize(
    "line", ["{", "[]", "{}", '{"code":"CTX019","count":0,"key":"k","name":"n","path":"p","reason":""}', "\ud800"]
)
def test_a_line_that_is_none_is_a_broken_configuration(tmp_path: Path, line: str) -> None:
    good = '{"code":"CTX019","count":1,"key":"k","name":"n","path":"p","reason":""}\n'
    data = (good + line + "\n").encode("utf-8", "surrogatepass")
    write(tmp_path, {"templates/t.yaml": TEMPLATE, ".ctxc/baseline.jsonl": data})
    with pytest.raises(ConfigError) as stopped:
        judge(tmp_path)
    assert str(stopped.value.location).startswith(".ctxc/baseline.jsonl")


def test_the_file_is_the_same_whatever_the_order_of_rows(tmp_path: Path) -> None:
    write(tmp_path, {"templates/t.yaml": FLOAT, "templates/u.yaml": FLOAT.replace(": t", ": u")})
    text = accept(tmp_path)
    write(tmp_path, {".ctxc/baseline.jsonl": "\r\n".join(reversed(text.splitlines())) + "\r\n\r\n"})
    assert new_baseline(judge(tmp_path), accept_new=False, reason="")[0] == text
