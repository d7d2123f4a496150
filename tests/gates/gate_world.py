"""A small project in a real repository in which every gate has something to judge, and none finds anything."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from repos import Repo

from ctxc.app.gate import GateRequest, GateRun, gate_workspace
from ctxc.app.workspace import open_workspace

NOW = "2026-11-30"
STEPS = ("schema", "budget", "forbidden", "injection", "regression", "citations", "cost", "latency", "prefix",
         "versions", "compatibility", "tools", "coverage", "policies")  # fmt: skip

TEMPLATE = """\
template_id: desk
version: 1.0.0
provider: openai
model: gpt-4o
route: [topic]
output_contract: answer
request_profile: front
budget: {output_reserve: 200, safety_margin: 5%}
sections:
  - {id: policy, source: policies/desk.md, required: true, cacheable: true}
  - {id: tools, source: toolset, cacheable: true}
  - {id: contract, source: contract, cacheable: true}
  - {id: fragments, kind: fragment, source: fragments}
  - {id: evidence, source: retrieval, max_tokens: 120, overflow: "cut:tail"}
  - {id: history, source: runtime, max_tokens: 300}
  - {id: user, source: runtime, required: true}
"""

POLICY = """\
policy_id: production
version: 1.0.0
gates:
  budget:
    ceilings:
      - {max_input_tokens: 1200}
      - {where: {kind: policy}, max_tokens: 120}
    growth: {max_percent: 60}
    percentiles: {p50: 1000}
  forbidden:
    - {id: FF-1, title: no credentials, forbid: {detect: [secret], keys: [password]}}
    - {id: FF-2, title: no e-mail address, where: {zone: [system, tools, data]}, forbid: {detect: [pii.email]}}
  regression:
    recall: {floor: 1}
    precision: {floor: 0.5}
    drop_rate: {ceiling: 0.6}
    fidelity: {floor: 1}
  citations: {must_exist: true, require: [locator, version], never_cite: [summary]}
  cost:
    ceilings: [{max_usd_per_1000_requests: 3.3}]
    growth: {max_percent: 25}
  latency:
    ceilings: [{max_ms: 10000}]
    growth: {max_percent: 10}
  prefix: {stable_over: request_profile, against_base: require_version_bump}
  versions: {bump: require}
  compatibility: {breaking: require_major}
  tools: {pins: known, deny: ["delete*"]}
  coverage: {kinds: [template, request_profile, route, fragment]}
