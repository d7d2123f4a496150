"""Rules that need a change: a file of an example that stands under ``base/`` is the one that was there before."""

from __future__ import annotations

import pytest
from rule_lab import context_of

from ctxc.model.finding import Finding
from ctxc.rules import rule, rule_names
from ctxc.rules._ground import GATE, Ground
from ctxc.rules._locks import read_budgets, read_tools
from ctxc.rules._measuring import measure
from ctxc.rules.documentation import Example, files, read
from ctxc.rules.engine import Context, Rule, run

BASE = "base/"


def split(example: Example) -> tuple[Example, Example]:
    """The example before and after; a file that is not repeated is the same on both sides."""
    head = {path: data for path, data in example.files.items() if not path.startswith(BASE)}
    old = {path.removeprefix(BASE): data for path, data in example.files.items() if path.startswith(BASE)}
    base = {path: data for path, data in {**head, **old}.items() if data.strip() != b"(absent)"}
    head = {path: data for path, data in head.items() if data.strip() != b"(absent)"}
    return Example(files=base, links={}), Example(files=head, links={})


def measured(context: Context) -> dict[str, object]:
    fixtures = context.project.fixtures
    return {n: measure(p, fixtures[n], context.project, context.tokenizers) for n, p in context.packages.items()}


def judged(example: Example, made: Rule) -> tuple[Finding, ...]:
    before, after = split(example)
    base, head = context_of(before, compiled=True), context_of(after, compiled=True)
    ground = Ground(
        policies=tuple(v[-1] for v in head.project.policies.values()),
        owner=head.project,
        head=measured(head),
        base=measured(base),
        load_base=lambda: base.project,
        packages=head.packages.__getitem__,
        budgets=read_budgets(head.tree),
        tools=read_tools(head.tree),
    )
    return tuple(f for f in run(context_of(after, params={GATE: {"ground": ground}}), [made]) if f.code == made.code)


@pytest.mark.parametrize("name", [n for n in rule_names() if rule(n).needs == "change"])
def test_examples(name: str) -> None:
    made = rule(name)
    text = read(made.doc)
    red = judged(files(text.bad), made)
    assert red, f"the bad example of {name} is not found"
    for finding in red:
        assert finding.message and finding.help, finding
        assert finding.location.path, finding
    green = judged(files(text.good), made)
    assert not green, [f"{f.location} {f.message}" for f in green]
