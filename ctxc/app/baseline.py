"""The baseline: findings that were there when lint was introduced, one a line, sorted, keyed by content.

A key is made from the rule, the file, the fixture and the text that the finding is about: no line number, commit or
date, so that neither an edit above it nor a rebase changes the file. Equal findings are counted. Findings beyond the
count are new; entries that match nothing are slack. The file comes with the project and is read as such.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from dataclasses import replace
from hashlib import sha256

from ctxc.base.canonical import canonical
from ctxc.base.errors import ConfigError
from ctxc.base.spans import Location, Span
from ctxc.base.values import dataclass
from ctxc.model.codes import code_of, severity_of
from ctxc.model.finding import Finding, Suppression

_KEYS = {"code": str, "count": int, "key": str, "name": str, "path": str, "reason": str}


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """``count`` equal findings of one rule in one file."""

    code: str
    name: str
    path: str
    key: str
    count: int
    reason: str = ""
    line: int = 0  # of the baseline file


@dataclass(frozen=True, slots=True, kw_only=True)
class Applied:
    """Findings that count, findings that the baseline knows, and entries that match less than they say."""

    findings: tuple[Finding, ...]
    suppressed: tuple[Finding, ...]
    slack: tuple[Finding, ...]


def read(text: str, path: str) -> tuple[Entry, ...]:
    """The entries of a baseline file; raises ConfigError for a line that is none."""
    found = []
    for number, line in enumerate(text.replace("\r\n", "\n").split("\n"), 1):
        if not line.strip():
            continue
        try:
            value = json.loads(line)
        except (ValueError, RecursionError):
            value = None
        if (
            not isinstance(value, dict)
            or not all(type(value.get(k)) is t for k, t in _KEYS.items())
            or value["count"] < 1
        ):
            raise ConfigError(
                "this line of the baseline cannot be read",
                help="write it again with `ctxc lint --update-baseline --accept-new --reason TEXT`",
                location=Location(path, Span(number, 1, number, len(line) + 1)),
            )
        found.append(Entry(**{k: value[k] for k in _KEYS}, line=number))
    return tuple(found)


def write(entries: Iterable[Entry]) -> str:
    """The text of a baseline file, sorted."""
    ordered = sorted(entries, key=lambda e: (e.path, e.code, e.key))
    return "".join(canonical({k: getattr(e, k) for k in _KEYS}) + "\n" for e in ordered)


def key_of(finding: Finding, line_of: Callable[[str, int], str]) -> str:
    """The key of a finding: 16 hex digits. ``line_of`` gives a line of a file, or nothing."""
    location = finding.location
    span = location.span
    about = finding.message
    if span is not None:
        line = line_of(location.path, span.line)
        end = span.end_column - 1 if span.end_line == span.line else len(line)
        about = line[span.column - 1 : end].strip() or line.strip() or finding.message
    value = [finding.code, location.path, finding.fixture, about]
    return sha256(canonical(value).encode("utf-8", "surrogatepass")).hexdigest()[:16]


def apply(
    findings: Iterable[Finding], entries: Iterable[Entry], path: str, line_of: Callable[[str, int], str],
    *, ran: frozenset[str],
) -> Applied:  # fmt: skip
    """Findings against a baseline; an entry of a rule that did not run says nothing about slack."""
    left = {(e.code, e.path, e.key): e.count for e in entries}
    known = {(e.code, e.path, e.key): e for e in entries}
    counting: list[Finding] = []
    silenced: list[Finding] = []
    for finding in findings:
        key = (finding.code, finding.location.path, key_of(finding, line_of)) if left else ("", "", "")
        if left.get(key, 0) > 0:
            left[key] -= 1
            silenced.append(replace(finding, suppressed=Suppression(kind="baseline", reason=known[key].reason)))
        else:
            counting.append(finding)
    slack = tuple(_slack(known[k], n, path) for k, n in left.items() if n and known[k].code in ran)
    return Applied(findings=tuple(counting), suppressed=tuple(silenced), slack=slack)


def _slack(entry: Entry, count: int, path: str) -> Finding:
    name = "baseline-slack"
    return Finding(
        code=code_of(name),
        name=name,
        severity=severity_of(name),
        message=f"the baseline accepts {count:,} finding{'s' if count > 1 else ''} of {entry.code} {entry.name} in "
        f"{entry.path} that {'are' if count > 1 else 'is'} no longer there",
        help="take it out with `ctxc lint --update-baseline`, or it would hide the next one",
        location=Location(path, Span(entry.line, 1, entry.line, 1)),
        data={"code": entry.code, "path": entry.path, "count": count},
    )


def updated(
    entries: Iterable[Entry], suppressed: Iterable[Finding], new: Iterable[Finding],
    line_of: Callable[[str, int], str], *, ran: frozenset[str], reason: str = "",
) -> tuple[Entry, ...]:  # fmt: skip
    """The entries that are still needed, and ``new`` findings with a reason. What did not run is kept as it is."""
    before = {(e.code, e.path, e.key): e for e in entries}
    kept = {k: e for k, e in before.items() if e.code not in ran}
    for finding in suppressed:
        key = (finding.code, finding.location.path, key_of(finding, line_of))
        old = before.get(key)
        if old is not None:
            count = kept[key].count + 1 if key in kept else 1
            kept[key] = replace(old, count=count)
    for finding in new:
        key = (finding.code, finding.location.path, key_of(finding, line_of))
        known = kept.get(key)
        kept[key] = (
            replace(known, count=known.count + 1)
            if known is not None
            else Entry(code=key[0], name=finding.name, path=key[1], key=key[2], count=1, reason=reason)
        )
    return tuple(kept.values())
