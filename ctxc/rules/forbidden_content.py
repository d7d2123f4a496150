"""Content that a policy forbids: a secret, personal data, an internal address, a key, a pattern, a classification.

Why: What stands in a request has left the house. It is looked for in the project's own texts, in what fixtures bring,
in the request as it is sent, and inside encoded values (JSON escapes, base64, percent, entities, to depth 2). The value
is never printed: a finding gives rule, place, length, at most four characters and a keyed digest.

Bad:

    # file: templates/t.yaml
    template_id: t
    version: 1
    provider: text
    sections:
      - {id: policy, source: policies/house.md}
    # file: policies/house.md
    Questions go to desk@meridian-claims.co.uk.
    # file: tests/fixtures/f.yaml
    fixture_id: f
    template: t
    # file: policies/p.yaml
    policy_id: p
    version: 1
    gates:
      forbidden:
        - {id: FF-1, title: no fixed contact, where: {zone: [system]}, forbid: {detect: [pii.email]}}

Good:

    # file: templates/t.yaml
    template_id: t
    version: 1
    provider: text
    sections:
      - {id: policy, source: policies/house.md}
    # file: policies/house.md
    Questions go to the desk that the customer's letter names.
    # file: tests/fixtures/f.yaml
    fixture_id: f
    template: t
    # file: policies/p.yaml
    policy_id: p
    version: 1
    gates:
      forbidden:
        - {id: FF-1, title: no fixed contact, where: {zone: [system]}, forbid: {detect: [pii.email]}}

Mend: Take it out at its source, and change a secret that was published. A place that is accepted for a while is waived
by rule and path, with an owner, a reason and an end.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from ctxc.base.spans import Location, Span
from ctxc.detect.match import Match
from ctxc.model.finding import Finding, Severity
from ctxc.rules._forbidden import ForbiddenRule, digest_of, rules_of
from ctxc.rules._ground import Ground, ground, told
from ctxc.rules._scanner import Hit, Scanner
from ctxc.rules._searched import Found, in_package, in_sources
from ctxc.rules.engine import Context, rule

_SPACE = "forbidden"
_LISTED = 5


def check(context: Context) -> Iterator[Finding]:
    """Everything that some policy forbids; a value that stands in a source and reaches requests is one finding."""
    known = ground(context)
    rules = rules_of(known.policies, known.hosts)
    if not rules:
        return
    scanner = Scanner(rules, key=context.key, secret_rules=known.secret_rules)
    identity = ("forbidden", bool(known.former), digest_of(rules, known.secret_rules))
    found = list(known.once(identity, lambda: _everything(context, known, scanner)))
    groups: dict[tuple[Any, ...], list[Found]] = {}
    for one in found:
        groups.setdefault(_thing(one), []).append(one)
    for members in groups.values():
        # The first place names it best: the project's own text, then the input, then the request.
        first = min(members, key=lambda f: ("sources", "inputs", "request").index(f.where))
        yield _finding(context, rules[first.hit.rule], first, members)


def _everything(context: Context, known: Ground, scanner: Scanner) -> list[Found]:
    found = list(in_sources(context, scanner))
    digest = digest_of(scanner.rules, known.secret_rules)
    there = known.kept.get(_SPACE, known.head, digest) if known.kept is not None else {}
    for name in sorted(known.head):
        measured = known.head[name]
        if not measured.has_request or known.packages is None:
            continue
        as_it_is = name not in known.former  # what is kept knows a fixture by what it is called now
        text = there.get(name) if as_it_is else None
        kept = _read(text) if text is not None else None
        if kept is None:
            kept = list(in_package(context, known.packages(name), measured, scanner))
            if known.kept is not None and as_it_is:
                known.kept.put(_SPACE, name, digest, json.dumps([_store(f) for f in kept]))
        found.extend(kept)
    return found


def _thing(found: Found) -> tuple[Any, ...]:
    """What makes two finds the same: the rule, the value by its digest (or its key's name), and the file."""
    match = found.hit.match
    value = match.digest or match.message
    return (found.hit.rule, match.detector.partition(".")[0], value, found.location.path)


def _finding(context: Context, entry: ForbiddenRule, first: Found, members: list[Found]) -> Finding:
    match = first.hit.match
    fixtures = sorted({m.fixture for m in members if m.where == "request"})
    detector = "pattern" if match.detector.startswith("re2.") else match.detector.partition(".0")[0]
    if match.detector.startswith("key"):
        detector = "key"
    what = match.message
    if match.digest:
        shown = f", begins with {match.prefix!r}" if match.prefix else ""
        what += f" ({match.length:,} characters{shown}, digest {match.digest})"
    if match.via:
        what += f", encoded ({', '.join(match.via)})"
    title = f"{entry.id} {entry.title}".strip()
    reach = f"; it reaches {len(fixtures):,} request{'s' if len(fixtures) > 1 else ''}" if fixtures else ""
    severity = Severity.INFO if match.severity is Severity.INFO else entry.severity
    found = told(
        context,
        RULE,
        entry.policy,
        ("forbidden", entry.number),
        f"{title}: {what}{reach}",
        at=first.location,
        help=f"take it out at its source, or waive {entry.id} for this file with an owner, a reason and an end",
        fixture="" if first.where == "sources" else first.fixture,
        data={
            "rule": entry.id,
            "detector": detector,
            "length": match.length,
            "prefix": match.prefix,
            "digest": match.digest,
            "via": list(match.via),
            "where": sorted({m.where for m in members}),
            "fixtures": fixtures[:_LISTED],
            "requests": len(fixtures),
        },
    )
    return replace(found, severity=severity)


# --- kept between runs -----------------------------------------------------------------------------------------------


def _store(found: Found) -> list[Any]:
    match = found.hit.match
    span = found.location.span
    return [
        found.hit.rule, match.detector, int(match.severity), match.start, match.end, match.message, match.prefix,
        match.length, match.digest, list(match.via), found.where, found.section, found.fixture,
        found.location.path, list(span) if span is not None else None, found.location.pointer,
    ]  # fmt: skip


def _read(text: str) -> list[Found] | None:
    """Finds as they were kept; None for any other shape: a cache is untrusted."""
    try:
        found = []
        for row in json.loads(text):
            number, detector, severity, start, end, message, prefix, length, digest, via, *rest = row
            where, section, fixture, path, span, pointer = rest
            match = Match(
                detector=str(detector), severity=Severity(severity), start=int(start), end=int(end),
                message=str(message), prefix=str(prefix), length=int(length), digest=str(digest),
                via=tuple(map(str, via)),
            )  # fmt: skip
            place = Location(str(path), Span(*(int(n) for n in span)) if span is not None else None, str(pointer))
            found.append(
                Found(
                    hit=Hit(rule=int(number), match=match), where=str(where), location=place, section=str(section),
                    fixture=str(fixture),
                )
            )  # fmt: skip
        return found
    except (ValueError, TypeError, KeyError):
        return None


RULE = rule(__name__, __doc__, check, needs="packages")
