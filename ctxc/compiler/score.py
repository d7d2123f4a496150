"""Explainable scores of evidence and memory: every term is shown with its weight.

evidence: relevance 0.40, authority 0.20, freshness 0.15, scope_match 0.15, diversity_bonus 0.10, less
redundancy_penalty and conflict_penalty (8.3). memory: relevance 0.35, confidence 0.20, recency 0.15, importance 0.15,
source_authority 0.10, less conflict_penalty and privacy_risk_penalty (7.5). The numbers are those of sections 8.3 and
7.5 of the guide to the context layer, v1.0, 2026-10-31 (docs/decisions.md); what matters is that each term can be read
in the snapshot.

A term that the record does not carry counts as 0 and is shown as 0: nothing is invented for it, except that
diversity is computed (1 for the first record of a source, less for each further one) and that a conflict that stayed
open costs ``CONFLICT_PENALTY``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from ctxc.model.fixture import Record
from ctxc.model.section import Kind, Score, Section, Verification

EVIDENCE_WEIGHTS = (
    ("relevance", 0.40),
    ("authority", 0.20),
    ("freshness", 0.15),
    ("scope_match", 0.15),
    ("diversity_bonus", 0.10),
)
MEMORY_WEIGHTS = (
    ("relevance", 0.35),
    ("confidence", 0.20),
    ("recency", 0.15),
    ("importance", 0.15),
    ("source_authority", 0.10),
)
EVIDENCE_PENALTIES = ("redundancy_penalty", "conflict_penalty")
MEMORY_PENALTIES = ("conflict_penalty", "privacy_risk_penalty")
CONFLICT_PENALTY = 0.10
"""Subtracted from a record whose conflict is open and that carries no penalty of its own."""


def score_all(sections: Sequence[Section]) -> tuple[Section, ...]:
    """The sections with a score on each piece of evidence and memory."""
    seen: dict[str, int] = {}
    ranked = sorted(
        (s for s in sections if s.kind is Kind.EVIDENCE),
        key=lambda s: (-_value(s, "relevance"), s.section_id),
    )
    diversity: dict[str, float] = {}
    for section in ranked:
        number = seen.get(section.source_uri, 0)
        seen[section.source_uri] = number + 1
        diversity[section.section_id] = 1 / (1 + number)
    return tuple(
        replace(s, score=_evidence(s, diversity[s.section_id]))
        if s.kind is Kind.EVIDENCE
        else replace(s, score=_memory(s))
        if s.kind is Kind.MEMORY
        else s
        for s in sections
    )


def _record(section: Section) -> Record | None:
    found = section.attributes.get("record")
    return found if isinstance(found, Record) else None


def _value(section: Section, name: str) -> float:
    record = _record(section)
    return float(record.scores.get(name, 0.0)) if record is not None else 0.0


def _evidence(section: Section, diversity: float) -> Score:
    record = _record(section)
    given: Mapping[str, float] = record.scores if record is not None else {}
    return _sum(section, {"diversity_bonus": diversity, **given}, EVIDENCE_WEIGHTS, EVIDENCE_PENALTIES)


def _memory(section: Section) -> Score:
    record = _record(section)
    return _sum(section, record.scores if record is not None else {}, MEMORY_WEIGHTS, MEMORY_PENALTIES)


def _sum(
    section: Section,
    given: Mapping[str, float],
    weights: Sequence[tuple[str, float]],
    penalties: Sequence[str],
) -> Score:
    terms = [(name, float(given.get(name, 0.0)), weight) for name, weight in weights]
    for name in penalties:
        value = float(given.get(name, 0.0))
        if name == "conflict_penalty" and not value and section.verification is Verification.CONFLICTED:
            value = CONFLICT_PENALTY
        terms.append((name, value, -1.0))
    # Rounded once, so that a sum of floats in another order can never flip a comparison.
    return Score(total=round(sum(v * w for _, v, w in terms), 9), terms=tuple(terms))
