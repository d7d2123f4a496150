"""What a diff says of changed texts: at which line, word by word, and what they cost the cache."""

from __future__ import annotations

import json

import pytest
from diff_projects import (
    POLICY,
    basic,
    by_id,
    diff_of,
    differing,
    fixture,
    fragment,
    runs,
    section,
    template,
    text_of,
)
from repos import Repo


def test_thirty_to_ninety_days_is_seen_though_no_token_is_added(repo: Repo) -> None:
    repo.commit("base", basic())
    repo.commit("head", {"policies/policy.md": POLICY.replace("30 days", "90 days")})
    change = diff_of(repo, base="HEAD~1", head="HEAD")

    assert differing(change) == ["a", "b", "c"]
    told = section(change, "a", "policy")
    assert (told.status, told.facets, told.delta) == ("changed", ("content",), 0)
    assert (told.path, told.line) == ("policies/policy.md", 4)
    assert runs(told) == [[("=", "Refund window is "), ("-", "30"), ("+", "90"), ("=", " days from delivery.")]]
    assert [(h.base_line, h.head_line) for h in told.hunks] == [(4, 4)]
    prefix = by_id(change)["a"].prefix
    assert prefix is not None and not prefix.stable and prefix.first_difference is not None
    first = prefix.first_difference
    assert (first.section_id, first.path, first.line, first.reason) == (
        "policy", "policies/policy.md", 4, "system_changed",
    )  # fmt: skip
    assert (first.base_text[:2], first.head_text[:2]) == ("30", "90")
    assert by_id(change)["a"].tokens.delta == 0
    assert 0 < prefix.lost_tokens < prefix.base_tokens
    # One text, three fixtures: told once.
    assert [(e.section.section_id, e.fixtures) for e in change.edits] == [("policy", ("a", "b", "c"))]
    assert "4 ! Refund window is [-30-]{+90+} days from delivery." in text_of(change)


def test_the_first_difference_counts_bytes_of_the_request(repo: Repo) -> None:
    files = {**basic(), "policies/policy.md": "Größe: 30 mm\n"}
    repo.commit("base", files)
    repo.commit("head", {"policies/policy.md": "Größe: 90 mm\n"})
    first = by_id(diff_of(repo, base="HEAD~1", head="HEAD"))["c"].prefix.first_difference
    model = b"model"
    workspace_text = _request_bytes(repo)
    assert workspace_text[first.byte - len("Größe: ".encode()) : first.byte + 2] == "Größe: 90".encode()
    assert first.percent == round(100 * first.byte / len(workspace_text), 2)
    assert model  # the model's name stands in front of everything


def _request_bytes(repo: Repo) -> bytes:
    """The bytes of fixture c as its segments stand in the provider's physical order."""
    from pathlib import Path

    import ctxc

    package = ctxc.compile(ctxc.load(Path(repo.path)), "c")
    return "".join(s.wire for s in package.segments).encode()


def test_a_change_and_its_revert_is_an_empty_diff(repo: Repo) -> None:
    start = repo.commit("base", basic())
    repo.commit("change", {"policies/policy.md": POLICY.replace("30 days", "90 days"), "fragments/new.md": "x\n"})
    (repo.path / "fragments/new.md").unlink()
    end = repo.commit("revert", {"policies/policy.md": POLICY})
    change = diff_of(repo, base=start, head=end)
    assert start != end
    assert change.is_empty and change.fixtures == () and change.sources == () and change.edits == ()
    assert "no difference: both sides are the same tree" in text_of(change)
    whole = diff_of(repo, base=start, head=end, whole=True)
    assert whole.is_empty and [f.status for f in whole.fixtures] == ["unchanged"] * 3
    assert whole.totals.compiled == 3


def test_a_version_stamp_at_the_top_costs_no_token_and_the_whole_prefix(repo: Repo) -> None:
    body = "".join(f"Rule {n}: answer from the evidence and from nothing else.\n" for n in range(200))
    stamped = "# Policy\n\nPrompt version: 2026-11-01\n" + body
    repo.commit("base", {**basic(), "policies/policy.md": stamped})
    repo.commit("head", {"policies/policy.md": stamped.replace("2026-11-01", "2026-11-02")})
    change = diff_of(repo, base="HEAD~1", head="HEAD")
    told = by_id(change)["a"]
    assert told.tokens.delta == 0
    assert told.prefix is not None and told.prefix.first_difference is not None
    assert told.prefix.first_difference.line == 3
    assert told.prefix.first_difference.percent < 2
    assert told.prefix.lost_tokens > 0.97 * told.prefix.base_tokens
    assert runs(section(change, "a", "policy")) == [
        [("=", "Prompt version: "), ("-", "2026-11-01"), ("+", "2026-11-02")]
    ]


