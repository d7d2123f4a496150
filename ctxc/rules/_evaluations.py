"""Results of evaluations that ran elsewhere, read from the files that promptfoo and test runners write.

Such a file is input like any other: it is bounded, JSON is read strictly, and XML with a document type is refused, so
that no entity is ever expanded. Formats: promptfoo's `--output results.json` (0.9x to 0.12x) and JUnit XML as pytest,
Jest, Go and others write it.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from typing import Any
from xml.etree import ElementTree

from ctxc.base.values import dataclass

MAX_BYTES = 16 << 20


@dataclass(frozen=True, slots=True, kw_only=True)
class Results:
    """What an evaluation says of itself. ``at`` is when it ran (seconds since 1970, None: it does not say), ``bundle``
    what it says that it evaluated."""

    passed: int
    failed: int
    at: int | None = None
    bundle: str = ""

    @property
    def total(self) -> int:
        """All tests that were run; skipped ones prove nothing."""
        return self.passed + self.failed


def read_results(data: bytes, form: str) -> Results:
    """Results of a file's bytes; raises ValueError that says why they cannot be used."""
    if form == "junit":
        return _junit(data)
    return _promptfoo(data)


def _promptfoo(data: bytes) -> Results:
    try:
        value = json.loads(data.decode("utf-8-sig"), object_pairs_hook=_unique)
    except (ValueError, RecursionError) as error:
        raise ValueError(str(error) if isinstance(error, _Twice) else "it is not JSON") from None
    if not isinstance(value, Mapping):
        raise ValueError("it is no object")
    results = value.get("results")
    stats = results.get("stats") if isinstance(results, Mapping) else value.get("stats")
    if not isinstance(stats, Mapping):
        raise ValueError("it has no results.stats: promptfoo writes them with `--output results.json`")
    passed, failed = _count(stats, "successes"), _count(stats, "failures")
    failed += _count(stats, "errors") if "errors" in stats else 0
    # What its rows say counts as well: sums that somebody shortened prove nothing.
    rows = results.get("results") if isinstance(results, Mapping) else None
    if isinstance(rows, list):
        failed = max(failed, sum(1 for row in rows if isinstance(row, Mapping) and row.get("success") is False))
    times = (
        results.get("timestamp") if isinstance(results, Mapping) else None,
        _under(value, "metadata", "evaluationCreatedAt"),
        value.get("createdAt"),
    )
    found = next((t for t in map(_time, times) if t is not None), None)
    bundle = _under(value, "config", "metadata", "ctxc_bundle") or _under(value, "metadata", "ctxc_bundle")
    return Results(passed=passed, failed=failed, at=found, bundle=bundle if isinstance(bundle, str) else "")


class _Twice(ValueError):
    """A key that stands twice: which of the two is meant depends on who reads it."""


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise _Twice("a key stands twice in it")
    return found


def _count(stats: Mapping[str, Any], key: str) -> int:
    value = stats.get(key)
    if type(value) is not int or value < 0:
        raise ValueError(f"results.stats.{key} is no number")
    return value


def _under(value: Any, *keys: str) -> Any:
    for key in keys:
        value = value.get(key) if isinstance(value, Mapping) else None
    return value


def _time(text: Any) -> int | None:
    if not isinstance(text, str):
        return None
    try:
        found = datetime.fromisoformat(text)
    except ValueError:
        return None
    # A time without a zone is taken as UTC, as a runner without one writes it.
    return int((found if found.tzinfo is not None else found.replace(tzinfo=UTC)).timestamp())


class _Plain(ElementTree.TreeBuilder):
    """Elements without a document type: it is refused where it begins, in any encoding, before an entity is defined."""

    def doctype(self, name: str, pubid: str | None, system: str | None) -> None:
        """Refuse it."""
        raise ValueError("it has a document type, which no test runner writes")


def _junit(data: bytes) -> Results:
    try:
        root = ElementTree.fromstring(data, ElementTree.XMLParser(target=_Plain()))
    except (ElementTree.ParseError, LookupError) as error:  # the latter: an encoding that nobody knows
        raise ValueError(f"it is not XML: {error}") from None
    if root.tag not in ("testsuites", "testsuite"):
        raise ValueError(f"its root is <{root.tag[:40]}>, not <testsuites>")
    passed = failed = 0
    for case in root.iter("testcase"):
        marks = {child.tag for child in case}
        if marks & {"failure", "error"}:
            failed += 1
        elif "skipped" not in marks and case.get("status") not in _NOT_RUN and case.get("result") not in _NOT_RUN:
            passed += 1
    # A suite that could not be run at all has no cases: then its own numbers say so.
    failed = max(failed, *(_told(s, "failures") + _told(s, "errors") for s in _suites(root)))
    times = [t for t in (_time(s.get("timestamp")) for s in _suites(root)) if t is not None]
    bundle = next((p.get("value", "") for p in root.iter("property") if p.get("name") == "ctxc.bundle"), "")
    return Results(passed=passed, failed=failed, at=min(times, default=None), bundle=bundle)


_NOT_RUN = ("notrun", "skipped", "suppressed", "disabled")
"""What GoogleTest and others write into a case that they did not run."""


def _told(suite: ElementTree.Element, name: str) -> int:
    text = suite.get(name, "")
    return int(text) if text.isascii() and text.isdigit() and len(text) < 10 else 0


def _suites(root: ElementTree.Element) -> Iterator[ElementTree.Element]:
    yield root
    yield from root.iter("testsuite")
