"""A turn of a conversation that does not begin with what stood in the turn before it.

Why: A provider reads from its cache what two requests share at their start. A conversation whose earlier part is
written anew at every turn pays for all of it at every turn.

Bad:

    # file: templates/t.yaml
    template_id: t
    version: 1
    provider: openai
    model: gpt-4.1
    budget: {output_reserve: 800, ceiling: 4000}
    sections:
      - {id: policy, source: literal, text: Answer briefly., cacheable: true}
      - {id: state, source: runtime}
      - {id: history, source: runtime}
      - {id: user, source: runtime}
    # file: tests/fixtures/c.yaml
    conversation_id: c
    template: t
    turns:
      - {inputs: {user: "Hello.", state: {step: 1}}, reply: "Good morning."}
      - {inputs: {user: "And now?", state: {step: 2}}}
    # file: policies/p.yaml
    policy_id: p
    version: 1
    gates: {prefix: {append_only: turns}}

Good:

    # file: templates/t.yaml
    template_id: t
    version: 1
    provider: openai
    model: gpt-4.1
    budget: {output_reserve: 800, ceiling: 4000}
    sections:
      - {id: policy, source: literal, text: Answer briefly., cacheable: true}
      - {id: history, source: runtime}
      - {id: user, source: runtime}
    # file: tests/fixtures/c.yaml
    conversation_id: c
    template: t
    turns:
      - {inputs: {user: "Hello."}, reply: "Good morning."}
      - {inputs: {user: "And now?"}}
    # file: policies/p.yaml
    policy_id: p
    version: 1
    gates: {prefix: {append_only: turns}}

Mend: Let the history stand before what changes, or expect only the static prefix to stay: `append_only: prefix`.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

from ctxc.model.finding import Finding
from ctxc.model.measured import Measured
from ctxc.rules._ground import origin_of, selected, settings, told
from ctxc.rules.engine import Context, rule
from ctxc.rules.prefix_unstable import differing


def check(context: Context) -> Iterator[Finding]:
    """Turns whose request is no extension of the one before: of its static prefix, or of all of it."""
    for policy, prefix in settings(context, "prefix"):
        mode = prefix.get("append_only", "prefix")
        if mode == "ignore":
            continue
        talks: dict[str, list[Measured]] = {}
        for measured in selected(context, policy, prefix.get("where", {})):
            if measured.conversation:
                talks.setdefault(measured.conversation, []).append(measured)
        for turns in talks.values():
            for before, after in pairwise(sorted(turns, key=lambda m: m.turn)):
                if (before.provider, before.model) != (after.provider, after.model):
                    continue
                name = _rewritten(before, after, mode)
                if not name:
                    continue
                what = "the static prefix" if mode == "prefix" else "the request"
                yield told(
                    context,
                    RULE,
                    policy,
                    ("prefix", "append_only") if "append_only" in prefix else ("prefix",),
                    f"{what} of {before.fixture!r} is not kept: {name!r} is the first block that differs",
                    at=origin_of(context, after.fixture),
                    help="let what grows stand behind what stays, and nothing that changes before it",
                    fixture=after.fixture,
                    data={"before": before.fixture, "block": name, "mode": mode},
                )


def _rewritten(before: Measured, after: Measured, mode: str) -> str:
    """The first thing of the earlier turn that the later one does not begin with; empty where it begins with all."""
    if mode == "prefix":
        found = differing(before, after)
        return found[0] if found is not None else ""
    for number, key in enumerate(before.chain):
        if number >= len(after.chain) or after.chain[number] != key:
            return before.chain_ids[number]
    return ""


RULE = rule(__name__, __doc__, check, needs="packages")