def test_a_repeated_change_is_told_once_with_a_count(repo: Repo) -> None:
    lines = [f"{n}. Keep seperate things apart, case {n}.\n" for n in range(1, 9)]
    repo.commit("base", {**basic(), "policies/policy.md": "".join(lines)})
    repo.commit("head", {"policies/policy.md": "".join(lines).replace("seperate", "separate")})
    told = section(diff_of(repo, base="HEAD~1", head="HEAD"), "a", "policy")
    assert len(told.hunks) == 1
    hunk = told.hunks[0]
    assert (hunk.count, hunk.head_line, hunk.also) == (8, 1, (2, 3, 4, 5, 6, 7, 8))
    assert [(r.op, r.text) for r in hunk.runs if r.op != "="] == [("-", "seperate"), ("+", "separate")]


def test_white_space_is_said_to_be_white_space(repo: Repo) -> None:
    repo.commit("base", basic())
    repo.commit("head", {"policies/policy.md": POLICY.replace("Never reveal", "Never  reveal")})
    change = diff_of(repo, base="HEAD~1", head="HEAD")
    assert section(change, "a", "policy").whitespace
    assert change.totals.whitespace_sections == change.totals.sections == 1
    assert "white space only" in text_of(change)


def test_a_new_line_at_the_end_of_a_file_changes_nothing_that_a_model_sees(repo: Repo) -> None:
    repo.commit("base", {**basic(), "policies/policy.md": POLICY.rstrip("\n")})
    repo.commit("head", {"policies/policy.md": POLICY})
    change = diff_of(repo, base="HEAD~1", head="HEAD")
    assert change.is_empty
    assert [(s.path, s.affects, s.differs) for s in change.sources] == [("policies/policy.md", ("a", "b", "c"), ())]
    assert [v.missing for v in change.versions] == []
    assert "no model sees a difference" in text_of(change)


def test_line_endings_are_said_to_be_line_endings(repo: Repo) -> None:
    repo.commit("base", basic())
    repo.commit("head", {"policies/policy.md": POLICY.replace("\n", "\r\n")})
    change = diff_of(repo, base="HEAD~1", head="HEAD")
    assert change.is_empty and change.totals.compiled == 0
    assert [(s.path, s.line_endings, s.affects) for s in change.sources] == [("policies/policy.md", True, ())]
    assert "only line endings differ" in text_of(change)


def test_chinese_goes_by_the_character(repo: Repo) -> None:
    text = "退款期限为三十天，从交货日起计算。\n"
    repo.commit("base", {**basic(), "policies/policy.md": text})
    repo.commit("head", {"policies/policy.md": text.replace("三", "九")})
    told = section(diff_of(repo, base="HEAD~1", head="HEAD"), "a", "policy")
    assert runs(told) == [[("=", "退款期限为"), ("-", "三"), ("+", "九"), ("=", "十天，从交货日起计算。")]]


def test_front_matter_and_variables_do_not_move_lines(repo: Repo) -> None:
    text = "First {{brand}} line.\nSecond line.\nThird line of {{brand}}.\n"
    made = {
        **basic(),
        "templates/t.yaml": template(more="variables:\n  brand: |\n    Two\n    lines\n"),
        "fragments/returns.md": fragment("returns", text),
    }
    repo.commit("base", made)
    repo.commit("head", {"fragments/returns.md": fragment("returns", text.replace("Third", "The third"))})
    told = section(diff_of(repo, base="HEAD~1", head="HEAD"), "a", "fragments/returns")
    written = (repo.path / "fragments/returns.md").read_text().split("\n")
    assert told.path == "fragments/returns.md"
    assert written[told.hunks[0].head_line - 1].startswith("The third line of")


def test_values_are_compared_by_key_with_their_line(repo: Repo) -> None:
    def made(state: str) -> dict[str, str]:
        listed = ("{id: state, source: runtime, required: true}", "{id: user, source: runtime, required: true}")
        text = f"fixture_id: a\ntemplate: t\ninputs:\n  user: Hi\n  state:\n{state}"
        return {"templates/t.yaml": template("t", *listed), "tests/fixtures/a.yaml": text}

    repo.commit("base", made("    claim: c_1\n    items:\n      - {id: x, n: 1}\n      - {id: y, n: 2}\n"))
    repo.commit(
        "head",
        made("    claim: c_1\n    items:\n      - {id: z, n: 9}\n      - {id: x, n: 1}\n      - {id: y, n: 3}\n"),
    )
    told = section(diff_of(repo, base="HEAD~1", head="HEAD"), "a", "state")
    assert [(h.kind, h.pointer, h.base_line, h.head_line) for h in told.hunks] == [
        ("value", "/items/0", None, 8),
        ("value", "/items/2/n", 9, 10),
    ]
    assert [(r.op, r.text) for r in told.hunks[1].runs] == [("-", "2"), ("+", "3")]


