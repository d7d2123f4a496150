"""What silences a finding: suppressions in the sources, waivers of policies, the baseline; in this order.

Each side that judges brings its own. What only the head silences still counts where the base judges as well: of the
head's suppressions those are honoured that the base has, word for word and for the same line; of the baseline the
entries that both have; of the waivers the base's.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import field, replace
from datetime import date
from fnmatch import fnmatchcase
from typing import Any

from ctxc.app import baseline as baselines
from ctxc.app import suppress
from ctxc.base.spans import Location, Span
from ctxc.base.values import dataclass
from ctxc.model.codes import code_of, severity_of
from ctxc.model.contract import Policy, Waiver
from ctxc.model.finding import Finding, Suppression
from ctxc.model.project import Project
from ctxc.rules._ground import place_in
from ctxc.rules.added_exemption import Exemption
from ctxc.rules.invalid_waiver import SOON_DAYS, day, is_valid

LineOf = Callable[[str, int], str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Silencers:
    """What may silence findings when one side judges. ``owner`` is the project whose policies these are, ``judged`` the
    one that is judged."""

    policies: tuple[Policy, ...]
    owner: Project
    judged: Project
    entries: tuple[suppress.Entry, ...] = ()
    baseline: tuple[baselines.Entry, ...] = ()
    baseline_path: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class WaiverUse:
    """A waiver and what became of it: used (how often), unused, expired, invalid."""

    policy: str
    waiver: Waiver
    state: str
    count: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Silenced:
    """Findings that count and that do not, findings about waivers, and what became of each waiver."""

    counting: tuple[Finding, ...]
    silenced: tuple[Finding, ...]
    waivers: tuple[WaiverUse, ...] = ()
    hygiene: tuple[Finding, ...] = field(default=())


def silence(findings: Iterable[Finding], by: Silencers, *, now: str, ran: frozenset[str], line_of: LineOf) -> Silenced:
    """Suppressions first, then waivers, then the baseline."""
    applied = suppress.apply(findings, by.entries, now=now, ran=frozenset(), known={}, paths=())
    counting, waived, uses = _waive(applied.findings, by, now)
    silenced = [*applied.suppressed, *waived]
    if by.baseline:
        judged = baselines.apply(counting, by.baseline, by.baseline_path, line_of, ran=ran)
        counting = list(judged.findings)
        silenced += judged.suppressed
    return Silenced(
        counting=tuple(counting),
        silenced=tuple(silenced),
        waivers=tuple(uses),
        hygiene=tuple(_hygiene(by, uses, now)),
    )


# --- waivers ---------------------------------------------------------------------------------------------------------


def _waive(
    findings: Iterable[Finding], by: Silencers, now: str
) -> tuple[list[Finding], list[Finding], list[WaiverUse]]:
    live: list[tuple[Policy, Waiver]] = []
    uses: list[WaiverUse] = []
    for policy in by.policies:
        for waiver in policy.waivers:
            if not is_valid(by.owner, policy, waiver, now):
                uses.append(WaiverUse(policy=policy.id, waiver=waiver, state="invalid"))
            elif waiver.expires < now:
                uses.append(WaiverUse(policy=policy.id, waiver=waiver, state="expired"))
            else:
                live.append((policy, waiver))
    used: dict[int, int] = {}
    counting: list[Finding] = []
    waived: list[Finding] = []
    for finding in findings:
        place = next((n for n, (_, w) in enumerate(live) if is_meant(finding, w)), None)
        if place is None:
            counting.append(finding)
            continue
        waiver = live[place][1]
        used[place] = used.get(place, 0) + 1
        reason = f"{waiver.reason} ({waiver.owner})"
        waived.append(replace(finding, suppressed=Suppression(kind="waiver", reason=reason, until=waiver.expires)))
    for number, (policy, waiver) in enumerate(live):
        count = used.get(number, 0)
        uses.append(WaiverUse(policy=policy.id, waiver=waiver, state="used" if count else "unused", count=count))
    return counting, waived, uses


def is_meant(finding: Finding, waiver: Waiver) -> bool:
    """Whether a waiver speaks of a finding: by its rule, and by its file or by its own fingerprint."""
    names = (finding.code, finding.name, finding.data.get("rule", ""))
    if waiver.rule not in names:
        return False
    if waiver.path and not (finding.location.path == waiver.path or fnmatchcase(finding.location.path, waiver.path)):
        return False
    if not waiver.fingerprint:
        return True
    digest = finding.data.get("digest")
    known = (finding.fingerprint, *((str(digest), f"hmac:{digest}") if digest else ()))
    return waiver.fingerprint in known


def _hygiene(by: Silencers, uses: Sequence[WaiverUse], now: str) -> Iterable[Finding]:
    for use in uses:
        waiver = use.waiver
        about = f"{waiver.rule} for {waiver.path or waiver.fingerprint}"
        if use.state == "expired":
            yield _made(
                "expired-waiver", by, waiver, f"the waiver of {about} ended on {waiver.expires}",
                "mend what it was about and take it out, or decide anew until when it is accepted",
            )  # fmt: skip
        elif use.state == "unused":
            yield _made("unused-waiver", by, waiver, f"the waiver of {about} silences nothing", "take it out")
        elif use.state == "used":
            left = _days(now, waiver.expires)
            if left is not None and left <= SOON_DAYS:
                yield _made(
                    "waiver-ends-soon", by, waiver,
                    f"the waiver of {about} ends {_when(left)}, on {waiver.expires}",
                    "mend what it is about now, or have it decided anew in time",
                )  # fmt: skip


def _when(days: int) -> str:
    return f"in {days} day{'s' if days > 1 else ''}" if days else "today"


def _days(now: str, until: str) -> int | None:
    today, end = day(now), day(until)
    return (end - today).days if isinstance(today, date) and isinstance(end, date) else None


def _made(name: str, by: Silencers, waiver: Waiver, message: str, help: str) -> Finding:
    return Finding(
        code=code_of(name),
        name=name,
        severity=severity_of(name),
        message=message,
        help=help,
        location=place_in(by.owner, by.judged, waiver.origin),
        data={"rule": waiver.rule, "owner": waiver.owner, "reason": waiver.reason, "expires": waiver.expires},
    )


# --- what the base honours --------------------------------------------------------------------------------------------


def honoured(
    head: Iterable[suppress.Entry], base: Iterable[suppress.Entry], head_line: LineOf, base_line: LineOf
) -> tuple[suppress.Entry, ...]:
    """The head's suppressions that the base has as well, each as often as there."""
    left: dict[tuple[Any, ...], int] = {}
    for entry in base:
        key = _identity(entry, base_line)
        left[key] = left.get(key, 0) + 1
    found = []
    for entry in head:
        key = _identity(entry, head_line)
        if left.get(key, 0) > 0:
            left[key] -= 1
            found.append(entry)
    return tuple(found)


