"""A policy or fragment whose text comes with the request.

Why: It would have the authority of the platform or the application, and is written by whoever makes the request.

Bad:

    # file: templates/t.yaml
    template_id: t
    version: 1
    provider: text
    sections:
      - {id: policy, source: runtime}
      - {id: user, source: runtime}

Good:

    # file: templates/t.yaml
    template_id: t
    version: 1
    provider: text
    sections:
      - {id: policy, source: policies/house.md}
      - {id: user, source: runtime}
    # file: policies/house.md
    Answer briefly.

Mend: Put the text into a file of the project; pass what changes with a request as `task` or `state`.
"""

from __future__ import annotations

from collections.abc import Iterator

from ctxc.model.finding import Finding
from ctxc.model.section import Authority, Kind
from ctxc.rules._texts import authority_of, sections
from ctxc.rules.engine import Context, rule


def check(context: Context) -> Iterator[Finding]:
    """Sections of the application's own kinds with a source that is no file."""
    for spec in sections(context):
        from_request = spec.source == "retrieval" or spec.source.startswith("runtime")
        if from_request and spec.kind in (Kind.POLICY, Kind.FRAGMENT) and authority_of(spec) <= Authority.T1:
            yield RULE.finding(
                context,
                f"section {spec.id!r} would give what the request brings the authority {authority_of(spec).name}",
                at=spec.origin.child("source"),
                help="name a file of the project; use kind task or state for what changes with a request",
                data={"source": spec.source, "authority": authority_of(spec).name},
            )


RULE = rule(__name__, __doc__, check)
