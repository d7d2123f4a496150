"""Public reports of caches that were lost in production, and what of ctxc would have said so beforehand.

Each row is a report (project and number on GitHub), its cause in a few words, and one of four answers:

* a rule, with the smallest project on which it is red: sources for lint, compiled fixtures for the gate;
* nothing to find, because ctxc writes the request and cannot write it so: shown on the request;
* a log: the cause is a setting that no template holds; ``ctxc cache --requests`` names it;
* nothing, with the reason: it does not stand in a request, or nobody could measure it.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from rule_lab import context_of, findings_of

from ctxc.app.cache import assess_log
from ctxc.app.workspace import load_tree, open_workspace
from ctxc.rules import rule
from ctxc.rules.documentation import files
from ctxc.source.memory import MemoryTree

CLAUDE = "provider: anthropic\nmodel: claude-sonnet-4-5\n"
TOOL = '{{"name": "{0}", "description": "Does {0}.", "input_schema": {{"type": "object", "properties": {{}}}}}}'


def system(text: str, *, target: str = CLAUDE, more: str = "") -> str:
    """A template whose stable prefix is one file, with this text in it."""
    return (
        f"# file: templates/t.yaml\ntemplate_id: t\nversion: 1\n{target}{more}sections:\n"
        "  - {id: policy, source: policies/house.md, cacheable: true}\n  - {id: user, source: runtime}\n"
        f"# file: policies/house.md\n{text}\nAnswer briefly.\n"
    )


def listed(checkpoints: Sequence[str], sections: Sequence[str], *, target: str = CLAUDE) -> str:
    """A template with these checkpoints and sections."""
    lines = "".join(f"  - {s}\n" for s in sections)
    marks = f"checkpoints: [{', '.join(checkpoints)}]\n" if checkpoints else ""
    return f"# file: templates/t.yaml\ntemplate_id: t\nversion: 1\n{target}{marks}sections:\n{lines}"


def part(name: str, text: str = "Answer briefly.") -> str:
    """A stable section with a text of its own."""
    return f'{{id: {name}, kind: policy, source: literal, text: "{text}", cacheable: true}}'


USER = "{id: user, source: runtime}"
SERVER_ORDER = (
    listed([], [part("policy"), "{id: tools, source: templates/tools.yaml}", USER])
    + "# file: templates/tools.yaml\ntoolset_id: house\nversion: 1\norder: given\nmcp: templates/list.json\n"
    + f'# file: templates/list.json\n{{"tools": [{TOOL.format("b")}, {TOOL.format("a")}]}}\n'.replace(
        "input_schema", "inputSchema"
    )
)


def talk(*turns: str) -> str:
    """A conversation whose turns may only add to what was sent before, and the policy that says so."""
    lines = "".join(f"  - {t}\n" for t in turns)
    return (
        f"# file: tests/fixtures/c.yaml\nconversation_id: c\ntemplate: t\nturns:\n{lines}"
        "# file: policies/p.yaml\npolicy_id: p\nversion: 1\ngates: {prefix: {append_only: turns}}\n"
    )


def called(identity: str, user: str, *, more: str = "", reply: str = "") -> str:
    """A turn with a recorded history that holds one call and its result, and more behind it."""
    history = (
        '{role: user, content: Hello.}, {role: assistant, content: "", '
        f'tool_calls: [{{id: {identity}, type: function, function: {{name: a, arguments: "{{}}"}}}}]}}, '
        f"{{role: tool, tool_call_id: {identity}, content: done}}{more}"
    )
    return f'{{inputs: {{user: "{user}", history: [{history}]}}{reply}}}'


HISTORY = (
    listed([], [part("policy"), "{id: tools, source: templates/tools.json}", "{id: history, source: runtime}", USER])
    + f"# file: templates/tools.json\n[{TOOL.format('a')}]\n"
)
SKILLS = listed(
    [], [part("policy"), "{id: skills, kind: state, source: runtime}", "{id: history, source: runtime}", USER]
)
TWO_FIXTURES = (
    "".join(
        f"# file: tests/fixtures/{n}.yaml\nfixture_id: {n}\ntemplate: t\nroute: {{branch: {n}}}\n"
        for n in ("main", "topic")
    )
    + "# file: policies/p.yaml\npolicy_id: p\nversion: 1\ngates: {prefix: {stable_over: template}}\n"
)


@dataclass(frozen=True, kw_only=True)
class Row:
    """A report. ``red`` is a project on which ``rule`` is red; ``built`` and ``log`` name a test below; else ``why``."""

    number: int
    links: str
    cause: str
    rule: str = ""
    red: str = ""
    detector: str = ""
    built: str = ""
    log: str = ""
    why: str = ""


ROWS = (
    Row(number=1, links="Mintplex-Labs/anything-llm#6398", cause="a variable for the time in the default prompt",
        rule="volatile-prefix", red=system("The current date and time is {datetime}."), detector="volatile.variable"),
    Row(number=2, links="aaif-goose/goose#2434", cause="the time with seconds",
        rule="volatile-prefix", red=system("It is 2026-11-30 10:04:31 now."), detector="volatile.clock"),
    Row(number=3, links="Dicklesworthstone/pi_agent_rust#103", cause="the time with seconds",
        rule="volatile-prefix", red=system("Current date and time: Monday, November 30, 2026 at 10:04:31 AM UTC"),
        detector="volatile.clock"),
    Row(number=4, links="HKUDS/nanobot#226", cause="a heading with the current time",
        rule="volatile-prefix", red=system("## Current Time\n2026-11-30 10:04 (Monday)"), detector="volatile.clock"),
    Row(number=5, links="adolfousier/opencrabs#657", cause="a timestamp inside a block that carries a mark",
        rule="volatile-prefix", red=system("Timestamp: 2026-11-30T10:04:31Z", more="checkpoints: [policy]\n"),
        detector="volatile.clock"),
    Row(number=6, links="anomalyco/opencode#32622", cause="the day in a cached block: it breaks at midnight",
        rule="volatile-prefix", red=system("  Today's date: Mon Nov 30 2026"), detector="volatile.date"),
    Row(number=7, links="AltimateAI/altimate-code#949", cause="the day in a cached block",
        rule="volatile-prefix", red=system("Today's date: 2026-11-30"), detector="volatile.date"),
    Row(number=8, links="earendil-works/pi#1873", cause="the time with seconds",
        rule="volatile-prefix", red=system("Current date and time: 2026-11-30 10:04:31"), detector="volatile.clock"),
    Row(number=9, links="joshuadavidthomas/opencode-agent-memory#29", cause="milliseconds in the metadata of a memory",
        rule="volatile-prefix", red=system('<memory last_updated="2026-11-30T10:04:31.123Z">'),
        detector="volatile.clock"),
    Row(number=10, links="dimagi/open-chat-studio#3649", cause="a variable for the time in the prompt",
        rule="volatile-prefix",
        red=system("Now: {{current_datetime}}", more="variables: {current_datetime: noon}\n"),
        detector="volatile.variable"),
    Row(number=11, links="anthropics/claude-code#92524", cause="a path with the UUID of the session",
        rule="volatile-prefix",
        red=system("Scratchpad: /tmp/agent/6f1e1a5c-2c3b-4f5e-9a7b-0d1c2b3a4f5e/scratchpad"),
        detector="volatile.path"),
    Row(number=12, links="anthropics/claude-code#78720", cause="the state of the repository in the system prompt",
        rule="prefix-unstable",
        red=listed([], [part("git", "On branch {{branch}}."), part("policy")], target="provider: text\n").replace(
            "sections:", "route: [branch]\nsections:") + TWO_FIXTURES),
    Row(number=13, links="anthropics/claude-code#43657", cause="a list that wanders between messages on resume",
        rule="conversation-rewritten",
        red=SKILLS + talk('{inputs: {user: Hello., skills: {a: 1}}, reply: Good morning.}',
                          '{inputs: {user: "And now?", skills: {a: 1, b: 2}}}')),
    Row(number=14, links="anthropics/claude-code#34629", cause="marks that moved forward in an update",
        rule="early-mark", red=listed(["policy"], [part("policy"), part("rules", "Name the source."), USER])),
    Row(number=15, links="anthropics/claude-code#96101", cause="a mark on a trailing message that changes",
        rule="ineligible-mark",
        red=listed(["policy", "focus"], [part("policy"), USER, "{id: focus, source: runtime}"])),
    Row(number=16, links="anthropics/claude-code#54013", cause="a mark on an empty text",
        rule="ineligible-mark", red=listed(["policy"], [part("policy", " "), USER])),
    *(
        Row(number=number, links=links, cause="tools in the order in which a server lists them",
            rule="unstable-tool-order", red=SERVER_ORDER)
        for number, links in (
            (17, "openclaw/openclaw#58037"),
            (18, "langchain-ai/deepagents#2497"),
            (19, "anomalyco/opencode#23571 and #24339"),
            (20, "can1357/oh-my-pi#890"),
            (21, "google-gemini/gemini-cli#12615"),
            (22, "librefang/librefang#3765"),
        )
    ),
    Row(number=23, links="ollama/ollama#12244", cause="properties of tools in the order of a hash table",
        built="serialization"),
    Row(number=24, links="gnachman/iTerm2#687", cause="unsorted keys in the JSON of tools", built="serialization"),
    Row(number=25,
        links="Wei-Shaw/sub2api#176, griffinmartin/opencode-claude-auth#121, tghamm/Anthropic.SDK#50, "
              "yetone/avante.nvim#425, bug-ops/zeph#1568",
        cause="five marks", rule="too-many-marks",
        red=listed(list("abcde"), [*(part(n, f"Rule {n}.") for n in "abcde"), USER])),
    Row(number=26, links="dhanji/g3#77", cause="after four marks the rest of the prefix stays uncached",
        rule="early-mark",
        red=listed(list("abcd"), [*(part(n, f"Rule {n}.") for n in "abcdef"), USER])),
    Row(number=27,
        links="headroomlabs-ai/headroom#2939, vellum#22191, claude-code-cache-fix#44, UncommonRoute#1",
        cause="an hour after five minutes", rule="mark-order",
        red=listed([], [part("policy"), "{id: tools, source: templates/tools.json}", USER])
        + "# file: templates/tools.json\n"
        + json.dumps([
            {"name": "a", "description": "Does a.", "input_schema": {"type": "object", "properties": {}},
             "cache_control": {"type": "ephemeral"}},
            {"name": "b", "description": "Does b.", "input_schema": {"type": "object", "properties": {}},
             "cache_control": {"type": "ephemeral", "ttl": "1h"}},
        ]) + "\n"),
    Row(number=28, links="redpanda-data/ai-sdk-go#205, brightwave/tidebreak#1154",
        cause="more than twenty blocks between two marks", rule="wide-lookback",
        red=listed(["s00", "s21"], [*(part(f"s{n:02}", f"Rule {n}.") for n in range(22)), USER])),
    Row(number=29, links="can1357/oh-my-pi#11897", cause="both marks on messages that every call injects",
        rule="ineligible-mark",
        red=listed(["state", "task"], [part("policy"), "{id: state, source: runtime}", "{id: task, source: runtime}",
                                       USER])),
    Row(number=30, links="ax-llm/ax#573", cause="nothing marked for a model that caches what is marked",
        rule="unmarked-prefix",
        red="# file: templates/t.yaml\ntemplate_id: t\nversion: 1\nprovider: openai\nmodel: gpt-5.6-sol\nsections:\n"
            "  - {id: policy, source: policies/house.md}\n  - {id: user, source: runtime}\n"
            "# file: policies/house.md (repeated 400 times)\n"
            "Answer briefly, and name the source of every statement.\n"),
    Row(number=31, links="BerriAI/litellm#37628", cause="marks that were asked for are not sent", built="marks"),
    Row(number=32, links="envoyproxy/ai-gateway#2477", cause="a translator drops marks on the way to Bedrock",
        built="marks"),
    Row(number=33, links="BerriAI/litellm#26320, UKGovernmentBEIS/inspect_ai#3851",
        cause="one provider's mark sent to another in its own form", built="marks"),
    Row(number=34, links="BerriAI/litellm#17250", cause="a time to live where the interface takes none",
        built="ttl"),
    Row(number=35, links="BerriAI/litellm#14293", cause="a stale header",
        why="a header is no part of the request's body, and ctxc writes none"),
    Row(number=36, links="danny-avila/LibreChat#13838, NousResearch/hermes-agent#97281",
        cause="a mark in the tools of a model that takes none there", rule="ineligible-mark",
        red=listed(["tools"], ["{id: tools, source: templates/tools.json, cacheable: true}", part("policy"), USER],
                   target="provider: bedrock\nmodel: us.amazon.nova-pro-v1:0\n")
        + f"# file: templates/tools.json\n[{TOOL.format('a')}]\n"),
    Row(number=37, links="strands-agents/harness-sdk#1966 and #1219", cause="a mark after a document, in a wrong form",
        built="marks"),
    Row(number=38, links="langchain-ai/langchain#26968", cause="a blank text", rule="empty-text",
        red=listed([], ["{id: policy, source: policies/house.md}", USER],
                   target="provider: bedrock\nmodel: anthropic.claude-opus-5\n") + "# file: policies/house.md\n \n"),
    Row(number=39, links="vercel/ai#5883, #11077, #12743, #3820 and #7552", cause="marks stripped or not passed on",
        built="marks"),
    Row(number=40, links="code-yeongyu/senpi#1510", cause="thinking switched off while tools answer", log="thinking"),
    Row(number=41, links="LionSR/TeXRA#2548", cause="another thinking budget in every call", log="budget"),
    Row(number=42, links="zeroclaw-labs/zeroclaw#10786", cause="earlier thinking left out of the history",
        log="history"),
    Row(number=43, links="damianvtran/local-operator#534", cause="the tool choice varies",
        log="choice"),
    Row(number=44, links="NousResearch/hermes-agent#3991", cause="new ids for the same calls in a replayed history",
        rule="conversation-rewritten",
        red=HISTORY + talk(
            called("c_6f1e", "And now?", reply=", reply: Good morning."),
            called("c_92ab", "Thanks.",
                   more=', {role: user, content: "And now?"}, {role: assistant, content: Good morning.}'))),
    Row(number=45, links="NousResearch/hermes-agent#18547", cause="how full the memory is, in its heading",
        rule="volatile-prefix", red=system("MEMORY (your notes) [49% — 1,085/2,200 chars]"),
        detector="volatile.counter"),
    Row(number=46, links="BerriAI/litellm#37280 and #42012", cause="a cache key of its own for every request",
        log="key"),
    Row(number=47, links="anthropics/anthropic-sdk-python#1194", cause="a minimum that is higher than documented",
        rule="prefix-under-minimum",
        red=system("Name the source of every statement. " * 160, target="provider: text\n")
        + "# file: tests/fixtures/f.yaml\nfixture_id: f\ntemplate: t\ninputs: {user: Hello.}\n"
        + "# file: policies/p.yaml\npolicy_id: p\nversion: 1\n"
        + "gates: {prefix: {min_tokens: 1024, margin_percent: 100}}\n"),
    Row(number=48, links="googleapis/python-genai#2064, BerriAI/litellm#10667",
        cause="prefixes that an implicit cache does not find", why="nothing in a request tells it from one that is found"),
    Row(number=49, links="strands-agents/harness-sdk#2031", cause="a count that is 23 to 60 percent too low",
        rule="estimated-count", red=system("Name the source.")),
    Row(number=50, links="BerriAI/litellm#37185, router-for-me/CLIProxyAPI#679", cause="an estimate shown as a fact",
        rule="estimated-count", red=system("Name the source.")),
    Row(number=51, links="anthropics/anthropic-sdk-python#375", cause="a tokenizer that was withdrawn",
        why="no profile names it"),
    Row(number=52, links="pamelafox/openai-messages-token-helper#7", cause="tokens of functions off by three",
        why="the printed band holds it: recorded calls with tools are tests of the providers"),
)  # fmt: skip


def test_every_report_has_one_answer() -> None:
    assert [r.number for r in ROWS] == list(range(1, 53))
    for row in ROWS:
        answers = [bool(row.rule), bool(row.built), bool(row.log), bool(row.why)]
        assert answers.count(True) == 1, row.number
        assert bool(row.rule) is bool(row.red), row.number
    assert sum(bool(r.rule) for r in ROWS) == 35
    assert {r.built for r in ROWS if r.built} == set(BUILT)
    assert {r.log for r in ROWS if r.log} == set(LOGS)


@pytest.mark.parametrize("row", [r for r in ROWS if r.rule], ids=lambda r: f"{r.number}-{r.rule}")
def test_a_rule_says_so(row: Row) -> None:
    made = rule(row.rule)
    example = files(row.red)
    found = findings_of(example, [made], compiled=made.needs == "packages")
    assert found, row.cause
    assert {f.name for f in found} == {row.rule}
    assert all(f.help and f.location.path for f in found)
    if row.detector:
        assert row.detector in {f.data["detector"] for f in found}
        assert {f.location.path for f in found} == {"policies/house.md"}


@pytest.mark.parametrize("row", [r for r in ROWS if r.rule == "volatile-prefix"], ids=lambda r: str(r.number))
def test_the_same_text_behind_the_prefix_is_fine(row: Row) -> None:
    text = row.red.replace(", cacheable: true", "").replace("checkpoints: [policy]\n", "")
    assert findings_of(files(text), [rule("volatile-prefix")]) == ()


def test_a_conversation_that_only_grows_is_fine() -> None:
    said = ', {role: user, content: "And now?"}, {role: assistant, content: Good morning.}'
    kept = HISTORY + talk(
        called("c_6f1e", "And now?", reply=", reply: Good morning."), called("c_6f1e", "Thanks.", more=said)
    )
    assert findings_of(files(kept), [rule("conversation-rewritten")], compiled=True) == ()


# --- what ctxc cannot write ---------------------------------------------------------------------------------------


def request_of(text: str) -> Mapping[str, Any]:
    """The request of the only fixture of a project."""
    (package,) = context_of(files(text), compiled=True).packages.values()
    assert package.request is not None, package.findings
    return package.request


FIXTURE = "# file: tests/fixtures/f.yaml\nfixture_id: f\ntemplate: t\ninputs: {user: Hello.}\n"
MARKED = [
    "{id: tools, source: templates/tools.json, cacheable: true}",
    part("policy"),
    part("rules", "Name sources."),
    USER,
]
TOOLS = f"# file: templates/tools.json\n[{TOOL.format('b')}, {TOOL.format('a')}]\n"
TARGETS = {
    "anthropic": ("claude-sonnet-4-5", "cache_control", {"type": "ephemeral"}, 2),
    "bedrock": ("us.anthropic.claude-sonnet-4-5-20250929-v1:0", "cachePoint", {"type": "default"}, 2),
    "openai": ("gpt-5.6-sol", "prompt_cache_breakpoint", {"mode": "explicit"}, 1),
    "openai_responses": ("gpt-5.6-sol", "prompt_cache_breakpoint", {"mode": "explicit"}, 1),
    "openrouter": ("anthropic/claude-sonnet-4.6", "cache_control", {"type": "ephemeral"}, 1),
}
FORMS = ("cache_control", "cachePoint", "prompt_cache_breakpoint")


def places(value: Any, key: str, at: str = "") -> Iterator[tuple[str, Any]]:
    """Where a key stands in a request, with what it holds."""
    if isinstance(value, Mapping):
        for name, child in value.items():
            if name == key:
                yield at, child
            yield from places(child, key, f"{at}/{name}")
    elif isinstance(value, list):
        for number, child in enumerate(value):
            yield from places(child, key, f"{at}/{number}")


def marks() -> None:
    """Every mark that is asked for is sent, in the provider's own form and in no other, never at the top."""
    for provider, (model, form, start, least) in TARGETS.items():
        target = f"provider: {provider}\nmodel: {model}\n"
        request = request_of(listed(["tools", "rules"], MARKED, target=target) + TOOLS + FIXTURE)
        found = list(places(request, form))
        assert len(found) >= least, provider
        assert all(place.count("/") >= 2 and start.items() <= mark.items() for place, mark in found), provider
        for other in FORMS:
            assert other == form or not list(places(request, other)), provider


