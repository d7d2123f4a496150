"""Stage reconcile: conflicts first, then duplicates, so that no side of a conflict is lost as somebody's twin.

A conflict is two records of one topic that claim different things. A side is preferred only for a reason that
stands in the records: it alone is verified in scope, or it is a newer version of the very same source. A later
date, a higher score or a success status decide nothing; the conflict then stays open, both sides are marked
``conflicted`` and become P2: whole, or the compile is refused.

Exact duplicates are equal texts after folding of white space. Near duplicates share at least 90 percent of their
words and exactly the same numbers and negations; "30 days" and "90 days" are never near duplicates.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

from ctxc.base.canonical import canonical
from ctxc.compiler.stage import Request, Stage, drop
from ctxc.model.fixture import Record
from ctxc.model.package import Conflict, Decision, Dropped, State
from ctxc.model.section import Kind, Section, Tier, Verification

STAGE = "reconcile"

NEAR = 0.9
"""Share of common words (Jaccard) from which on two texts are near duplicates."""

_FACTS = frozenset({Kind.EVIDENCE, Kind.MEMORY, Kind.TOOL_RESULT, Kind.HANDOFF})
_WORDS = re.compile(r"[㐀-鿿]|[^\W_]+", re.UNICODE)
_EXACT = re.compile(
    r"\d+(?:[.,:/-]\d+)*%?|\b(?:no|not|none|nor|neither|never|nobody|nothing|without|except|unless|cannot)\b|n['’]t\b"
    "|[不未无非没勿莫否]|除外",
    re.IGNORECASE,
)


def reconcile(request: Request, sections: tuple[Section, ...]) -> Stage:
    """Sections with conflicts marked and duplicates removed."""
    conflicts, marks, decisions = _conflicts(sections)
    if marks:
        sections = tuple(_marked(s, marks) for s in sections)
    protected = {side for c in conflicts for side in c.sides}
    allowed = {s.id for s in request.template.sections if s.select.dedupe}
    doubles = _duplicates(sections, protected, allowed)
    dropped: list[Dropped] = []
    states: list[State] = []
    kept: list[Section] = []
    for section in sections:
        found = doubles.get(section.section_id)
        if found is None:
            kept.append(section)
            continue
        reason, twin = found
        gone, decision = drop(section, STAGE, reason, f"of {twin}")
        dropped.append(gone)
        decisions.append(decision)
        states.append(State(candidate_id=section.section_id, selected=f"no:{reason}", loaded=f"no:{reason}"))
    return Stage(
        sections=tuple(kept),
        dropped=tuple(dropped),
        decisions=tuple(decisions),
        states=tuple(states),
        conflicts=tuple(conflicts),
    )


def _marked(section: Section, marks: dict[str, bool]) -> Section:
    if not marks.get(section.section_id):
        return section
    return replace(
        section,
        verification=Verification.CONFLICTED,
        tier=min(section.tier, Tier.P2),
        required=True,
    )


def _conflicts(sections: Sequence[Section]) -> tuple[list[Conflict], dict[str, bool], list[Decision]]:
    topics: dict[str, list[tuple[Section, Record]]] = {}
    for section in sections:
        record = section.attributes.get("record") if section.kind in _FACTS else None
        if record is not None and record.topic:
            topics.setdefault(record.topic, []).append((section, record))
    conflicts: list[Conflict] = []
    marks: dict[str, bool] = {}
    decisions: list[Decision] = []
    for topic in sorted(topics):
        sides = topics[topic]
        if len({_claim(record) for _, record in sides}) < 2:
            continue
        preferred, reason = _preferred(sides)
        conflicts.append(
            Conflict(
                topic=topic,
                sides=tuple(s.section_id for s, _ in sides),
                preferred=preferred,
                reason=reason,
            )
        )
        for section, _ in sides:
            marks[section.section_id] = not preferred
            verdict = "preferred" if section.section_id == preferred else "conflicted"
            decisions.append(
                Decision(section_id=section.section_id, stage=STAGE, verdict=verdict, reason=f"topic {topic}: {reason}")
            )
    return conflicts, marks, decisions


def _claim(record: Record) -> str:
    if record.claim:
        return _folded(record.claim)
    return canonical_text(record)


def canonical_text(record: Record) -> str:
    """What a record says, white space folded: equal for exact duplicates."""
    return canonical(record.value) if record.has_value else _folded(record.text)


def _folded(text: str) -> str:
    return " ".join(text.split())


def _preferred(sides: list[tuple[Section, Record]]) -> tuple[str, str]:
    """Section id of the side to prefer and why; empty while nothing in the records decides."""
    verified = [s for s, r in sides if r.verification is Verification.VERIFIED_SCOPE]
    if len(verified) == 1:
        return verified[0].section_id, "the only side that is verified in scope"
    if len(verified) > 1:
        return "", "several sides are verified in scope"
    if len({r.source for _, r in sides}) == 1 and sides[0][1].source and all(r.version for _, r in sides):
        ranked = sorted(sides, key=lambda pair: _version_key(pair[1].version))
        if _version_key(ranked[-1][1].version) > _version_key(ranked[-2][1].version):
            return ranked[-1][0].section_id, "a newer version of the same source"
    return "", "no side is verified and the sources differ"


def _version_key(version: str) -> tuple[tuple[int, int | str], ...]:
    return tuple((0, int(p)) if p.isdigit() else (1, p) for p in re.findall(r"\d+|[a-z]+", version.lower()))


def _duplicates(sections: Sequence[Section], protected: set[str], allowed: set[str]) -> dict[str, tuple[str, str]]:
    """Section id of each duplicate, with its reason and the section that stays for it.

    Duplicates of both kinds have the same numbers, so only what has the same digits is compared at all.
    """
    pool = [s for s in sections if s.kind in _FACTS and s.slot in allowed]
    if len(pool) < 2:
        return {}
    # The one that would be kept longest stays: tier, priority, relevance, then id.
    pool.sort(key=lambda s: (s.tier, -s.priority, s.section_id not in protected, -_relevance(s), s.section_id))
    alike: dict[tuple[str, bytes], list[Section]] = {}
    for section in pool:
        alike.setdefault((section.slot, _digits(section)), []).append(section)
    found: dict[str, tuple[str, str]] = {}
    for group in alike.values():
        if len(group) > 1:
            found |= _duplicates_of(group, protected)
    return found


def _duplicates_of(group: Sequence[Section], protected: set[str]) -> dict[str, tuple[str, str]]:
    """The duplicates in a group of one slot; who stays comes first."""
    found: dict[str, tuple[str, str]] = {}
    first: dict[str, str] = {}
    distinct: list[Section] = []
    for section in group:
        text = canonical_text(section.attributes["record"])
        if text and text in first and not section.required and section.section_id not in protected:
            found[section.section_id] = ("duplicate", first[text])
        else:
            first.setdefault(text, section.section_id)
            distinct.append(section)
    for later, earlier in _near([s for s in distinct if not s.required]):
        if later not in protected:
            found[later] = ("near_duplicate", earlier)
    return found


def _relevance(section: Section) -> float:
    record = section.attributes.get("record")
    return float(record.scores.get("relevance", 0.0)) if record is not None else 0.0


def _near(sections: Sequence[Section]) -> list[tuple[str, str]]:
    """Pairs (later, earliest) of near duplicates, by prefix filtering: exact, and linear where nothing is alike.

    Two sets with Jaccard similarity of at least t share a word among the rarest ``n - ceil(t * n) + 1`` of each
    (Chaudhuri, Ganti and Kaushik, "A Primitive Operator for Similarity Joins", 2006).
    """
    if len(sections) < 2:
        return []
    bags = [_bag(s.text) for s in sections]
    counts: Counter[str] = Counter()
    for bag in bags:
        counts.update(bag)
    if not any(n > 1 for n in counts.values()):
        return []
    # One order for all sets, rarest first; a word that stands in one text alone cannot join two.
    order = {w: n for n, w in enumerate(sorted(counts, key=lambda w: (counts[w], w)))}
    shared = [counts[w] > 1 for w in order]
    index: dict[int, list[int]] = {}
    pairs: list[tuple[str, str]] = []
    for number, bag in enumerate(bags):
        if len(bag) < _SHORTEST:
            continue
        prefix = len(bag) - -(-len(bag) * 9 // 10) + 1
        rare = [w for w in sorted(map(order.__getitem__, bag))[:prefix] if shared[w]]
        facts: list[str] | None = None
        for other in sorted({other for word in rare for other in index.get(word, ())}):
            common = len(bag & bags[other])
            if common / (len(bag) + len(bags[other]) - common) < NEAR:
                continue
            facts = _facts(sections[number].text) if facts is None else facts
            if facts == _facts(sections[other].text):
                pairs.append((sections[number].section_id, sections[other].section_id))
                break
        for word in rare:
            index.setdefault(word, []).append(number)
    return pairs


_SHORTEST = 8
"""Different words below which two texts are too short to be called alike."""


def _bag(text: str) -> frozenset[str]:
    # Splitting at white space is several times faster, and in ASCII text a word with its comma is a word as good.
    return frozenset(text.lower().split()) if text.isascii() else frozenset(_WORDS.findall(text.lower()))


_NO_DIGITS = bytes(set(range(256)) - set(b"0123456789"))


def _digits(section: Section) -> bytes:
    """The ASCII digits of what a record says, sorted: equal wherever its text or its ``_facts`` are."""
    text = canonical(section.value) if section.has_value else section.text
    return bytes(sorted(text.encode("utf-8", "surrogatepass").translate(None, _NO_DIGITS)))


def _facts(text: str) -> list[str]:
    return sorted(m.lower() for m in _EXACT.findall(text))
