"""A change of a contract or of tools that breaks somebody, without the version that says so.

Why: Whoever parses the answers or runs the tools reads the version to know whether their code still fits. A field that
is required now, a value that is gone, or a tool that is removed breaks them in production.

Bad:

    # file: templates/t.yaml
    template_id: t
    version: 1
    provider: text
    output_contract: answer
    sections:
      - {id: policy, source: literal, text: Answer briefly.}
    # file: templates/answer.yaml
    contract_id: answer
    version: 1.1.0
    schema: {type: object, required: [reply], properties: {reply: {type: string}}}
    # file: base/templates/answer.yaml
    contract_id: answer
    version: 1.0.0
    schema: {type: object, required: [answer], properties: {answer: {type: string}}}
    # file: tests/fixtures/f.yaml
    fixture_id: f
    template: t
    # file: policies/p.yaml
    policy_id: p
    version: 1
    gates: {compatibility: {breaking: require_major}}

Good:

    # file: templates/t.yaml
    template_id: t
    version: 1
    provider: text
    output_contract: answer
    sections:
      - {id: policy, source: literal, text: Answer briefly.}
    # file: templates/answer.yaml
    contract_id: answer
    version: 2.0.0
    schema: {type: object, required: [reply], properties: {reply: {type: string}}}
    # file: base/templates/answer.yaml
    contract_id: answer
    version: 1.0.0
    schema: {type: object, required: [answer], properties: {answer: {type: string}}}
    # file: tests/fixtures/f.yaml
    fixture_id: f
    template: t
    # file: policies/p.yaml
    policy_id: p
    version: 1
    gates: {compatibility: {breaking: require_major}}

Mend: Raise the major version and tell who depends on it, or make the change in a way that old readers survive.
"""

from __future__ import annotations

from collections.abc import Iterator

from ctxc.base.spans import Location, Span
from ctxc.model.change import VersionChange
from ctxc.model.finding import Finding
from ctxc.rules._ground import is_about, settings, told, version_changes
from ctxc.rules.engine import Context, rule

KINDS = ("contract", "toolset")


def place_of(context: Context, change: VersionChange) -> Location:
    """Where an object's version stands."""
    line = change.line
    if line is None:
        return Location(change.path or change.base_path, None)
    rows = context.text(change.path).split("\n") if change.path else []
    column = rows[line - 1].find("version") + 1 if line <= len(rows) else 0
    return Location(change.path or change.base_path, Span(line, column or 1, line, column or 1))


def check(context: Context) -> Iterator[Finding]:
    """Breaking changes of contracts and tool sets whose version did not go up as far as it has to."""
    for policy, compatibility in settings(context, "compatibility"):
        forbid = compatibility.get("breaking", "require_major") == "forbid"
        for change in (c for c in version_changes(context) if is_about(context, policy, c)):
            if change.kind not in KINDS or not (change.breaking or change.status == "removed"):
                continue
            if change.status != "removed" and not forbid and not change.missing:
                continue
            gone = change.status == "removed"
            version = f"{change.base} → {change.head}" if not gone else change.base
            what = f"{change.kind} {change.id!r} ({version})"
            why = "the policy forbids it" if forbid else "nothing replaces it" if gone else "no major version says so"
            yield told(
                context,
                RULE,
                policy,
                ("compatibility", "breaking") if "breaking" in compatibility else ("compatibility",),
                f"{what} {'was removed' if gone else 'changed so that readers break'} and {why}: {change.reason}",
                at=place_of(context, change),
                help="raise the major version, or change it so that old readers survive",
                data={"kind": change.kind, "id": change.id, "base": change.base, "head": change.head,
                      "bump": change.bump, "needed": change.needed},
            )  # fmt: skip


RULE = rule(__name__, __doc__, check, needs="change")
