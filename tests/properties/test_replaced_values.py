"""Each value of a project replaced by one that nobody meant: findings with places, never a fault, the same twice."""

from __future__ import annotations

import copy
import json
import random
from collections.abc import Iterator
from typing import Any

import pytest
from rule_lab import NOW, project_of

from ctxc import providers, tokens
from ctxc.base.errors import CtxcError
from ctxc.compiler.pipeline import Compiler
from ctxc.model.codes import CODES
from ctxc.model.finding import Finding
from ctxc.rules import all_rules
from ctxc.rules.documentation import Example
from ctxc.rules.engine import Context, run

ORDINARY, MANY = 60, 3_000
RULES = [r for r in all_rules() if r.needs == "sources" and r.emitter != "suppressing"]

# Written as JSON, which stands wherever YAML does: each value is replaced where it is, whatever the file.
FILES: dict[str, Any] = {
    "templates/desk.yaml": {
        "template_id": "desk", "version": "1.0.0", "provider": "house", "model": "large", "route": ["topic"],
        "request_profile": "front", "variables": {"brand": "Acme"}, "checkpoints": ["contract"], "focus": ["goal"],
        "budget": {"output_reserve": 200, "safety_margin": "5%", "ceiling": 4000,
                   "buckets": {"evidence": {"min": 10, "soft": 300, "max": 500, "borrow": True}}},
        "deterministic": [{"when": {"topic": ["none"]}, "reply": "No."}],
        "sections": [
            {"id": "policy", "source": "literal", "text": "Be exact for {{brand}}.", "required": True, "cacheable": True},
            {"id": "tools", "source": "toolset", "cacheable": True},
            {"id": "contract", "source": "contract", "cacheable": True},
            {"id": "fragments", "kind": "fragment", "source": "fragments"},
            {"id": "state", "source": "runtime"},
            {"id": "memory", "source": "runtime", "select": {"min_score": 0.1, "top": 3}},
            {"id": "evidence", "source": "retrieval", "max_tokens": 400, "overflow": "cut:tail", "order": "edges"},
            {"id": "tool_result", "source": "runtime.tool_results", "when": {"topic": "refund"}},
            {"id": "history", "source": "runtime", "overflow": "cut:role"},
            {"id": "user", "source": "runtime", "required": True},
        ],
    },
    "templates/parts.json": {
        "contract_id": "answer", "version": 1, "citations": {"field": "cited", "must_exist": True},
        "refusal": {"field": "reply", "text": "unknown"},
        "schema": {"type": "object", "required": ["reply", "cited"], "additionalProperties": False,
                   "properties": {"reply": {"type": "string", "pattern": "^[A-Z]"},
                                  "cited": {"type": "array", "items": {"$ref": "#/$defs/id"}}},
                   "$defs": {"id": {"type": ["string", "null"], "enum": ["a", None]}}},
    },
    "templates/tools.yaml": {
        "toolset_id": "set", "version": 1, "namespace": "desk",
        "tools": [{"name": "find", "description": "Find it.", "strict": True, "annotations": {"readOnlyHint": True},
                   "input_schema": {"type": "object", "properties": {"id": {"type": "string", "minLength": 1}},
                                    "required": ["id"], "additionalProperties": False}}],
    },
    "templates/front.yaml": {"profile_id": "front", "version": 1, "toolset": "set", "output_contract": "answer",
                             "static": ["policy", "contract"]},
    "templates/house.yaml": {
        "provider_id": "house", "version": "1.0.0", "extends": "openai",
        "models": [{"pattern": "l*", "window": 9000, "max_output": 900, "framing": {"per_message": 3, "priming": 3},
                    "tokenizer": {"id": "o200k_base", "method": "exact"}, "prices": {"input": "2", "output": "8"},
                    "cache": {"mode": "implicit_interval", "min_tokens": 1024, "interval": 128},
                    "latency": {"base_ms": 300}, "capabilities": ["tools", "json_schema"]}],
    },
    "fragments/manifest.json": {"fragments": [
        {"fragment_id": "core.a", "version": "1.0.0", "path": "a.md", "kind": "core", "load_mode": "always", "priority": 9},
        {"fragment_id": "family.b", "version": "1.0.0", "path": "a.md", "kind": "family", "load_mode": "route_match",
         "applies_when": {"topic": ["refund"]}, "requires": ["core.a"], "conflicts_with": [], "max_tokens": 50},
    ]},
    "policies/gates.yaml": {
        "policy_id": "p", "version": "1.0.0", "where": {"template": ["desk"]}, "rules": {"CTX143": {"severity": "info"}},
        "gates": {"budget": {"ceilings": [{"where": {"kind": "fragment"}, "max_tokens": 90}], "growth": {"max_percent": 5}},
                  "forbidden": [{"id": "F", "title": "none", "where": {"zone": ["system"]}, "severity": "error",
                                 "forbid": {"detect": ["pii.email"], "re2": "X-[0-9]+", "keys": ["code"]}}],
                  "regression": {"recall": {"floor": 1}, "results": [{"path": "eval/r.xml", "format": "junit"}]},
                  "citations": {"must_exist": True}, "tools": {"pins": "known", "deny": ["drop_*"]}},
        "waivers": [{"rule": "F", "path": "fragments/a.md", "owner": "o", "reason": "r", "created": "2026-10-01",
                     "expires": "2026-12-31"}],
    },
    "tests/fixtures/f.yaml": {
        "fixture_id": "f", "template": "desk", "now": "2026-10-31T10:00:00Z", "route": {"topic": "refund"},
        "principal": {"tenant": "t", "subject": "u", "permissions": ["kb"]}, "sensitive": ["inputs.state.card"],
        "inputs": {
            "user": "Where is it?", "state": {"goal": "g", "card": "4", "open": [1, None]},
            "history": [
                {"role": "user", "content": "Hello"},
                {"role": "assistant", "content": None, "tool_calls": [
                    {"id": "c1", "type": "function", "function": {"name": "desk_find", "arguments": "{\"id\": \"1\"}"}}]},
                {"role": "tool", "tool_call_id": "c1", "content": [{"type": "text", "text": "sent"}]},
                {"role": "assistant", "content": [{"type": "tool_use", "id": "c2", "name": "desk_find", "input": {}}]},
                {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "c2", "content": "x"}]},
            ],
            "memory": [{"id": "m", "text": "Likes mail.", "tenant": "t", "confidence": 0.9, "supersedes": ["n"]}],
            "evidence": [{"id": "e", "source": "kb://a", "version": "1", "locator": "s", "text": "30 days.", "score": 0.5,
                          "permissions": ["kb"], "verification": "conflicted", "topic": "d", "claim": "30", "scores": {"relevance": 1}},
                         {"id": "e2", "text": "90 days.", "topic": "d", "claim": "90", "valid_until": "2027-01-01T00:00:00Z"}],
            "tool_results": [{"call_id": "c9", "tool_name": "find", "status": "ok", "content": {"items": [{"a": 1}]}}],
            "handoff": {"file": "h.json"},
        },
        "expect": {"outcome": "compiled", "max_input_tokens": 4000, "loaded": ["core.a"], "required_evidence": ["e"]},
    },
    "tests/fixtures/talk.yaml": {
        "conversation_id": "talk", "template": "desk", "route": {"topic": "sale"}, "now": "2026-10-31T10:00:00Z",
        "turns": [{"inputs": {"user": "one"}, "reply": "r"}, {"inputs": {"user": "two"}, "expect": {"loaded": ["core.a"]}}],
    },
    "tests/fixtures/h.json": [{"handoff_id": "h", "text": "Wants money.", "from": "triage"}],
}  # fmt: skip

