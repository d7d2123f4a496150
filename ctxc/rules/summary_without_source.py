"""A summary that does not point to what it summarises.

Why: It reads like a fact and cannot be traced: a number that was wrong in it stays wrong, and nothing may cite it.

Bad:

    # file: templates/t.yaml
    template_id: t
    version: 1
    provider: text
    sections:
      - {id: policy, source: literal, text: Answer briefly.}
      - {id: memory, source: runtime}
    # file: tests/fixtures/f.yaml
    fixture_id: f
    template: t
    now: 2026-11-30T10:00:00Z
    inputs: {memory: [{id: M1, type: summary, text: The order was late twice., scope: "user:u_1",
        valid_until: "2027-01-31"}]}

Good:

    # file: templates/t.yaml
    template_id: t
    version: 1
    provider: text
    sections:
      - {id: policy, source: literal, text: Answer briefly.}
      - {id: memory, source: runtime}
    # file: tests/fixtures/f.yaml
    fixture_id: f
    template: t
    now: 2026-11-30T10:00:00Z
    inputs: {memory: [{id: M1, type: summary, source_refs: [T4, T9], text: The order was late twice.,
        scope: "user:u_1", valid_until: "2027-01-31"}]}

Mend: Add `source_refs:` with the ids or ranges that it was made from.
"""

from __future__ import annotations

from collections.abc import Iterator

from ctxc.model.finding import Finding
from ctxc.model.fixture import Record
from ctxc.rules.engine import Context, rule

_REFERENCES = (
    "source_refs",
    "sources",
    "derived_from",
    "source_range",
    "source_ids",
    "summarises",
    "summarizes",
    "refs",
)
_TYPES = ("type", "kind", "record_type", "memory_type")


def check(context: Context) -> Iterator[Finding]:
    """Records that call themselves summaries and name no sources."""
    seen = set()
    for fixture in context.project.fixtures.values():
        for name in ("memory", "evidence", "handoff", "tool_results"):
            for record in getattr(fixture.inputs, name):
                if record.origin in seen or not _is_summary(record) or _has_source(record):
                    continue
                seen.add(record.origin)
                yield RULE.finding(
                    context,
                    f"{name} {record.id!r} is a summary and names nothing that it was made from",
                    at=record.origin,
                    help="add `source_refs:`",
                    fixture=fixture.id,
                    data={"record": record.id},
                )


def _is_summary(record: Record) -> bool:
    return any("summary" in str(record.attributes.get(key, "")).lower() for key in _TYPES)


def _has_source(record: Record) -> bool:
    return bool(record.source or record.artifact_ref or any(record.attributes.get(k) for k in _REFERENCES))


RULE = rule(__name__, __doc__, check)
