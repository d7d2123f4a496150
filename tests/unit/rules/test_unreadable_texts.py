"""A text that nobody could read is reported by loading, and by no rule that would have read it."""

from __future__ import annotations

from rule_lab import _BUILTIN, NOW

from ctxc import tokens
from ctxc.model.project import Settings
from ctxc.parse.load import load_project
from ctxc.rules import all_rules
from ctxc.rules.engine import Context, run
from ctxc.source.memory import MemoryTree

TEMPLATE = """template_id: t
version: 1
provider: text
variables: {brand: Meridian}
checkpoints: [policy]
sections:
  - {id: policy, source: policies/house.md, cacheable: true}
  - {id: user, source: runtime}
"""


def found(policy: bytes) -> dict[str, str]:
    tree = MemoryTree({"templates/t.yaml": TEMPLATE, "policies/house.md": policy})
    project = load_project(tree, Settings(), builtin_providers=_BUILTIN)
    context = Context(
        project=project, tree=tree, now=NOW, tokenizers=lambda ref: tokens.get(ref.id), packages={}, params={}
    )
    findings = run(context, all_rules())
    return {f.name: f.help for f in findings if f.name in {"unused-variable", "empty-text", "ineligible-mark"}}


def test_a_text_that_cannot_be_read_is_neither_empty_nor_without_variables() -> None:
    assert found("Fahrpläne von {{brand}}\n".encode("cp1252")) == {}


def test_a_mark_behind_an_empty_text_is_mended_by_a_text() -> None:
    """It is stable already: to call it so once more mends nothing."""
    assert set(found(b"\n")) == {"unused-variable", "empty-text", "ineligible-mark"}
    assert found(b"\n")["ineligible-mark"] == "write its text, or name the last stable section that has one"