VALUES: tuple[Any, ...] = (
    None, True, 0, -1, 7, 1.5, 2**63, 10**400, "", " ", "x", "a@b", "1e309", ".nan", "2026-13-45T99:00:00Z", "../../x",
    "/etc/passwd", "a\x00b", "\x1b[31m", "\ufeffx", "a\u202eb", "{{x}}", "{{", "(a+)+$", "([", "**/" * 9, "\u0301" * 400,
    [], ["x"], [[]], [{}], {}, {"a": 1}, {"file": "h.json"}, {"file": "/dev/zero"}, {"file": {"a": 1}}, {"$ref": "#"},
    {"$ref": "https://x.example/a"}, {"type": {"a": 1}}, [None], "gone", "twice",
)  # fmt: skip


def places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Where a value can be replaced: every place below the top of a file."""
    if path:
        yield path
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, child in inner:
        yield from places(child, (*path, key))


PLACES = [(name, path) for name, value in FILES.items() for path in places(value)]


def replaced(name: str, path: tuple[Any, ...], new: Any) -> dict[str, bytes]:
    """The files with one value replaced, taken out ("gone") or, in a list, put in twice ("twice")."""
    document = copy.deepcopy(FILES[name])
    here = document
    for key in path[:-1]:
        here = here[key]
    if new == "gone":
        del here[path[-1]]
    elif new == "twice" and isinstance(here, list):
        here.insert(path[-1], here[path[-1]])
    else:
        here[path[-1]] = new
    texts = {n: json.dumps(document if n == name else v, indent=1) for n, v in FILES.items()}
    return {n: t.encode() for n, t in texts.items()} | {"fragments/a.md": b"Be kind.\n"}


def judged(files: dict[str, bytes]) -> tuple[list[Finding], list[Any]]:
    """All findings, and the packages; what ends a command with words is no fault."""
    project, tree = project_of(Example(files=files, links={}))
    found, packages = list(project.findings), []
    context = Context(
        project=project, tree=tree, now=NOW, tokenizers=lambda ref: tokens.get(ref.id), packages={}, params={}
    )
    compiler = Compiler(project, tokenizers=lambda ref: tokens.get(ref.id), shapes=providers.shape)
    try:
        found += run(context, RULES)
        for fixture in project.fixtures.values():
            package = compiler.compile(fixture)
            found += package.findings
            packages.append((package.outcome, package.request, package.snapshot))
    except CtxcError as error:
        assert error.exit_status in (1, 2), error
        assert error.message
    return found, packages


def check(name: str, path: tuple[Any, ...], new: Any) -> None:
    files = replaced(name, path, new)
    found, packages = judged(files)
    for finding in found:
        assert finding.code in CODES and finding.message and finding.help and finding.location.path, finding
        span, data = finding.location.span, files.get(finding.location.path)
        if span is not None and data is not None:
            lines = data.decode().split("\n")
            assert 1 <= span.line <= span.end_line <= len(lines), finding
            assert 1 <= span.column <= len(lines[span.line - 1]) + 1, finding
    json.dumps([request for _, request, _ in packages], allow_nan=False)
    assert (found, packages) == judged(files)


def test_nothing_is_wrong_with_what_is_replaced() -> None:
    found, packages = judged(replaced("tests/fixtures/h.json", (0, "from"), "triage"))
    assert [str(f.location) + " " + f.message for f in found if f.severity.label == "error"] == []
    assert [outcome.value for outcome, _, _ in packages] == ["compiled"] * 3


def test_replaced_values() -> None:
    chosen = random.Random(7)
    for _ in range(ORDINARY):
        check(*chosen.choice(PLACES), chosen.choice(VALUES))


@pytest.mark.slow
def test_many_replaced_values() -> None:
    chosen = random.Random()
    for _ in range(MANY):
        check(*chosen.choice(PLACES), chosen.choice(VALUES))