def test_t098_sensitive_and_secret_texts_are_never_shown(repo: Repo) -> None:
    listed = ("{id: state, source: runtime, required: true}", "{id: user, source: runtime, required: true}")

    def made(plate: str, key: str) -> dict[str, str]:
        text = (
            f"fixture_id: a\ntemplate: t\nsensitive: [inputs.state]\ninputs:\n  user: The key is {key}\n"
            f"  state: {{plate: {plate}}}\n"
        )
        return {"templates/t.yaml": template("t", *listed), "tests/fixtures/a.yaml": text}

    one, other = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8", "ghp_" + "z9Y8x7W6v5U4t3S2r1Q0p9O8n7M6l5K4j3I2"
    repo.commit("base", made("HN-K4417", one))
    repo.commit("head", made("AB-C1234", other))
    change = diff_of(repo, base="HEAD~1", head="HEAD", context=3)
    told = section(change, "a", "state")
    assert told.masked and told.hunks == () and "content" in told.facets
    for format in ("text", "json", "markdown", "html"):
        printed = text_of(change, format)
        for secret in ("HN-K4417", "AB-C1234", one, other, one[4:20], other[4:20]):
            assert secret not in printed
    changed = [(r.op, r.text) for h in section(change, "a", "user").hunks for r in h.runs if r.op != "="]
    assert [op for op, _ in changed] == ["-", "+"], "that the key changed stays visible"


@pytest.mark.parametrize("format", ["text", "markdown", "html", "json"])
def test_a_prompt_cannot_leave_what_it_stands_in(repo: Repo, format: str) -> None:
    attack = (
        "[/closing] [bold]x[/bold] \x1b[31mred\x1b[0m ::error::x ##[error]y\n"
        "``` \n````\n</pre></details><script>alert(1)</script> <img src=http://x.invalid/a onerror=b>\n"
        "![x](http://x.invalid/i) @team | a | b {+no+} [-no-] \u202etxt\u200b\n"
    )
    repo.commit("base", {**basic(), "policies/policy.md": "One.\n"})
    repo.commit("head", {"policies/policy.md": "One.\n" + attack, "fragments/](x.md": fragment("x", "y")})
    printed = text_of(diff_of(repo, base="HEAD~1", head="HEAD", context=2), format)
    assert ("\x1b" not in printed and "\u202e" not in printed) or format == "json"
    if format == "html":
        assert "<script" not in printed and "<img" not in printed and "http://x.invalid" in printed
        assert "default-src &#x27;none&#x27;" in printed or "default-src 'none'" in printed
    if format == "markdown":
        fences = [line for line in printed.split("\n") if line.startswith("`````")]
        assert len(fences) % 2 == 0 and fences
    if format == "json":
        assert json.loads(printed)["schema"] == "ctxc.diff/1"
    if format == "text":
        assert "[/closing] [bold]x[/bold]" in printed


def test_two_fixtures_of_one_conversation_are_aligned_by_what_was_said(repo: Repo) -> None:
    listed = ("{id: history, source: runtime}", "{id: user, source: runtime, required: true}")

    def made(*turns: str) -> dict[str, str]:
        lines = "".join(
            f"    - {{role: {'user' if n % 2 == 0 else 'assistant'}, content: {json.dumps(t)}}}\n"
            for n, t in enumerate(turns)
        )
        text = f"fixture_id: a\ntemplate: t\ninputs:\n  user: Bye\n  history:\n{lines}"
        return {"templates/t.yaml": template("t", *listed), "tests/fixtures/a.yaml": text}

    repo.commit("base", made("one", "two", "three", "four"))
    repo.commit("head", made("zero", "half", "one", "two", "three", "fourth"))
    told = by_id(diff_of(repo, base="HEAD~1", head="HEAD"))["a"]
    assert [(s.status, s.section_id) for s in told.sections] == [
        ("added", "history/0"), ("added", "history/1"), ("changed", "history/5"),
    ]  # fmt: skip


def test_unrelated_fixtures_are_unchanged_by_construction(repo: Repo) -> None:
    repo.commit("base", basic())
    repo.commit("head", {"fragments/billing.md": fragment("billing", "Ask for the date.\n", when="{area: [billing]}")})
    change = diff_of(repo, base="HEAD~1", head="HEAD")
    assert {f.fixture_id: (f.status, f.proof) for f in change.fixtures} == {
        "a": ("unchanged", "record"), "b": ("changed", "compiled"), "c": ("unchanged", "record"),
    }  # fmt: skip
    assert change.totals.compiled == 1
    assert [(s.path, s.objects, s.templates, s.affects, s.differs) for s in change.sources] == [
        ("fragments/billing.md", ("fragment billing",), ("t",), ("b",), ("b",))
    ]


def test_a_fixture_that_is_new_and_one_that_is_gone(repo: Repo) -> None:
    repo.commit("base", basic())
    (repo.path / "tests/fixtures/c.yaml").unlink()
    repo.commit("head", {"tests/fixtures/d.yaml": fixture("d", user="New")})
    change = diff_of(repo, base="HEAD~1", head="HEAD")
    assert {f.fixture_id: f.status for f in change.fixtures} == {
        "a": "unchanged", "b": "unchanged", "c": "removed", "d": "added",
    }  # fmt: skip
    assert (change.totals.added, change.totals.removed, change.totals.compiled) == (1, 1, 2)
    assert by_id(change)["c"].path == "tests/fixtures/c.yaml"
