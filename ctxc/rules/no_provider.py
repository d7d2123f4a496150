"""A fixture for which nothing names a provider.

Why: Counts, limits, cache rules and the form of the request all belong to a provider; none is guessed.

Bad:

    # file: templates/t.yaml
    template_id: t
    version: 1
    sections:
      - {id: policy, source: literal, text: Answer briefly.}
    # file: tests/fixtures/f.yaml
    fixture_id: f
    template: t

Good:

    # file: templates/t.yaml
    template_id: t
    version: 1
    provider: text
    sections:
      - {id: policy, source: literal, text: Answer briefly.}
    # file: tests/fixtures/f.yaml
    fixture_id: f
    template: t

Mend: Add `provider:` to the template, the fixture or the configuration, or pass `--provider`.
"""

from __future__ import annotations

from collections.abc import Iterator

from ctxc.model.finding import Finding
from ctxc.rules._counts import refusals
from ctxc.rules.engine import Context, rule


def check(context: Context) -> Iterator[Finding]:
    """Fixtures that no provider is named for."""
    return (f for f in context.shared(refusals) if f.code == RULE.code)


RULE = rule(__name__, __doc__, check)
