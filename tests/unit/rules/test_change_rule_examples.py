"""Rules that need a change: a file of an example that stands under ``base/`` is the one that was there before."""

from __future__ import annotations

import pytest
from rule_lab import findings_of_change

from ctxc.rules import rule, rule_names
from ctxc.rules.documentation import files, read


@pytest.mark.parametrize("name", [n for n in rule_names() if rule(n).needs == "change"])
def test_examples(name: str) -> None:
    made = rule(name)
    text = read(made.doc)
    red = findings_of_change(files(text.bad), made)
    assert red, f"the bad example of {name} is not found"
    for finding in red:
        assert finding.message and finding.help, finding
        assert finding.location.path, finding
    green = findings_of_change(files(text.good), made)
    assert not green, [f"{f.location} {f.message}" for f in green]