"""

RULES = "You work at the help desk of Example.\nAnswer from the evidence. Say so where it does not tell.\n"

EVIDENCE = (
    "A faulty article can be sent back within 30 days of delivery. The payment is returned within 5 working days."
)


LONG = "I came in on Monday and asked at the desk whether the kettle can be mended. " * 30


def fixture(name: str, topic: str, user: str, more: str = "", evidence: str = EVIDENCE, **keys: Any) -> str:
    """A fixture file with one piece of labelled evidence."""
    record = {"id": "kb-12", "source": "kb://returns", "version": "2026-05", "locator": "section 2", "text": evidence}
    record = {k: v for k, v in {**record, **keys}.items() if v is not None}
    return (
        f"fixture_id: {name}\ntemplate: desk\nnow: 2026-06-01T09:00:00Z\nroute: {{topic: {topic}}}\n{more}"
        f"inputs:\n  user: {json.dumps(user)}\n  evidence:\n    - {json.dumps(record)}\n"
        "expect:\n  outcome: compiled\n  max_input_tokens: 1200\n  required_evidence: [kb-12]\n"
    )


def files() -> dict[str, str]:
    """The project, without any fault."""
    return {
        "templates/desk.yaml": TEMPLATE,
        "templates/answer.yaml": (
            "contract_id: answer\nversion: 1.0.0\nschema:\n  type: object\n  additionalProperties: false\n"
            "  required: [reply]\n  properties: {reply: {type: string, description: At most five sentences.}}\n"
        ),
        "templates/tools.yaml": (
            "toolset_id: desk_tools\nversion: 1.0.0\ntools:\n  - name: find_order\n"
            "    description: State of one order of the customer who asks.\n    input_schema:\n      type: object\n"
            "      additionalProperties: false\n      required: [order_id]\n"
            "      properties: {order_id: {type: string, description: As in the order confirmation.}}\n"
        ),
        "templates/front.yaml": "profile_id: front\nversion: 1\noutput_contract: answer\ntoolset: desk_tools\n",
        "policies/desk.md": RULES,
        "policies/production.yaml": POLICY,
        "fragments/manifest.yaml": (
            "fragments:\n"
            "  - {fragment_id: core.sources, version: 1.0.0, path: sources.md, kind: core, load_mode: always}\n"
            "  - {fragment_id: task.refund, version: 1.0.0, path: refund.md, kind: task, load_mode: route_match,\n"
            "     applies_when: {topic: [refund]}, max_tokens: 120}\n"
        ),
        "fragments/sources.md": "Name the id of each source that a sentence rests on.\n",
        "fragments/refund.md": "For a refund, name the deadline and what has to be sent back.\n",
        "tests/fixtures/refund.yaml": fixture("refund", "refund", "It leaks.") + "  must_contain: [the deadline]\n",
        "tests/fixtures/hours.yaml": fixture("hours", "store", "When do you open on Saturdays?", more="weight: 20\n"),
        "tests/fixtures/long.yaml": fixture("long", "store", LONG),
    }


_VERSIONS = {
    "template": ("templates/desk.yaml", "version: 1.0.0", "version: 1.1.0"),
    "profile": ("templates/front.yaml", "version: 1\n", "version: 2\n"),
    "contract": ("templates/answer.yaml", "version: 1.0.0", "version: 1.1.0"),
    "tools": ("templates/tools.yaml", "version: 1.0.0", "version: 1.1.0"),
    "policy": ("policies/production.yaml", "version: 1.0.0", "version: 1.1.0"),
    "refund": ("fragments/manifest.yaml", "task.refund, version: 1.0.0", "task.refund, version: 1.1.0"),
}


class GateWorld:
    """The project in a repository with one commit; faults are written over it and judged against that commit."""

    def __init__(self, root: Path) -> None:
        self.repo = Repo(root)
        self.root = root
        self.base = self.repo.commit("base", files())

    def change(self, changes: Mapping[str, str | None]) -> None:
        """Write files of the work tree; None removes one."""
        for path, text in changes.items():
            if text is None:
                (self.root / path).unlink()
            else:
                self.repo.write(path, text)

    def edit(self, path: str, old: str, new: str) -> None:
        """Replace a text that stands in a file once."""
        text = (self.root / path).read_text(encoding="utf-8")
        assert text.count(old) == 1, f"{path} holds {old!r} {text.count(old)} times"
        self.repo.write(path, text.replace(old, new))

    def bump(self, *names: str) -> None:
        """Raise the minor version (of a request profile: the number) of template, profile, contract, tools, policy."""
        for name in names:
            path, old, new = _VERSIONS[name]
            self.edit(path, old, new)

    def judge(self, *, now: str = NOW, cache: Path | None = None, ci: bool = False, **asked: Any) -> GateRun:
        """Run the gates over the work tree, against the first commit unless another base is named."""
        environment = {**self.repo.environ, **({"CI": "true"} if ci else {})}
        workspace = open_workspace(
            self.root, flags={}, environment=environment, cache_dir=str(cache) if cache else None,
            no_cache=cache is None,
        )  # fmt: skip
        asked.setdefault("against", self.base)
        return gate_workspace(workspace, GateRequest(**asked), now=now)


def statuses(run: GateRun) -> dict[str, str]:
    """Status by gate."""
    return {g.id: g.status for g in run.report.gates}


def red(run: GateRun) -> list[str]:
    """The gates that failed."""
    return [g.id for g in run.report.gates if g.status == "failed"]


def told(run: GateRun) -> list[tuple[str, str, int]]:
    """Rule, path and line of each error that counts."""
    return [
        (f.name, f.location.path, f.location.span.line if f.location.span else 0)
        for f in run.report.findings
        if f.severity.label == "error"
    ]
