"""A model that the provider profile does not know.

Why: Its window and its vocabulary would be a guess.

Bad:

    # file: templates/t.yaml
    template_id: t
    version: 1
    provider: openai
    model: gtp-4.1
    sections:
      - {id: policy, source: literal, text: Answer briefly.}
    # file: tests/fixtures/f.yaml
    fixture_id: f
    template: t

Good:

    # file: templates/t.yaml
    template_id: t
    version: 1
    provider: openai
    model: gpt-4.1
    sections:
      - {id: policy, source: literal, text: Answer briefly.}
    # file: tests/fixtures/f.yaml
    fixture_id: f
    template: t

Mend: Write a name that one of the listed patterns matches, or add a profile to the project.
"""

from __future__ import annotations

from collections.abc import Iterator

from ctxc.model.finding import Finding
from ctxc.rules._counts import refusals
from ctxc.rules.engine import Context, rule


def check(context: Context) -> Iterator[Finding]:
    """Names of fixtures, templates and the configuration that no row of their profile matches."""
    return (f for f in context.shared(refusals) if f.code == RULE.code)


RULE = rule(__name__, __doc__, check)