def ttl() -> None:
    """A time to live is sent only as one that the model's row lists."""
    for provider, (model, form, _, _) in TARGETS.items():
        target = f"provider: {provider}\nmodel: {model}\n"
        text = listed(["rules"], MARKED, target=target) + TOOLS + FIXTURE
        row = next(
            r
            for r in context_of(files(text)).project.providers[provider].models
            if r.pattern.rstrip("*").strip("*") in model
        )
        for _, mark in places(request_of(text), form):
            assert mark.get("ttl") in (None, *row.cache["ttls"]), provider


def serialization() -> None:
    """Tools stand in the order of their names, each written in one way whatever order its file has."""
    shuffled = (
        '[{"input_schema": {"properties": {}, "type": "object"}, "name": "a", "description": "Does a."}, '
        '{"description": "Does b.", "name": "b", "input_schema": {"type": "object", "properties": {}}}]'
    )
    text = listed([], MARKED) + TOOLS + FIXTURE
    other = text.replace(TOOLS, f"# file: templates/tools.json\n{shuffled}\n")
    assert other != text
    one, two = (json.dumps(request_of(t)["tools"]) for t in (text, other))
    assert [t["name"] for t in json.loads(one)] == ["a", "b"]
    assert [sorted(t.items()) for t in json.loads(one)] == [sorted(t.items()) for t in json.loads(two)]


