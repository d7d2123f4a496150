"""One request of many sections, for packing: the same texts as a list for other packers and as a project of ours.

A policy that is required, rules and tool notes that may be dropped, documents and passages with a score, an earlier
conversation, and a request at the end. Same arguments, same bytes.
"""

from __future__ import annotations

import json
import random
from collections.abc import Sequence
from pathlib import Path
from typing import Any

_TEXT = """
order parcel refund account address invoice delivery courier window week day agent manager note policy rule record name
proof photo damage repair return shop basket coupon card limit amount source passage question answer keep check ask say
never always before after only when unless the a of to in and for with on by from each one two new open last whole
"""
_WORDS = _TEXT.split()
_KINDS = (("rule", 90), ("tool", 85), ("document", 60), ("passage", 40), ("message", 30))

Section = dict[str, Any]


def make_sections(number: int, seed: int = 1) -> list[Section]:
    """Sections with ``name``, ``priority`` (0 to 100), ``required`` and ``text`` of 60 to 140 words; five kinds."""
    source = random.Random(seed)

    def words(count: int) -> str:
        found = [source.choice(_WORDS) for _ in range(count)]
        return " ".join(w.capitalize() + "." if n % 12 == 0 else w for n, w in enumerate(found))

    rules = "You help customers of a shop.\n" + words(90)
    policy = {"name": "policy", "priority": 100, "required": True, "text": rules}
    asked = "My parcel is damaged. May I return it after 45 days?"
    task = {"name": "task", "priority": 99, "required": True, "text": asked}
    middle = []
    for index in range(number - 2):
        kind, priority = _KINDS[index * len(_KINDS) // (number - 2)]
        text = f"{kind} {index}: " + words(60 + index * 37 % 80)
        name = f"{kind}_{index:05}"
        middle.append({"name": name, "priority": priority + index * 7 % 9, "required": False, "text": text})
    return [policy, *middle, task]


def budget_of(sections: Sequence[Section]) -> int:
    """Tokens into which about half of the sections fits."""
    return sum(len(s["text"]) for s in sections) * 36 // 400


def write_list(path: Path, sections: Sequence[Section], budget: int) -> None:
    """The sections as JSON, with the budget."""
    path.write_text(json.dumps({"budget": budget, "sections": list(sections)}), encoding="utf-8")


def write_project(root: Path, sections: Sequence[Section], budget: int) -> None:
    """The sections as one fixture: rules and tool notes are examples, documents and passages evidence.

    The budget is the ceiling of the whole request, so what fits is less than where only texts are counted.
    """
    policy, *middle, task = sections
    (root / "templates").mkdir(parents=True)
    (root / "policies").mkdir()
    (root / "tests/fixtures").mkdir(parents=True)
    (root / "policies/policy.md").write_text(policy["text"] + "\n", encoding="utf-8")
    (root / "templates/pack.yaml").write_text(
        "template_id: pack\nversion: 1.0.0\nprovider: openai\nmodel: gpt-4o\n"
        f"budget: {{output_reserve: 500, safety_margin: 0, ceiling: {budget}, window: {budget + 1000}}}\nsections:\n"
        "  - {id: policy, source: policies/policy.md, required: true}\n"
        "  - {id: examples, source: runtime, priority: 85, tier: P3}\n"
        "  - {id: evidence, source: retrieval, priority: 50, select: {dedupe: false}}\n"
        "  - {id: history, source: runtime, priority: 30}\n"
        "  - {id: user, source: runtime, required: true}\n",
        encoding="utf-8",
    )
    lists: dict[str, list[dict[str, Any]]] = {"examples": [], "evidence": [], "history": []}
    for section in middle:
        kind = section["name"].partition("_")[0]
        if kind in ("rule", "tool"):
            lists["examples"].append({"id": section["name"], "text": section["text"]})
        elif kind in ("document", "passage"):
            score = section["priority"] / 100
            record = {"id": section["name"], "source": f"doc://{section['name']}", "version": "1", "locator": "1"}
            lists["evidence"].append({**record, "score": score, "text": section["text"]})
        else:
            role = "assistant" if len(lists["history"]) % 2 else "user"
            lists["history"].append({"role": role, "content": section["text"]})
    inputs = []
    for name, records in lists.items():
        lines = [json.dumps(record) + "\n" for record in records]
        (root / f"tests/fixtures/{name}.jsonl").write_text("".join(lines), encoding="utf-8")
        inputs.append(f"  {name}: {{file: {name}.jsonl}}\n")
    (root / "tests/fixtures/pack.yaml").write_text(
        "fixture_id: pack\ntemplate: pack\nnow: 2026-01-01T00:00:00Z\ninputs:\n"
        f"  user: {json.dumps(task['text'])}\n{''.join(inputs)}",
        encoding="utf-8",
    )
