"""Results of an evaluation that a policy requires: missing, unreadable, too few, stale, or not good enough.

Why: A gate cannot ask a model; it can insist that somebody did, after the change, and that the answers were good.

Bad:

    # file: templates/t.yaml
    template_id: t
    version: 1
    provider: text
    sections:
      - {id: policy, source: literal, text: Answer briefly.}
    # file: tests/fixtures/f.yaml
    fixture_id: f
    template: t
    # file: eval/results.json
    {"results": {"timestamp": "2026-11-29T10:00:00Z", "stats": {"successes": 8, "failures": 2, "errors": 0}}}
    # file: policies/p.yaml
    policy_id: p
    version: 1
    gates:
      regression:
        results: [{path: eval/results.json, format: promptfoo, min_pass_rate: 0.95, newer_than: ignore}]

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
    # file: eval/results.json
    {"results": {"timestamp": "2026-11-29T10:00:00Z", "stats": {"successes": 98, "failures": 2, "errors": 0}}}
    # file: policies/p.yaml
    policy_id: p
    version: 1
    gates:
      regression:
        results: [{path: eval/results.json, format: promptfoo, min_pass_rate: 0.95, newer_than: ignore}]

Mend: Run the evaluation on what is to be shipped and hand its results to the gate. Results that name the bundle
(`ctxc_bundle`, or the property `ctxc.bundle`) prove what they are of; others are taken by their time.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import UTC, date, datetime, timedelta
from fractions import Fraction
from typing import Any

from ctxc.base.errors import CtxcError
from ctxc.base.spans import Location
from ctxc.model.finding import Finding
from ctxc.rules._evaluations import MAX_BYTES, Results, read_results
from ctxc.rules._floors import percent
from ctxc.rules._ground import ground, items, settings, told
from ctxc.rules.engine import Context, rule


def check(context: Context) -> Iterator[Finding]:
    """Every file of results that a policy requires."""
    for policy, regression in settings(context, "regression"):
        for number, wanted in items(regression.get("results")):
            for key, message, data in _faults(context, wanted):
                yield told(
                    context,
                    RULE,
                    policy,
                    ("regression", "results", number, key),
                    f"{wanted['path']}: {message}",
                    at=Location(str(wanted["path"])),
                    help="run the evaluation on what is to be shipped, and hand its results to the gate",
                    data=data,
                )


def _faults(context: Context, wanted: Mapping[str, Any]) -> Iterator[tuple[str, str, Mapping[str, Any]]]:
    """What is wrong with one file of results: the key that asks for it, in words, and the numbers."""
    path, form = str(wanted["path"]), str(wanted["format"])
    if not context.tree.exists(path):
        yield "path", "the results that the policy requires are not there", {}
        return
    try:
        results = read_results(context.tree.read(path, limit=MAX_BYTES), form)
    except CtxcError as error:
        yield "path", error.message, {}
        return
    except ValueError as error:
        yield "format", f"it cannot be read as {form}: {error}", {}
        return
    least = int(wanted.get("min_tests", 1))
    if results.total < least:
        yield "min_tests", f"{results.total:,} tests were run, {least:,} are required", {"tests": results.total}
    rate = wanted.get("min_pass_rate", 1)
    if results.total and Fraction(results.passed, results.total) < Fraction(str(rate)):
        told_rate = percent(results.passed, results.total)
        yield "min_pass_rate", f"{told_rate} passed, {rate} is required", {"passed": results.passed}
    if wanted.get("newer_than", "change") == "change":
        stale = _stale(context, results)
        if stale:
            yield "newer_than", stale, {"at": results.at, "bundle": results.bundle}


def _stale(context: Context, results: Results) -> str:
    """Why the results are not known to be of what is judged; empty where they are, or where nothing changed."""
    known = ground(context)
    if known.unchanged:
        return ""
    if results.bundle:
        if not known.bundle or results.bundle == known.bundle:
            return ""
        return f"they are of bundle {results.bundle[:24]!r}, not of this one ({known.bundle[:24]!r})"
    if results.at is None:
        return "they say neither when they were made nor of which bundle they are"
    if known.evaluated is None:
        return "they name no bundle, and when the change was made is not known"
    if results.at < known.evaluated:
        return "they are older than the change"
    if _day_of(results.at) > _day_after(context.now):
        return f"they are of {_day_of(results.at)}, which is still to come: today is {context.now}"
    return ""


def _day_of(at: int) -> str:
    return datetime.fromtimestamp(at, UTC).date().isoformat()


def _day_after(day: str) -> str:
    """A clock that is not UTC may be a day ahead."""
    return (date.fromisoformat(day) + timedelta(days=1)).isoformat() if day else "9999-12-31"


RULE = rule(__name__, __doc__, check, needs="packages")
