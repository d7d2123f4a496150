"""Every rule: its documentation has all parts, its bad example is red by it, its good example is not."""

from __future__ import annotations

import subprocess
import sys

import pytest
from rule_lab import findings_of

from ctxc.model.codes import CODES
from ctxc.model.finding import Severity
from ctxc.rules import all_rules, rule, rule_names, source_rules
from ctxc.rules.documentation import files, read


@pytest.mark.parametrize("name", rule_names())
def test_examples(name: str) -> None:
    made = rule(name)
    if made.emitter == "suppressing":
        pytest.skip("runs with the whole of lint: tests/unit/app/test_lint_suppress.py")
    if made.needs == "change":
        pytest.skip("needs two revisions")
    text = read(made.doc)
    compiled = made.needs == "packages"
    red = [f for f in findings_of(files(text.bad), [made], compiled=compiled) if f.code == made.code]
    assert red, f"the bad example of {name} is not found"
    for finding in red:
        assert finding.message and finding.help, finding
        assert finding.location.path, finding
    green = findings_of(files(text.good), [made], compiled=compiled)
    assert not green, [f"{f.location} {f.message}" for f in green]


@pytest.mark.parametrize("name", rule_names())
def test_good_example_loads(name: str) -> None:
    """What is shown as good has no error of loading."""
    made = rule(name)
    loading = [r for r in all_rules() if r.emitter == "loading"]
    errors = [f for f in findings_of(files(read(made.doc).good), loading) if f.severity is Severity.ERROR]
    assert not errors, [f"{f.location} {f.code} {f.message}" for f in errors]


def test_rules_of_sources_are_told_apart_before_they_are_imported() -> None:
    assert source_rules() == tuple(r for r in all_rules() if r.needs == "sources")
    others = [r for r in all_rules() if r.needs != "sources"]
    assert len(others) > 40
    script = "import sys; from ctxc.rules import source_rules; source_rules(); print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    imported = set(done.stdout.split())
    assert not imported & {f"ctxc.rules.{r.name.replace('-', '_')}" for r in others}
    assert not imported & {"ctxc.compiler.pipeline", "ctxc.usage.price", "tiktoken", "yaml", "re2"}


def test_every_code_has_a_rule() -> None:
    assert sorted(r.code for r in all_rules()) == sorted(CODES)