BUILT: Mapping[str, Callable[[], None]] = {"marks": marks, "ttl": ttl, "serialization": serialization}


@pytest.mark.parametrize("name", sorted(BUILT))
def test_ctxc_does_not_write_it(name: str) -> None:
    BUILT[name]()


# --- what a log shows -----------------------------------------------------------------------------------------------

LONG = [{"type": "text", "text": "Name the source. " * 400, "cache_control": {"type": "ephemeral"}}]
DONE = [
    {"role": "user", "content": "Hello."},
    {"role": "assistant", "content": [{"type": "thinking", "thinking": "Hm.", "signature": "s"},
                                      {"type": "text", "text": "Good morning."}]},
    {"role": "user", "content": [{"type": "text", "text": "And now?", "cache_control": {"type": "ephemeral"}}]},
]  # fmt: skip
BARE = [DONE[0], {"role": "assistant", "content": [{"type": "text", "text": "Good morning."}]}, DONE[2]]


def claude(**more: Any) -> dict[str, Any]:
    return {"model": "claude-sonnet-4-5", "max_tokens": 5000, "system": LONG, "messages": DONE, **more}


def gpt(key: str) -> dict[str, Any]:
    said = [{"role": "system", "content": "Name the source. " * 800}, {"role": "user", "content": "Hello."}]
    return {"model": "gpt-5", "messages": said, "prompt_cache_key": key}


