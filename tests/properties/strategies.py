"""Random projects and fixtures for the compiler's invariants."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import strategies as st
from world import Record, assistant, call, fixture, project, provider, spec, user

from ctxc.model.fixture import Principal
from ctxc.model.section import DROP, REFERENCE, Kind, Overflow, Strategy, Tier, Verification
from ctxc.model.template import Amount, Bucket, Budget, Select

WORDS = [
    "claim",
    "policy",
    "refund",
    "30",
    "90",
    "days",
    "not",
    "never",
    "tenant",
    "evidence",
    "<|im_start|>",
    "[/EVIDENCE]",
    "</evidence>",
    "```",
    "上下文",
    "预算",
    "👨\u200d👩\u200d👧",
    "é",
    "\u202e",
    "\n",
    "\n\n",
    "{{name}}",
    '"quote"',
    "[INST]",
    "Human:",
    "12.5%",
    "EUR",
]

texts = st.lists(st.sampled_from(WORDS), min_size=0, max_size=60).map(" ".join)
some_text = st.lists(st.sampled_from(WORDS), min_size=1, max_size=60).map(" ".join).filter(str.strip)
# Long enough to be cut: what has to lose something loses it from here.
prose = st.builds(
    lambda word, count, end: end.join(f"The {word} {n} is number {n * 7}." for n in range(count)),
    st.sampled_from(WORDS),
    st.integers(5, 40),
    st.sampled_from([" ", "\n"]),
)
names = st.integers(0, 30).map(lambda n: f"r{n}")


@st.composite
def records(draw: Any, kind: str) -> list[Record]:
    """Records with unique ids, some of one topic, some restricted, some superseding others."""
    found = []
    for name in draw(st.lists(names, max_size=8, unique=True)):
        structured = draw(st.booleans())
        value = {"items": draw(st.lists(st.one_of(texts, prose), max_size=4)), "status": "ok"} if structured else None
        found.append(
            Record(
                id=name,
                text="" if structured else draw(st.one_of(texts, prose)),
                value=value,
                has_value=structured,
                source=draw(st.sampled_from(["", "doc://a", "doc://b"])),
                version=draw(st.sampled_from(["", "1", "2"])),
                topic=draw(st.sampled_from(["", "", "x", "y"])),
                claim=draw(st.sampled_from(["", "p", "q"])),
                tenant=draw(st.sampled_from(["", "", "t1", "t2"])),
                permissions=draw(st.sampled_from([(), (), ("read",), ("write",)])),
                verification=draw(st.sampled_from([Verification.UNVERIFIED, Verification.VERIFIED_SCOPE])),
                valid_until=draw(st.sampled_from(["", "2026-01-01", "2027-01-01"])),
                supersedes=draw(st.sampled_from([(), (), ("r1",), ("r2",)])),
                required=draw(st.sampled_from([False, False, False, True])),
                artifact_ref=draw(st.sampled_from(["artifact://x/1", ""])),
                scores={"relevance": draw(st.integers(0, 10)) / 10, "confidence": draw(st.integers(0, 10)) / 10},
            )
        )
    return found


@st.composite
def histories(draw: Any) -> list[Any]:
    """A conversation with calls: turns of user, calls with results, answer."""
    messages = []
    number = 0
    for _ in range(draw(st.integers(0, 6))):
        messages.append(user(draw(some_text)))
        for _ in range(draw(st.integers(0, 3))):
            number += 1
            rows = st.one_of(texts, prose).map(lambda t: json.dumps({"status": "ok", "rows": [t, t]}))
            result = draw(st.one_of(some_text, rows))
            messages.extend(call("find", f"c{number}", json.dumps({"q": draw(texts)}), result or "-"))
        if draw(st.booleans()):
            messages.append(assistant(draw(some_text)))
    return messages


overflows = st.sampled_from(
    [REFERENCE, None, DROP, *(Overflow(action="cut", strategy=s) for s in Strategy if s is not Strategy.ROLE)]
)


@st.composite
def buckets(draw: Any) -> tuple[Bucket, ...]:
    """Buckets for evidence and history."""
    found = []
    for name in ("evidence", "history"):
        if draw(st.booleans()):
            soft = draw(st.integers(0, 600))
            found.append(
                Bucket(
                    id=name,
                    min=draw(st.integers(0, soft)),
                    soft=soft,
                    max=draw(st.one_of(st.none(), st.integers(soft, 1200))),
                    borrow=draw(st.booleans()),
                )
            )
    return tuple(found)


@st.composite
def worlds(draw: Any) -> tuple[Any, Any]:
    """A project and a fixture of it."""
    window = draw(st.integers(300, 2500))
    optional_tiers = st.sampled_from([None, Tier.P3, Tier.P4])
    sections = [
        spec("policy", source="p.md", required=True, cacheable=True),
        spec("task", required=draw(st.booleans())),
        spec(
            "evidence",
            source="retrieval",
            tier=draw(optional_tiers),
            priority=draw(st.integers(0, 100)),
            overflow=draw(overflows),
            max_tokens=draw(st.one_of(st.none(), st.integers(50, 1000))),
            min_tokens=draw(st.sampled_from([0, 0, 40])),
            select=Select(
                min_score=draw(st.sampled_from([None, 0.2])),
                top=draw(st.sampled_from([None, 3])),
                dedupe=draw(st.booleans()),
            ),
            order=draw(st.sampled_from(["", "score", "edges", "time", "given"])),
        ),
        spec("memory", tier=draw(optional_tiers), priority=draw(st.integers(0, 100)), overflow=draw(overflows)),
        spec("tool_result", tier=draw(optional_tiers), priority=draw(st.integers(0, 100))),
        spec("history", priority=draw(st.integers(0, 100)), tier=draw(optional_tiers)),
        spec("handoff", priority=draw(st.integers(0, 100)), overflow=draw(overflows)),
    ]
    shape = draw(st.sampled_from(["openai_chat", "anthropic_messages"]))
    framing = (
        {"per_message": 3, "per_name": 1, "priming": 3}
        if shape == "openai_chat"
        else {"frame": 7, "per_turn": 3, "per_merged_message": 1, "per_tool": 6, "tool_prompt": {"auto": 10}}
    )
    made = project(
        sections=draw(st.permutations(sections)),
        budget=Budget(
            window=window,
            output_reserve=draw(st.integers(0, 100)),
            safety_margin=Amount(basis_points=500),
            ceiling=draw(st.one_of(st.none(), st.integers(150, 3000))),
            buckets=draw(buckets()),
        ),
        files={"p.md": "Never reveal other customers."},
        providers=(provider(shape_id=shape, framing=framing),),
        renderer=draw(st.sampled_from(["chat_messages_v3", "xml_v1"])),
    )
    asked = fixture(
        user=draw(some_text),
        task=draw(some_text),
        history=draw(histories()),
        evidence=draw(records("evidence")),
        memory=draw(records("memory")),
        tool_results=draw(records("tool_results")),
        handoff=draw(records("handoff")),
        principal=draw(st.sampled_from([None, Principal(tenant="t1", permissions=frozenset({"read"}))])),
    )
    return made, asked


__all__ = ["Kind", "worlds"]
