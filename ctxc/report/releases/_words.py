"""What is said of a release, the same in every format; plain words, not encoded for any of them."""

from __future__ import annotations

from ctxc.model.release import ChangeLine, CostLine, PrefixLine, Release, Shipped, WaiverLine
from ctxc.report._tally import plural, tally

_NOUNS = {"toolset": "tool set", "profile": "request profile"}
SHORT = 12  # hex digits of a digest that a person compares


def verdict(release: Release) -> str:
    """The outcome in one line."""
    return f"{'failed' if release.failed else 'passed'}, {tally(release.report)}"


def judged(release: Release) -> str:
    """By whose policies, and against what."""
    report = release.report
    by = " and ".join(f"the {side}'s" for side in release.judged_by) or "no"
    against = f"against {report.base.get('label', '')}" if report.base else "without a base"
    how = str(report.base.get("how", "")) if report.base else ""
    label = str(report.base.get("label", "")) if report.base else ""
    why = f": {how}" if how and how != label else ""
    return f"judged by {by} policies, {against}{why}"


def ships(release: Release) -> str:
    """The bundle, and how many objects of each kind are in it."""
    counts: dict[str, int] = {}
    for one in release.shipped:
        if one.status != "removed":
            counts[one.kind] = counts.get(one.kind, 0) + 1
    told = ", ".join(plural(n, _NOUNS.get(kind, kind)) for kind, n in counts.items())
    same = " (as the base)" if release.base_bundle == release.bundle else ""
    return f"{release.bundle}{same}: {told}"


def changed(release: Release) -> str:
    """The change in one line; empty where there is no base."""
    if release.tokens_delta is None:
        return ""
    if not release.changes and release.base_bundle == release.bundle:
        return "nothing that a model sees differs"
    parts = [f"{plural(len(release.changes), 'fixture')} {'differs' if len(release.changes) == 1 else 'differ'}"]
    if release.changes:
        parts.append(f"{signed(release.tokens_delta)} tokens in all")
    moved = [s for s in release.shipped if s.status and s.status != "same"]
    if moved:
        parts.append(f"{plural(len(moved), 'object')} changed")
    if release.prefixes_moved:
        parts.append(
            f"the cached prefix of {plural(release.prefixes_moved, 'fixture')} moved "
            f"({release.lost_tokens:,} tokens lost)"
        )
    return ", ".join(parts)


def signed(number: int) -> str:
    """``+1,200``, ``-3``, ``±0``."""
    return f"{number:+,}" if number else "±0"


_HOW = {"inline": "comment", "file": "in the file", "config": "configuration", "baseline": "baseline"}


def waived(line: WaiverLine) -> str:
    """What a waiver did, in one line."""
    state = {
        "used": f"used {line.count:,}×" if line.count != 1 else "used once",
        "unused": "unused: it silences nothing",
        "expired": "expired",
        "not_judged": "its gate did not run",
        "invalid": "not valid: it silences nothing",
    }[line.state]
    return f"{line.rule} for {line.about} until {line.expires} ({line.owner}): {state}"


def silenced(release: Release) -> tuple[WaiverLine, ...]:
    """What suppressions and the baseline silence, as rows beside those of the waivers."""
    found: dict[tuple[str, ...], int] = {}
    for finding in release.report.suppressed:
        how = finding.suppressed
        if how is not None and how.kind != "waiver":
            key = (f"{finding.code} {finding.name}", finding.location.path, how.until, how.kind, how.reason)
            found[key] = found.get(key, 0) + 1
    return tuple(
        WaiverLine(
            policy="", rule=rule, about=path, owner=f"none ({_HOW[kind]})", reason=reason, created="",
            expires=until or "no end", state="used", count=count,
        )
        for (rule, path, until, kind, reason), count in found.items()
    )  # fmt: skip


def version(one: Shipped) -> str:
    """``1.0.0 → 1.1.0``, or the one version that there is."""
    if one.status == "removed":
        return f"{one.base_version} → gone"
    if one.base_version and one.base_version != one.version:
        return f"{one.base_version} → {one.version}"
    return one.version or "no version"


def digest(text: str) -> str:
    """The beginning of a digest; a dash where there is none."""
    return text.removeprefix("sha256:")[:SHORT] or "–"


def is_new(one: Shipped) -> bool:
    """Whether an object is not as at the base."""
    return bool(one.status) and one.status != "same"


def prefix_state(line: PrefixLine) -> str:
    """What a person has to know of a prefix."""
    if not line.digest:
        return "not the same in all fixtures"
    return {"same": "as the base", "changed": "changed", "added": "new", "": ""}[line.status]


def tokens_of(line: CostLine) -> str:
    """Median and most of the input tokens, with the base's where they differ."""
    about = "~" if line.estimated else ""
    return f"{_from(line.base_p50, line.p50, about)} / {_from(line.base_most, line.most, about)}"


def _from(before: int | None, after: int, about: str) -> str:
    if before is None or before == after:
        return f"{about}{after:,}"
    return f"{about}{before:,} → {about}{after:,}"


def money(before: str, after: str) -> str:
    """Dollars for a thousand requests, with the base's where they differ."""
    if not after:
        return "–"
    same = not before or _amount(before) == _amount(after)
    return _amount(after) if same else f"{_amount(before)} → {_amount(after)}"


def _amount(text: str) -> str:
    from decimal import Decimal

    return f"${Decimal(text):,.2f}"


def time(line: CostLine) -> str:
    """Milliseconds by the model, with the base's where they differ."""
    if line.ms is None:
        return "–"
    before = f"{line.base_ms:,} → " if line.base_ms is not None and line.base_ms != line.ms else ""
    return f"{before}{line.ms:,} ms"


def change_tokens(line: ChangeLine) -> tuple[str, str, str]:
    """Tokens at the base, at the head, and the difference."""
    one = f"{line.base_tokens:,}" if line.base_tokens is not None else "–"
    other = f"{line.head_tokens:,}" if line.head_tokens is not None else "–"
    if line.base_tokens is None or line.head_tokens is None:
        return one, other, ""
    return one, other, signed(line.head_tokens - line.base_tokens)