THINK = {"type": "enabled", "budget_tokens": 2000}
LOGS: Mapping[str, tuple[list[dict[str, Any]], str]] = {
    "thinking": ([claude(thinking=THINK), claude()], "messages_changed"),
    "budget": ([claude(thinking=THINK), claude(thinking={**THINK, "budget_tokens": 2001})], "messages_changed"),
    "history": (
        [claude(), claude(messages=[*BARE, {"role": "assistant", "content": "x"}, DONE[0]])],
        "messages_changed",
    ),
    "choice": ([claude(), claude(tool_choice={"type": "none"})], "messages_changed"),
    "key": ([gpt("a"), gpt("b")], "prompt_cache_key_changed"),
}


@pytest.mark.parametrize("name", sorted(LOGS))
def test_a_log_names_the_reason(name: str, tmp_path: Path) -> None:
    requests, reason = LOGS[name]
    found = _calls(requests, tmp_path)
    same = _calls([requests[0], requests[0]], tmp_path)
    assert found[1].reason == reason
    assert found[1].read < same[1].read
    assert same[1].reason == "cache_hit"


def _calls(requests: Sequence[Mapping[str, Any]], folder: Path) -> Sequence[Any]:
    path = folder / "log.jsonl"
    path.write_text("".join(json.dumps({"request": r}) + "\n" for r in requests), encoding="utf-8")
    workspace = open_workspace(folder, flags={}, environment={}, no_cache=True)
    (found,) = assess_log(workspace, str(path), start="cold")
    return found.calls


def test_the_projects_of_the_table_load() -> None:
    """Where a rule is red, it is for its own reason and not because a file is broken."""
    for row in ROWS:
        if row.red:
            project = load_tree(MemoryTree(files(row.red).files))
            errors = [f for f in project.findings if f.severity.label == "error" and f.name != row.rule]
            assert errors == [], (row.number, [f.message for f in errors])
