"""Untrusted content in the system or tools zone.

Why: What stands there is read as the application's own instructions. Text of users, documents, tools and other
agents (T3 to T6) belongs in the turn or the data zone.

Bad:

    # file: templates/t.yaml
    template_id: t
    version: 1
    provider: text
    sections:
      - {id: policy, source: literal, text: Answer briefly.}
      - {id: evidence, source: retrieval, zone: system}

Good:

    # file: templates/t.yaml
    template_id: t
    version: 1
    provider: text
    sections:
      - {id: policy, source: literal, text: Answer briefly.}
      - {id: evidence, source: retrieval, zone: data}

Mend: Use `zone: data` or `zone: turn`, or leave `zone` out.
"""

from __future__ import annotations

from collections.abc import Iterator

from ctxc.model.finding import Finding
from ctxc.model.section import DEFAULTS, Authority, Kind, Zone
from ctxc.rules._texts import authority_of, sections
from ctxc.rules.engine import Context, rule


def check(context: Context) -> Iterator[Finding]:
    """Zones of sections, stated or of the kind, against whose text they hold."""
    for spec in sections(context):
        authority, zone = authority_of(spec), spec.zone or DEFAULTS[spec.kind].zone
        # Examples of users are moved to the data zone by the compiler.
        if authority >= Authority.T3 and zone in (Zone.SYSTEM, Zone.TOOLS) and spec.kind is not Kind.EXAMPLES:
            stated = spec.zone is not None
            yield RULE.finding(
                context,
                f"section {spec.id!r} ({authority.name}, untrusted) may not stand in the {zone.value} zone",
                at=spec.origin.child("zone" if stated else "authority"),
                help="use `zone: data` or `zone: turn`",
                data={"authority": authority.name, "zone": zone.value},
            )


RULE = rule(__name__, __doc__, check)
