"""A package as a row of the compile table and as JSON (``ctxc.compile/1``); rows and findings as JSON and back.

Stored rows come from a cache, which is untrusted: reading one back raises ValueError for whatever is not the shape
that was written, and the caller compiles again.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import fields
from typing import TYPE_CHECKING, Any

from ctxc.app.masking import mask_secrets, mask_value
from ctxc.base.canonical import canonical
from ctxc.base.spans import Location, Span
from ctxc.model.finding import Finding, Related, Severity
from ctxc.model.report import Problem, Row

if TYPE_CHECKING:
    from ctxc.model.fixture import Fixture
    from ctxc.model.package import Package, Placed

MASK = "[sensitive]"


def row_of(package: Package, fixture: Fixture) -> Row:
    """The row of a package. ``kept`` counts sections that are whole, ``cut`` those that were shortened."""
    from ctxc.model.package import Outcome  # not above: a warm lint imports this module for its findings alone

    snapshot = package.snapshot
    budget: Mapping[str, Any] = snapshot.get("budget", {})
    template: Mapping[str, Any] = snapshot.get("template", {})
    cut = sum(p.truncated for p in package.placed)
    worst: Mapping[str, Any] = max(budget.get("over", ()), key=lambda o: int(o["over"]), default={})
    rendered = package.outcome is Outcome.COMPILED  # also where the request is withheld
    return Row(
        fixture_id=package.fixture_id,
        template=str(template.get("id", fixture.template)),
        model=str(snapshot.get("provider", {}).get("model", "")),
        outcome=package.outcome.value,
        used=budget.get("used_input"),
        available=budget.get("available_input"),
        exact=is_exact(snapshot),
        kept=len(package.placed) - cut if rendered else 0,
        cut=cut if rendered else 0,
        dropped=len(package.dropped),
        prefix=snapshot.get("cache", {}).get("prefix_tokens") if rendered else None,
        path=fixture.origin.path,
        ok=package.as_expected,
        over=int(worst["over"]) if worst else None,
        limit=int(worst["limit"]) if worst else None,
        problems=tuple(
            Problem(key=e.key, expected=_shown(e.expected), actual=_shown(e.actual))
            for e in package.expectations
            if not e.held
        ),
        remedies=tuple(snapshot.get("remedies", ())),
    )


def is_exact(snapshot: Mapping[str, Any]) -> bool:
    """Whether a fixture is counted without an error band."""
    tokenizer: Mapping[str, Any] = snapshot.get("tokenizer") or {}
    return not tokenizer.get("error_low_bp") and not tokenizer.get("error_high_bp")


def _shown(value: Any) -> str:
    if value.__class__ is int:
        return f"{value:,}"
    return mask_secrets(value if isinstance(value, str) else json.dumps(value, ensure_ascii=False))


def package_json(package: Package, *, with_content: bool = False) -> str:
    """The JSON text of one package of ``ctxc.compile/1``.

    Keys are sorted, except inside ``request``: it is sent as it stands, and a model sees the properties of a tool's
    schema in the order in which they were written.
    """
    from ctxc.compiler.snapshot import dropped_json
    from ctxc.model.package import Outcome

    value: dict[str, Any] = {
        "fixture_id": package.fixture_id,
        "outcome": package.outcome.value,
        "trust_manifest": package.trust_manifest,
        "dropped_sections": dropped_json(package.dropped),
        "required_capabilities": list(package.required_capabilities),
        "expectations": [
            {"key": e.key, "expected": mask_value(e.expected), "actual": mask_value(e.actual), "held": e.held}
            for e in package.expectations
        ],
        "snapshot": package.snapshot,
    }
    if package.reply:
        value["reply"] = package.reply
    if package.renamed_tools:
        value["renamed_tools"] = dict(package.renamed_tools)
    withheld = package.request is None and package.outcome is Outcome.COMPILED
    if withheld:  # what holds the secret may be the name of a source, which stands here too
        value = {key: mask_value(item) for key, item in value.items()}
        value["snapshot"] = told_as_masked(package.snapshot, value["snapshot"])
    if with_content:
        value["content"] = [_content(p, withheld=withheld) for p in package.placed]
    parts = {key: canonical(item) for key, item in value.items()}
    parts["request"] = request_json(package.request) or "null"
    return "{" + ",".join(f'"{key}":{parts[key]}' for key in sorted(parts)) + "}"


def told_as_masked(snapshot: Mapping[str, Any], shown: dict[str, Any]) -> dict[str, Any]:
    """What is shown of a snapshot; with a key that says so where that is no longer what its id is the digest of."""
    return shown if shown == snapshot else {**shown, "masked": True}


def _content(placed: Placed, *, withheld: bool) -> dict[str, Any]:
    hidden = placed.section.sensitive
    text = MASK if hidden else mask_secrets(placed.rendered) if withheld else placed.rendered
    return {"section_id": placed.section.section_id, "text": text, "masked": text != placed.rendered}


def request_json(request: Mapping[str, Any] | None) -> str | None:
    """The provider request as it is sent: keys in the order of the request, one line; None where there is none."""
    if request is None:
        return None
    return json.dumps(request, ensure_ascii=False, separators=(",", ":"), allow_nan=False)


_FIELDS = tuple(f.name for f in fields(Row))


def row_value(row: Row) -> dict[str, Any]:
    """A row as plain values."""
    value = {name: getattr(row, name) for name in _FIELDS}
    value["problems"] = [[p.key, p.expected, p.actual] for p in row.problems]
    value["remedies"] = list(row.remedies)
    return value


_TEXTS = ("fixture_id", "template", "model", "outcome", "path")
_COUNTS = ("kept", "cut", "dropped")
_MAYBE_COUNTS = ("used", "available", "prefix", "over", "limit")


def row_from(value: Any) -> Row:
    """A row from plain values; raises ValueError for any other shape."""
    if not isinstance(value, dict):
        raise ValueError("a row is an object")
    if not all(isinstance(value.get(k), str) for k in _TEXTS):
        raise ValueError("a row's texts are missing")
    if not all(type(value.get(k)) is int for k in _COUNTS):
        raise ValueError("a row's counts are missing")
    if not all(value.get(k) is None or type(value[k]) is int for k in _MAYBE_COUNTS):
        raise ValueError("a row's tokens are not numbers")
    if not all(type(value.get(k)) is bool for k in ("ok", "exact")):
        raise ValueError("a row's marks are missing")
    problems = value.get("problems", [])
    return Row(
        **{k: value.get(k) for k in (*_TEXTS, *_COUNTS, *_MAYBE_COUNTS, "ok", "exact")},  # type: ignore[arg-type]
        problems=tuple(Problem(key=str(k), expected=str(e), actual=str(a)) for k, e, a in problems),
        remedies=tuple(map(str, value.get("remedies", []))),
    )


def finding_store(finding: Finding) -> dict[str, Any]:
    """A finding as plain values that ``finding_from`` reads back; fixes are left out (compiling offers none)."""
    return {
        "code": finding.code,
        "name": finding.name,
        "severity": int(finding.severity),
        "message": finding.message,
        "help": finding.help,
        "at": _location(finding.location),
        "fixture": finding.fixture,
        "related": [[_location(r.location), r.message] for r in finding.related],
        "data": dict(finding.data),
    }


def finding_from(value: Any) -> Finding:
    """A finding from plain values; raises ValueError, KeyError or TypeError for any other shape."""
    texts = {k: value[k] for k in ("code", "name", "message", "help", "fixture")}
    if not all(isinstance(t, str) for t in texts.values()) or not isinstance(value["data"], dict):
        raise ValueError("a finding's texts are missing")
    return Finding(
        **texts,
        severity=Severity(value["severity"]),
        location=_location_from(value["at"]),
        related=tuple(Related(location=_location_from(at), message=str(m)) for at, m in value["related"]),
        data=value["data"],
    )


def _location(location: Location) -> list[Any]:
    return [location.path, list(location.span) if location.span else None, location.pointer]


def _location_from(value: Sequence[Any]) -> Location:
    path, span, pointer = value
    return Location(str(path), Span(*(int(n) for n in span)) if span else None, str(pointer))
