"""``ctxc tokens``: what a file is taken for, what is counted, and what is said of it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from ctxc.app.tokens import count_input
from ctxc.app.workspace import Workspace, open_workspace
from ctxc.base.errors import UnreadableSource, UsageError
from ctxc.report import View
from ctxc.report._tokens import tokens_json, tokens_text

SCHEMA = json.loads((Path(__file__).parents[3] / "ctxc/report/schemas/tokens.schema.json").read_text(encoding="utf-8"))


@pytest.fixture
def work(tmp_path: Path) -> Workspace:
    return open_workspace(tmp_path, flags={}, environment={}, no_cache=True)


def write(work: Workspace, value: Any, name: str = "r.json") -> str:
    path = work.root / name
    path.write_text(value if isinstance(value, str) else json.dumps(value), encoding="utf-8")
    return str(path)


CHAT = {"model": "gpt-4o", "messages": [{"role": "user", "content": "How many tokens are in this text?"}]}


def test_a_request_is_counted_with_its_framing(work: Workspace) -> None:
    found = count_input(work, write(work, CHAT))
    # Eight tokens of text, a message of 4, and 3 that begin the answer.
    assert (found.kind, found.provider, found.model, found.count.tokens) == ("request", "openai", "gpt-4o", 15)
    assert sum(p.tokens for p in found.count.parts) == 15
    assert {p.pointer for p in found.count.parts} == {"/messages/0/content", "/messages/0", ""}
    value = json.loads(tokens_json(found))
    jsonschema.validate(value, SCHEMA)
    assert (value["tokens"], value["method"], value["tokenizer"]) == (15, "reproduced", "o200k_base")


@pytest.mark.parametrize(
    ("request_", "provider"),
    [
        (
            {"model": "claude-opus-5", "system": "Be brief.", "messages": [{"role": "user", "content": "hi"}]},
            "anthropic",
        ),
        ({"messages": [{"role": "user", "content": [{"text": "hi"}]}], "inferenceConfig": {}}, "bedrock"),
        ({"contents": [{"role": "user", "parts": [{"text": "hi"}]}]}, "gemini"),
        ({"model": "gpt-5.6", "input": "hi"}, "openai_responses"),
        ({"model": "deepseek-v4-flash", "messages": [{"role": "user", "content": "hi"}]}, "deepseek"),
        ({"model": "anthropic/claude-sonnet-4.6", "messages": [{"role": "user", "content": "hi"}]}, "openrouter"),
    ],
)
def test_the_provider_is_seen_from_the_shape_and_the_model(
    work: Workspace, request_: dict[str, Any], provider: str
) -> None:
    assert count_input(work, write(work, request_)).provider == provider


def test_what_is_asked_for_wins_over_what_the_request_says(work: Workspace) -> None:
    found = count_input(work, write(work, CHAT), provider="mistral", model="mistral-large-latest")
    assert (found.provider, found.model) == ("mistral", "mistral-large-latest")


def test_a_line_of_a_log_shows_what_was_recorded(work: Workspace) -> None:
    line = {
        "url": "https://bedrock-runtime.us-east-1.amazonaws.com/model/us.anthropic.claude-sonnet-4-5-20250929-v1%3A0/converse",
        "request": {"messages": [{"role": "user", "content": [{"text": "hi"}]}]},
        "usage": {"inputTokens": 8, "outputTokens": 1},
    }
    found = count_input(work, write(work, line))
    assert (found.provider, found.model) == ("bedrock", "us.anthropic.claude-sonnet-4-5-20250929-v1:0")
    assert found.recorded is not None and found.recorded.input == 8
    assert "recorded: 8 (+0), inside the band" in tokens_text(found, View())


def test_messages_alone_become_a_request_of_the_provider(work: Workspace) -> None:
    messages = [{"role": "user", "content": "hi there"}, {"role": "assistant", "content": "hello"}]
    path = write(work, messages)
    counts = {
        p: count_input(work, path, provider=p) for p in ("openai", "openai_responses", "anthropic", "gemini", "bedrock")
    }
    assert {c.kind for c in counts.values()} == {"messages"}
    assert all(sum(p.tokens for p in c.count.parts if "/" in p.pointer[1:]) > 2 for c in counts.values())
    assert count_input(work, path).provider == "openai"
    odd = write(work, [{"role": "user", "content": [{"type": "image_url", "image_url": {"url": "x"}}]}])
    with pytest.raises(UsageError, match="more than text"):
        count_input(work, odd, provider="gemini")


def test_plain_text_and_other_json(work: Workspace) -> None:
    found = count_input(work, write(work, "Hello world", "t.txt"), provider="openai")
    assert (found.kind, found.count.tokens) == ("text", 2)
    claude = count_input(work, write(work, "Hello world", "t.txt"), provider="anthropic")
    assert (claude.count.method, claude.count.error_high_bp > 0) == ("calibrated", True)
    other = count_input(work, write(work, {"a": "one two", "b": [1, 2]}), provider="openai")
    assert other.kind == "json"
    assert [p.pointer for p in other.count.parts] == ["/a", "/b"]
    assert "counted as the text that it is" in other.notes[-1]
    text = count_input(work, write(work, CHAT), provider="openai", kind="text")
    assert text.kind == "text"
    bracket = count_input(work, write(work, "[see below]", "t.md"), provider="openai")
    assert bracket.kind == "text"
    assert bracket.notes == (
        "it begins like JSON and is none: not JSON: expected a value, found 's' (line 1); counted as plain text",
    )
    half = count_input(
        work, write(work, '{\n"messages": [{"role": "user", "content": "\\ud800"}]}', "t.log"), provider="openai"
    )
    assert half.notes == (
        "it begins like JSON and is none: half of a surrogate pair stands in a string (line 1); counted as plain text",
    )


def test_a_text_alone_is_exact_where_the_vocabulary_is_known(work: Workspace) -> None:
    """Only the framing of a request is reproduced; around a text there is none."""
    path = write(work, "Hello world", "t.txt")
    methods = {m: count_input(work, path, provider="openai", model=m).count for m in ("gpt-4.1", "gpt-4", "gpt-6")}
    assert {m: c.method for m, c in methods.items()} == {"gpt-4.1": "exact", "gpt-4": "exact", "gpt-6": "heuristic"}
    assert (methods["gpt-4.1"].error_low_bp, methods["gpt-4.1"].error_high_bp) == (0, 0)
    assert count_input(work, write(work, CHAT)).count.method == "reproduced"


TOOLS = {
    "jsonrpc": "2.0",
    "id": 1,
    "result": {
        "tools": [
            {
                "name": "find.service one",
                "title": "Find",
                "description": "Find a service near the place of loss, with its distance.",
                "inputSchema": {"type": "object", "properties": {"where": {"type": "string"}}},
                "annotations": {"readOnlyHint": True},
                "outputSchema": {"type": "object"},
            },
            {"name": "book", "description": "Book.", "inputSchema": {"type": "object"}},
        ]
    },
}


@pytest.mark.parametrize("provider", ["anthropic", "openai", "openai_responses", "bedrock", "gemini", "mistral"])
def test_a_list_of_tools_of_mcp(work: Workspace, provider: str) -> None:
    found = count_input(work, write(work, TOOLS), provider=provider)
    assert found.kind == "tools"
    assert [t.name for t in found.tools] == ["book", "find.service one"]
    sizes = {t.name: t for t in found.tools}
    assert sizes["find.service one"].tokens > sizes["book"].tokens > 0
    assert set(sizes["find.service one"].own) == {"title", "annotations", "outputSchema"}
    assert sizes["book"].own == {}
    assert sizes["find.service one"].sent_as == ("find.service_one" if provider == "gemini" else "find_service_one")
    assert sum(p.tokens for p in found.count.parts) == found.count.tokens
    text = tokens_text(found, View())
    assert text.index("find.service one →") < text.index("book")
    assert "reach no provider" in text
    jsonschema.validate(json.loads(tokens_json(found)), SCHEMA)


def test_the_order_of_a_tool_list_does_not_matter(work: Workspace) -> None:
    turned = {"tools": list(reversed(TOOLS["result"]["tools"]))}  # type: ignore[index]
    one = count_input(work, write(work, TOOLS, "a.json"), provider="anthropic")
    assert count_input(work, write(work, turned, "b.json"), provider="anthropic") == one


def test_a_truncated_request_is_told_where_nothing_else_says_for_whom_to_count(work: Workspace) -> None:
    cut = write(work, '{"messages": [{"role": "user"', "r.txt")
    with pytest.raises(UnreadableSource, match="not JSON: expected ',' or '}', but the text ends") as error:
        count_input(work, cut)
    assert error.value.location is not None
    found = count_input(work, cut, provider="openai")
    assert found.kind == "text"
    assert "begins like JSON and is none" in found.notes[-1]
    with pytest.raises(UsageError, match="not known for which provider"):
        count_input(work, write(work, "no JSON at all", "p.txt"))


def test_what_cannot_be_counted_says_where_and_why(work: Workspace) -> None:
    def refused(text: str | bytes, name: str = "r.json", **options: str) -> str:
        path = work.root / name
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        with pytest.raises((UnreadableSource, UsageError)) as error:
            count_input(work, str(path), **{"provider": "openai", **options})
        place = f"{error.value.location.span.line}:{error.value.location.span.column} " if error.value.location else ""
        return place + error.value.message + " / " + error.value.help

    assert refused('{"messages": [\n  1,]}').startswith("2:5 not JSON")
    assert "stands twice" in refused('{"a": 1, "a": 2}')
    lines = refused('{"a": 1}\n{"a": 2}\n', "log.jsonl")
    assert lines.startswith("2:1 not JSON") and "give one line" in lines and "--kind text" in lines
    assert "half of a surrogate pair" in refused('{"a": "\\ud83d"}')
    assert "NaN is not JSON" in refused('{"a": NaN}')
    assert "nested too deeply" in refused("[" * 200_000)
    assert "not UTF-8: byte 1 is 0xff" in refused(b"a\xff", "t.txt")
    assert "no provider 'opnai'" in refused("x", "t.txt", provider="opnai")
    assert "did you mean 'openai" in refused("x", "t.txt", provider="opnai")
    assert "no model 'gpt-7'" in refused("x", "t.txt", model="gpt-7")
    assert "--provider gemini" in refused('{"contents": []}')
    with pytest.raises(UnreadableSource, match="cannot read"):
        count_input(work, str(work.root / "absent.json"))
    with pytest.raises(UsageError, match="for which provider"):
        count_input(work, write(work, "text", "t.txt"))


def test_the_largest_part_stands_first(work: Workspace) -> None:
    messages = [{"role": "user", "content": "word " * n} for n in (5, 50, 20)]
    text = tokens_text(count_input(work, write(work, {"model": "gpt-4o", "messages": messages})), View())
    places = [text.index(f"/messages/{n}/content") for n in (1, 2, 0)]
    assert places == sorted(places)
    many = [{"role": "user", "content": "word"} for _ in range(60)]
    found = count_input(work, write(work, {"model": "gpt-4o", "messages": many}))
    assert "and 81 smaller parts" in tokens_text(found, View())
    assert "smaller parts" not in tokens_text(found, View(), every=True)


@pytest.mark.parametrize("configured", ["", "provider: openai\nmodel: gpt-4.1\n"])
@pytest.mark.parametrize(
    ("model", "provider"),
    [("claude-sonnet-4-5", "anthropic"), ("gpt-4o", "openai"), ("gemini-3.5-flash", "gemini")],
)
def test_a_model_alone_says_its_provider(tmp_path: Path, configured: str, model: str, provider: str) -> None:
    if configured:
        (tmp_path / "ctxc.yaml").write_text(configured, encoding="utf-8")
    work = open_workspace(tmp_path, flags={}, environment={}, no_cache=True)
    for name, value in (("t.txt", "hello"), ("r.json", {"tools": [{"name": "f", "inputSchema": {"type": "object"}}]})):
        found = count_input(work, write(work, value, name), model=model)
        assert (found.provider, found.model) == (provider, model)


def test_a_model_that_only_others_know_names_them(work: Workspace) -> None:
    with pytest.raises(UsageError) as caught:
        count_input(work, write(work, "x", "t.txt"), provider="anthropic", model="gpt-4o")
    assert (caught.value.message, caught.value.help) == (
        "there is no model 'gpt-4o' of provider 'anthropic'",
        "pass --provider openai or --provider openai_responses",
    )
    with pytest.raises(UsageError, match="no provider is known to have the model 'gpt-9'"):
        count_input(work, write(work, "x", "t.txt"), model="gpt-9")