def _identity(entry: suppress.Entry, line_of: LineOf) -> tuple[Any, ...]:
    """What makes two suppressions the same: what they say, and of an inline one the line that it speaks of."""
    about = line_of(entry.path, entry.line).strip() if entry.kind == "inline" else ""
    return (entry.kind, entry.path, entry.words, entry.until, entry.reason, entry.pointer, about)


def added(
    head: Iterable[suppress.Entry], base: Iterable[suppress.Entry], head_line: LineOf, base_line: LineOf
) -> Iterator[Exemption]:
    """The head's suppressions that the base does not have: the others of those that it honours."""
    entries = [e for e in head if e.kind != "config" and e.words and not e.fault]
    known = {id(e) for e in honoured(entries, base, head_line, base_line)}
    for entry in entries:
        if id(entry) not in known:
            place = f"line {entry.line}" if entry.kind == "inline" else entry.pointer or "the whole file"
            yield Exemption(
                kind=entry.kind, rules=entry.words, about=place, at=entry.location, reason=entry.reason,
                until=entry.until,
            )  # fmt: skip


def accepted(head: Iterable[baselines.Entry], base: Iterable[baselines.Entry], path: str) -> Iterator[Exemption]:
    """What the head's baseline, in the file ``path``, accepts beyond the base's."""
    known = {(e.code, e.path, e.key): e.count for e in base}
    for entry in head:
        more = entry.count - known.get((entry.code, entry.path, entry.key), 0)
        if more > 0:
            yield Exemption(
                kind="baseline", rules=(f"{entry.code} {entry.name}",), about=entry.path, reason=entry.reason,
                at=Location(path, Span(entry.line, 1, entry.line, 1)), count=more,
            )  # fmt: skip


def common(head: Iterable[baselines.Entry], base: Iterable[baselines.Entry]) -> tuple[baselines.Entry, ...]:
    """The entries of the baseline that both sides have, each as often as the side that has fewer."""
    known = {(e.code, e.path, e.key): e.count for e in base}
    found = []
    for entry in head:
        count = min(entry.count, known.get((entry.code, entry.path, entry.key), 0))
        if count:
            found.append(replace(entry, count=count))
    return tuple(found)
