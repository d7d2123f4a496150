"""Personal data in what a fixture records.

Why: Fixtures are kept for ever and read by many. Recorded requests mostly hold data of real people.

Bad:

    # file: templates/t.yaml
    template_id: t
    version: 1
    provider: text
    sections:
      - {id: policy, source: literal, text: Answer briefly.}
      - {id: user, source: runtime}
    # file: tests/fixtures/f.yaml
    fixture_id: f
    template: t
    inputs: {user: "My mail is maria.keller@northfield-insurance.com."}

Good:

    # file: templates/t.yaml
    template_id: t
    version: 1
    provider: text
    sections:
      - {id: policy, source: literal, text: Answer briefly.}
      - {id: user, source: runtime}
    # file: tests/fixtures/f.yaml
    fixture_id: f
    template: t
    inputs: {user: "My mail is maria.keller@example.com."}

Mend: Replace it by made-up values; mark what has to stay as `sensitive`.
"""

from __future__ import annotations

from collections.abc import Iterator

from ctxc.model.finding import Finding, Severity
from ctxc.rules._content import at_least, personal_in_data, report
from ctxc.rules.engine import Context, rule


def check(context: Context) -> Iterator[Finding]:
    """Personal data in what a fixture records."""
    return report(
        RULE,
        context,
        at_least(personal_in_data(context), Severity.WARNING),
        "replace it by a made-up value, or mark it as `sensitive`",
    )


RULE = rule(__name__, __doc__, check, detectors=("pii.*",), tier="audit")
