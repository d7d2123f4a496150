"""Suppressions: what they silence, what is wrong with them, and that nothing is lost."""

from __future__ import annotations

from pathlib import Path

import pytest
from lint_world import NOW, TEMPLATE, codes, judge, silenced, write

from ctxc.rules import all_rules
from ctxc.rules.documentation import files, read

FLOAT = (
    "template_id: t\nversion: 1.10{comment}\nsections:\n  - {{id: policy, source: literal, text: Answer briefly.}}\n"
)


def template(comment: str) -> str:
    return FLOAT.format(comment=comment)


# Waivers silence findings of the gate: only the gate says what is wrong with them.
HYGIENE = [r for r in all_rules() if r.emitter == "suppressing" and "waiver" not in r.name]


@pytest.mark.parametrize("rule", HYGIENE, ids=lambda r: r.name)
def test_examples_of_the_rules_of_hygiene(rule, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    text = read(rule.doc)
    bad = judge(write(tmp_path / "bad", files(text.bad).files), select=("CTX0", "CTX9"))
    assert rule.code in {f.code for f in bad.report.findings}
    good = judge(write(tmp_path / "good", files(text.good).files), select=("CTX0", "CTX9"))
    assert not codes(good)


def test_a_comment_beside_a_value_speaks_of_its_line(tmp_path: Path) -> None:
    write(tmp_path, {"templates/t.yaml": template("  # ctxc: ignore[CTX019] until=2027-01-31 reason: the registry")})
    linted = judge(tmp_path)
    assert codes(linted) == []
    assert silenced(linted) == [("CTX019", "inline", "the registry")]
    assert linted.report.suppressed[0].suppressed.until == "2027-01-31"  # type: ignore[union-attr]


def test_a_comment_alone_speaks_of_the_next_value(tmp_path: Path) -> None:
    text = "template_id: t\n# ctxc: ignore[float-like-version] reason: by name\n\n# more\nversion: 1.10\n"
    write(tmp_path, {"templates/t.yaml": text + "sections:\n  - {id: policy, source: literal, text: x}\n"})
    assert silenced(judge(tmp_path)) == [("CTX019", "inline", "by name")]


def test_a_code_is_a_whole_word_and_the_line_has_to_be_the_right_one(tmp_path: Path) -> None:
    write(tmp_path, {"templates/t.yaml": template("\n# ctxc: ignore[CTX019] reason: below")})
    assert codes(judge(tmp_path)) == ["templates/t.yaml:2 CTX019", "templates/t.yaml:3 CTX901"]
    write(tmp_path, {"templates/t.yaml": template("  # ctxc: ignore[CTX0199] reason: too long")})
    assert codes(judge(tmp_path)) == ["templates/t.yaml:2 CTX019", "templates/t.yaml:2 CTX900"]


def test_a_text_that_looks_like_a_suppression_is_text(tmp_path: Path) -> None:
    text = (
        "template_id: t\nversion: 1.10\nsections:\n  - id: policy\n    source: literal\n    text: |\n"
        "      # ctxc: ignore-file[CTX019] reason: this is shown to the model\n      version: 1.10\n"
    )
    write(tmp_path, {"templates/t.yaml": text})
    linted = judge(tmp_path)
    assert codes(linted) == ["templates/t.yaml:2 CTX019"]
    assert silenced(linted) == []


def test_ignore_file_stands_before_the_first_value(tmp_path: Path) -> None:
    write(tmp_path, {"templates/t.yaml": "# ctxc: ignore-file[CTX019] reason: old\n" + template("")})
    assert silenced(judge(tmp_path)) == [("CTX019", "file", "old")]
    write(tmp_path, {"templates/t.yaml": template("\n# ctxc: ignore-file[CTX019] reason: too late")})
    assert codes(judge(tmp_path)) == ["templates/t.yaml:2 CTX019", "templates/t.yaml:3 CTX904"]


def test_front_matter_and_manifests_have_a_key(tmp_path: Path) -> None:
    fragment = (
        "---\nfragment_id: core.a\nversion: {version}\nkind: core\nload_mode: always\n{ignore}---\nWrite plainly.\n"
    )
    manifest = (
        "fragments:\n"
        "  - {fragment_id: core.b, version: 2.0, path: b.md, kind: core, load_mode: always,\n"
        "     ctxc_ignore: [{rule: CTX019, reason: this one}]}\n"
        "  - {fragment_id: core.c, version: 2.0, path: b.md, kind: core, load_mode: always}\n"
    )
    write(tmp_path, {
        "templates/t.yaml": TEMPLATE + "  - {id: fragments, source: fragments}\n",
        "fragments/a.md": fragment.format(version="1.0", ignore="ctxc_ignore:\n  - {rule: CTX019, reason: whole file}\n"),
        "fragments/manifest.yaml": manifest,
        "fragments/b.md": "Short.\n",
    })  # fmt: skip
    linted = judge(tmp_path)
    assert codes(linted) == ["fragments/manifest.yaml:4 CTX019"]
    assert silenced(linted) == [("CTX019", "file", "whole file"), ("CTX019", "file", "this one")]


def test_a_comment_in_markdown_does_not_count_and_says_so(tmp_path: Path) -> None:
    text = "---\n# ctxc: ignore[CTX019] reason: not here\nfragment_id: core.a\nversion: 1.0\nkind: core\nload_mode: always\n---\nX.\n"
    write(tmp_path, {"templates/t.yaml": TEMPLATE + "  - {id: f, source: fragments}\n", "fragments/a.md": text})
    linted = judge(tmp_path)
    assert codes(linted) == ["fragments/a.md:2 CTX904", "fragments/a.md:4 CTX019"]
    assert "ctxc_ignore" in linted.report.findings[0].message


def test_expiry_is_judged_by_the_day_that_is_given(tmp_path: Path) -> None:
    write(tmp_path, {"templates/t.yaml": template("  # ctxc: ignore[CTX019] until=2026-11-30 reason: until then")})
    assert codes(judge(tmp_path, now="2026-11-30")) == []
    after = judge(tmp_path, now="2026-12-01")
    assert codes(after) == ["templates/t.yaml:2 CTX019", "templates/t.yaml:2 CTX902"]
    assert after.report.findings[1].data == {"until": "2026-11-30"}
    assert after.report.now == "2026-12-01"


@pytest.mark.parametrize("until", ["soon", "2026-13-01", "20261231", "2026-12-31T00:00:00"])
def test_an_end_that_is_no_day_is_a_fault(tmp_path: Path, until: str) -> None:
    write(tmp_path, {"templates/t.yaml": template(f"  # ctxc: ignore[CTX019] until={until} reason: x")})
    assert codes(judge(tmp_path)) == ["templates/t.yaml:2 CTX019", "templates/t.yaml:2 CTX904"]


def test_only_rules_that_ran_can_be_unused(tmp_path: Path) -> None:
    write(tmp_path, {"templates/t.yaml": TEMPLATE.replace("1\n", "1  # ctxc: ignore[CTX141] reason: strict only\n", 1)})
    assert codes(judge(tmp_path)) == []
    assert codes(judge(tmp_path, tier="strict")) == ["templates/t.yaml:1 CTX141", "templates/t.yaml:2 CTX901"]


def test_one_comment_for_two_codes_is_unused_in_part(tmp_path: Path) -> None:
    write(tmp_path, {"templates/t.yaml": template("  # ctxc: ignore[CTX019, CTX003] reason: both")})
    linted = judge(tmp_path)
    assert codes(linted) == ["templates/t.yaml:2 CTX901"]
    assert linted.report.findings[0].data["rules"] == ["CTX003"]
    assert linted.report.findings[0].fix is None


def test_per_file_ignores_of_the_configuration(tmp_path: Path) -> None:
    config = 'per-file-ignores:\n  "templates/old/*": [CTX019]\n  "templates/gone/*": [CTX019]\n'
    write(
        tmp_path,
        {
            "ctxc.yaml": config,
            "templates/old/t.yaml": template(""),
            "templates/new.yaml": template("").replace(": t", ": u"),
        },
    )
    linted = judge(tmp_path)
    assert codes(linted) == ["ctxc.yaml:0 CTX906", "templates/new.yaml:2 CTX019"]
    assert "no file matches" in linted.report.findings[0].message
    assert silenced(linted) == [("CTX019", "config", "per-file-ignores templates/old/*")]


def test_the_inline_comment_counts_before_the_file_and_the_configuration(tmp_path: Path) -> None:
    text = "# ctxc: ignore-file[CTX019] reason: file\n" + template("  # ctxc: ignore[CTX019] reason: line")
    write(tmp_path, {"ctxc.yaml": 'per-file-ignores: {"*": [CTX019]}\n', "templates/t.yaml": text})
    linted = judge(tmp_path)
    assert silenced(linted) == [("CTX019", "inline", "line")]
    assert codes(linted) == ["ctxc.yaml:0 CTX906", "templates/t.yaml:1 CTX901"]


def test_findings_of_hygiene_are_silenced_by_the_configuration_only(tmp_path: Path) -> None:
    text = template("  # ctxc: ignore[CTX019, CTX903]")
    write(tmp_path, {"templates/t.yaml": text})
    assert codes(judge(tmp_path)) == ["templates/t.yaml:2 CTX901", "templates/t.yaml:2 CTX903"]
    write(tmp_path, {"ctxc.yaml": 'per-file-ignores: {"templates/*": [CTX901, CTX903]}\n'})
    linted = judge(tmp_path)
    assert codes(linted) == []
    assert sorted(silenced(linted)) == [
        ("CTX019", "inline", ""),
        ("CTX901", "config", "per-file-ignores templates/*"),
        ("CTX903", "config", "per-file-ignores templates/*"),
    ]


def test_the_day_stands_in_the_report(tmp_path: Path) -> None:
    write(tmp_path, {"templates/t.yaml": TEMPLATE})
    assert judge(tmp_path).report.now == NOW
