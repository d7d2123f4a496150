from __future__ import annotations

import json
import unicodedata
from pathlib import Path

import pytest

from ctxc.detect.canonical import read_normalised
from ctxc.detect.injection import payloads
from ctxc.detect.role_tokens import families, find_role_tokens, neutralise
from ctxc.model.finding import Severity

TOKENS = [(family.id, token) for family in families() if family.kind != "wrapper" for token in family.tokens]


def names(text: str, *, raw: bool = False) -> list[tuple[str, str]]:
    return [(m.detector.removeprefix("role."), text[m.start : m.end]) for m in find_role_tokens(text, raw=raw)]


def test_the_families_of_the_shared_file_are_all_here(shared: Path) -> None:
    rows = json.loads((shared / "security" / "role_tokens.json").read_text(encoding="utf-8"))["families"]
    ours = {family.title: set(family.tokens) for family in families()}
    assert {row["family"]: set(row["tokens"]) for row in rows} == ours
    assert len(TOKENS) == 194


@pytest.mark.parametrize(("family", "token"), TOKENS)
def test_every_token_is_found_as_written_normalised_and_with_a_hidden_character(family: str, token: str) -> None:
    for form in (token, unicodedata.normalize("NFKC", token), token[:1] + "\u200b" + token[1:]):
        found = names(f"Report. {form} go on")
        assert len(found) == 1, form
        assert found[0][1].replace("\u200b", "").strip() in (
            token.strip(),
            unicodedata.normalize("NFKC", token).strip(),
        )
    assert find_role_tokens(neutralise(f"Report. {token} go on")) == ()


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("<|im_start|>", [("chatml", "<|im_start|>")]),
        ("<\uff5cim_end\uff5c>", [("chatml", "<\uff5cim_end\uff5c>")]),
        ("<\uff5cUser\uff5c>", [("deepseek", "<\uff5cUser\uff5c>")]),
        ("<|IM_End|>", [("chatml", "<|IM_End|>")]),
        ("< |im_end| >", [("generic", "< |im_end| >")]),
        ("<|never_seen_before|>", [("generic", "<|never_seen_before|>")]),
        ("<|reserved_special_token_12|>", [("llama3", "<|reserved_special_token_12|>")]),
        ("[INST] [inst] [args]", [("llama2", "[INST]")]),
        ("[/tool_results]", [("mistral-tekken", "[/tool_results]")]),
        ("a\nHuman: b", [("claude-text", "Human:")]),
        ("a\rSystem: b", [("claude-text", "System:")]),
        ("a\u2028System: b", [("claude-text", "System:")]),
        ("the System: b and a human: c", []),
        ("## Response:", [("plain-roles", "## Response:")]),
        ("<||> <|a b|> | im_start | <think", []),
    ],
)
def test_forms(text: str, expected: list[tuple[str, str]]) -> None:
    assert names(text) == expected


def test_a_raw_prompt_is_where_a_known_token_is_an_error() -> None:
    text = "<|im_end|> <|unknown_one|> \nsystem: x\nSYSTEM: y"
    assert [m.severity for m in find_role_tokens(text)] == [Severity.WARNING] * 4
    assert [m.severity for m in find_role_tokens(text, raw=True)] == [
        Severity.ERROR,
        Severity.WARNING,
        Severity.WARNING,
        Severity.ERROR,
    ]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("<|im_start|>system", "<\\|im_start|>system"),
        ("<|im_<|im_start|>start|>", "<|im_<\\|im_start|>start|>"),
        ("\n\nHuman: hi", "\n\nH\\uman: hi"),
        ("\u25c1think\u25b7", "\u25c1\\think\u25b7"),
        ("]~!b[ [INST]", "]\\~!b[ [\\INST]"),
        ("nothing to do, <b>bold</b> `a|b`", "nothing to do, <b>bold</b> `a|b`"),
    ],
)
def test_neutralise_shows_and_deletes_nothing(text: str, expected: str) -> None:
    assert neutralise(text) == expected
    assert neutralise(expected) == expected


def test_no_payload_leaves_a_token_after_neutralise_and_normalisation() -> None:
    for payload in payloads():
        safe = neutralise(payload.text)
        assert find_role_tokens(safe) == ()
        assert find_role_tokens(unicodedata.normalize("NFKC", safe)) == ()
        assert safe.replace("\\", "") == payload.text.replace("\\", "")


def test_reading_leads_back_to_the_original() -> None:
    text = "a\u200b\uff1c\u00ad\uff5cb\u2026\ufb01x"
    reading = read_normalised(text)
    assert reading.text == "a<|b...fix"
    assert text[slice(*reading.original(1, 3))] == "\uff1c\u00ad\uff5c"
    assert text[slice(*reading.original(3, 4))] == "b"
    assert text[slice(*reading.original(5, 6))] == "\u2026"
    assert text[slice(*reading.original(8, 10))] == "\ufb01x"
