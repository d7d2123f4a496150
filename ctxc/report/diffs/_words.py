"""What every format says of a change, in the same words."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from ctxc.model.change import (
    Change,
    Edit,
    FieldChange,
    FirstDifference,
    FixtureChange,
    Hunk,
    SectionChange,
    SourceChange,
    ToolsChange,
    VersionChange,
)
from ctxc.report._paint import Style
from ctxc.report._tally import plural


class Line(NamedTuple):
    """One line of the summary: a label and what there is to say."""

    label: str
    text: str
    style: Style = ""


def signed(value: int) -> str:
    """``+1,234``, ``-5``, ``±0``: zero more tokens does not mean that nothing changed."""
    return f"{value:+,}" if value else "±0"


def some(names: Sequence[str], limit: int = 3) -> str:
    """The first names of a list, and how many more there are."""
    shown = ", ".join(names[:limit])
    return shown if len(names) <= limit else f"{shown} and {len(names) - limit:,} more"


def _verb(count: int, verb: str) -> str:
    """``differ`` for several, ``differs`` for one."""
    return verb + ("s" if count == 1 else "")


def sides(change: Change) -> str:
    """What is compared with what."""
    return f"{_side(change, base=True)} → {_side(change, base=False)}"


def _side(change: Change, *, base: bool) -> str:
    revision = change.base if base else change.head
    name = revision.label or revision.rev
    model = "/".join(p for p in (revision.provider, revision.model) if p)
    return f"{name} for {model}" if model else name


def differing(change: Change) -> list[FixtureChange]:
    """The fixtures that differ, in order."""
    return [f for f in change.fixtures if f.status != "unchanged"]


def headline(change: Change) -> str:
    """How many fixtures differ, and what the others rest on."""
    t = change.totals
    if not change.fixtures and not change.sources:
        return "no difference: both sides are the same tree"
    count = len(differing(change))
    files = plural(t.files, "file") + " changed"
    if not count:
        return f"no model sees a difference: {files}, {plural(t.fixtures, 'fixture')} compile to the same"
    told = (
        f"{count:,} of {plural(t.fixtures, 'fixture')} differ"
        if count > 1
        else f"1 of {plural(t.fixtures, 'fixture')} differs"
    )
    rest = sum(f.proof == "record" for f in change.fixtures)
    parts = [files]
    if rest:
        parts.append(f"{rest:,} unchanged by construction")
    if t.unchanged - rest:
        parts.append(f"{t.unchanged - rest:,} compiled and the same")
    return f"{told} ({', '.join(parts)})"


def summary(change: Change) -> list[Line]:
    """The lines that a reviewer reads first."""
    found = [
        *_outcomes(change),
        *_tokens(change),
        *_prefix(change),
        *_drops(change),
        *_breaking(change),
        *_versions(change),
    ]
    t = change.totals
    if t.sections and t.whitespace_sections:
        what = f"{t.whitespace_sections:,} of {plural(t.sections, 'change')} of sections: white space only"
        found.append(Line("space", what, "dim"))
    if t.unseen:
        found.append(Line("unseen", f"{plural(t.unseen, 'fixture')} in metadata only: the model sees the same", "dim"))
    for setting in change.settings:
        found.append(Line("settings", f"{setting.name}: {setting.base} → {setting.head}", "warn"))
    for side, revision in (("base", change.base), ("head", change.head)):
        if revision.errors:
            what = f"{plural(revision.errors, 'error')} kept files of the {side} from being loaded"
            found.append(Line("errors", what + ("; `ctxc compile` shows them" if side == "head" else ""), "bad"))
    return found


def problems(fixtures: Iterable[FixtureChange]) -> list[str]:
    """What keeps fixtures from being compiled, by side, each problem once with all that have it."""
    found: dict[tuple[str, str], list[str]] = {}
    for fixture in fixtures:
        for side, told in (("base", fixture.base_problems), ("head", fixture.problems)):
            for problem in told:
                found.setdefault((side, problem), []).append(fixture.fixture_id)
    return [
        f"{some(names)} {'does' if len(names) == 1 else 'do'} not compile at {side}: {problem}"
        for (side, problem), names in found.items()
    ]


def _outcomes(change: Change) -> Iterable[Line]:
    turned: dict[tuple[str, str, str], list[str]] = {}
    for fixture in differing(change):
        if fixture.status == "changed" and fixture.base_outcome != fixture.head_outcome:
            # What a ceiling was crossed by is each fixture's own.
            key = (fixture.base_outcome, fixture.head_outcome, fixture.budget.crossed)
            turned.setdefault(key, []).append(fixture.fixture_id)
    for (base, head, crossed), names in turned.items():
        style: Style = "bad" if head in ("invalid", "budget_exceeded") else "warn"
        what = f"{some(names)}: {base} → {head}"
        yield Line("outcome", what + (f": {crossed}" if crossed else ""), style)
    for fixture in differing(change):
        if fixture.budget.crossed and not (
            fixture.status == "changed" and fixture.base_outcome != fixture.head_outcome
        ):
            yield Line("ceiling", f"{fixture.fixture_id}: {fixture.budget.crossed}", "bad")


def _tokens(change: Change) -> Iterable[Line]:
    t = change.totals
    foreign = [f for f in differing(change) if not f.tokens.comparable]
    if foreign:
        told = dict.fromkeys(
            f"{field.base} → {field.head}"
            for f in foreign
            for field in f.fields
            if field.name in ("tokenizer", "vocabulary")
        )
        where = foreign[0].fixture_id if len(foreign) == 1 else f"{len(foreign):,} fixtures"
        sums = [
            sum(n or 0 for n in side) for side in zip(*((f.tokens.base, f.tokens.head) for f in foreign), strict=True)
        ]
        what = f"not comparable in {where}: another tokenizer counts ({', '.join(told)}), {sums[0]:,} → {sums[1]:,}"
        yield Line("tokens", what + (" together" if len(foreign) > 1 else ""), "warn")
    if t.delta_tokens is None or t.head_tokens is None:
        return
    exact = all(f.tokens.exact for f in differing(change))
    about = "" if exact else "~"
    d, h = t.delta_tokens, t.head_tokens
    if t.changed == 1:
        text = f"{signed(d.max)}, now {about}{h.max:,}"
    else:
        text = (
            f"P50 {signed(d.p50)}, P95 {signed(d.p95)}, max {signed(d.max)}"
            f"; now P50 {about}{h.p50:,}, P95 {about}{h.p95:,}, max {about}{h.max:,}"
        )
    if t.largest and t.changed > 1 and (d.max or d.p50):
        # A change that was narrowed to some facets need not hold the fixture any more.
        most = next((f.tokens.delta for f in change.fixtures if f.fixture_id == t.largest), None)
        text += f"; most ({signed(most)}) in {t.largest}" if most is not None else f"; most in {t.largest}"
    if t.least_headroom is not None:
        text += f"; headroom {t.least_headroom:,}"
        text += f" in {t.least_headroom_fixture}" if t.changed > 1 else ""
    low = t.least_headroom is not None and t.least_headroom < 0
    yield Line("tokens", text, "warn" if low else "")


def _prefix(change: Change) -> Iterable[Line]:
    t = change.totals
    moved = [f for f in differing(change) if f.prefix is not None and not f.prefix.stable]
    if not moved:
        if any(f.prefix is not None and f.prefix.marks for f in differing(change)):
            yield Line("prefix", "the same bytes; cache marks stand elsewhere", "warn")
        elif any(f.prefix is not None and f.prefix.base_tokens for f in differing(change)):
            yield Line("prefix", "stable: every cached prefix is byte for byte the same", "good")
        yield from _earliest(change)
        return
    reasons = dict.fromkeys(f.prefix.first_difference.reason for f in moved if f.prefix and f.prefix.first_difference)
    why = f" ({', '.join(reasons)})" if reasons else ""
    count = (
        plural(t.changed, "fixture") if len(moved) == t.changed else f"{len(moved):,} of {plural(t.changed, 'fixture')}"
    )
    text = f"moved in {count}{why}: {plural(t.lost_tokens, 'token')} lose their cache"
    yield Line("prefix", text, "bad" if t.lost_tokens else "warn")
    worst = max(moved, key=lambda f: (f.prefix.lost_tokens if f.prefix else 0, f.fixture_id))
    if worst.prefix is not None and worst.prefix.first_difference is not None:
        same = sum(
            f.prefix is not None and _place(f.prefix.first_difference) == _place(worst.prefix.first_difference)
            for f in moved
        )
        more = f", the same place in {same:,} fixtures" if same > 1 else ""
        yield Line("", f"first at {first_difference(worst.prefix.first_difference)}{more}")


def _earliest(change: Change) -> Iterable[Line]:
    """The first byte that differs where no prefix moved: it stands beside the tokens, which may be the same."""
    firsts = [f.prefix.first_difference for f in differing(change) if f.prefix and f.prefix.first_difference]
    if firsts:
        yield Line("", f"first difference at {first_difference(min(firsts, key=lambda d: d.percent or 0.0))}", "dim")


def _place(first: FirstDifference | None) -> tuple[str, int | None, str]:
    return (first.path, first.line, first.section_id) if first is not None else ("", None, "")


def first_difference(first: FirstDifference) -> str:
    """Where two requests part: source line, section, byte, token and share of the request."""
    place = f"{first.path}:{first.line}" if first.path and first.line else first.path
    text = f"{place} in {first.section_id}" if place else first.section_id
    if first.byte is not None:
        text += f", byte {first.byte:,}"
        if first.token is not None:
            text += f", token {first.token:,}"
        if first.percent is not None:
            text += f" ({percent(first.percent)})"
    return text


def percent(value: float) -> str:
    """A share with one decimal, ``5.7%``; whole where there is none."""
    return f"{value:.1f}%".replace(".0%", "%")


def _drops(change: Change) -> Iterable[Line]:
    t = change.totals
    parts = []
    if t.dropped:
        parts.append(f"{plural(t.dropped, 'section')} fall{'s' if t.dropped == 1 else ''} out")
    if t.restored:
        parts.append(f"{plural(t.restored, 'section')} {'comes' if t.restored == 1 else 'come'} back")
    if parts:
        yield Line("drops", "; ".join(parts), "bad" if t.dropped else "good")


def _breaking(change: Change) -> Iterable[Line]:
    told: dict[str, None] = {}
    for fixture in differing(change):
        for tool in fixture.tools.tools if fixture.tools is not None else ():
            for change_ in tool.changes:
                if change_.breaking:
                    told[f"tool {tool.name}: {change_.reason}"] = None
        if fixture.contract is not None:
            for change_ in fixture.contract.changes:
                if change_.breaking:
                    told[f"contract {fixture.contract.head or fixture.contract.base}: {change_.reason}"] = None
    for text in told:
        yield Line("breaking", text, "bad")


def _versions(change: Change) -> Iterable[Line]:
    missing = [v for v in change.versions if v.missing]
    if missing:
        what = some([f"{v.kind} {v.id}" for v in missing])
        needed = "it needs" if len(missing) == 1 else "they need"
        yield Line("versions", f"{len(missing):,} changed without the bump that {needed}: {what}", "warn")


def tools_told(change: ToolsChange) -> str:
    """A tools change in one line."""
    from ctxc.compare.tools import told

    return told(change)


def is_drop(edit: Edit) -> bool:
    """Whether a section is gone, or there again, because of what fits: told with what is left out."""
    return "drops" in edit.section.facets and edit.section.status in ("added", "removed")


def edit_title(edit: Edit) -> tuple[str, str]:
    """Name and facts of an edit."""
    section = edit.section
    name = section.section_id if not section.base_id else f"{section.base_id} → {section.section_id}"
    facts = [section.status if section.status != "changed" else "", tokens_told(edit)]
    facts.append(plural(len(edit.fixtures), "fixture") if len(edit.fixtures) > 1 else edit.fixtures[0])
    facets = [f for f in section.facets if f not in ("content", "tokens")]
    if facets and section.status == "changed":
        facts.append(", ".join(facets))
    if section.whitespace:
        facts.append("white space only")
    return name, "  ".join(f for f in facts if f)


def tokens_told(edit: Edit) -> str:
    """The token difference of a section; from least to most where models count it differently."""
    if edit.section.status == "moved":
        return f"{edit.section.head_tokens:,} tokens"
    return f"{delta_told(edit)} token{'' if abs(edit.most) == 1 else 's'}"


def delta_told(edit: Edit) -> str:
    """The number alone."""
    if not edit.section.comparable:
        return f"{edit.section.base_tokens:,} → {edit.section.head_tokens:,}"
    return signed(edit.most) if edit.least == edit.most else f"{signed(edit.least)} to {signed(edit.most)}"


def position_told(section: SectionChange) -> str:
    """Where a section moved, as places in the request from 1; nothing where it did not."""
    if "order" not in section.facets or section.base_position is None or section.head_position is None:
        return ""
    return f"moved from place {section.base_position + 1} to {section.head_position + 1}"


def field_told(field: FieldChange) -> str:
    """A fact that changed."""
    return f"{field.name}: {field.base or 'none'} → {field.head or 'none'}"


def hunk_place(hunk: Hunk) -> str:
    """File and line of a hunk, with how often the same edit stands elsewhere."""
    line = hunk.head_line if hunk.head_line is not None else hunk.base_line
    text = f"{hunk.path}:{line}" if line is not None else hunk.path
    if hunk.pointer:
        text += f" {hunk.pointer}"
    if hunk.kind == "moved" and hunk.base_line is not None:
        text += f" (moved from line {hunk.base_line})"
    return text


def times_told(hunk: Hunk) -> str:
    """``8 times, also in lines 5, 9, ...``; nothing for a single edit."""
    if hunk.count < 2:
        return ""
    also = ", ".join(str(n) for n in hunk.also[:6]) + (" ..." if len(hunk.also) > 6 else "")
    where = f", also in line{'s' if len(hunk.also) > 1 else ''} {also}" if hunk.also else ""
    return f"the same change {hunk.count:,} times{where}"


def source_told(source: SourceChange) -> str:
    """What a file defines and how far it reaches."""
    if source.line_endings:
        return "only line endings differ: no compiled context shows them"
    chain = [some(source.objects, 2)] if source.objects else []
    named = {f"template {t}" for t in source.templates}
    if source.templates and not named <= set(source.objects):
        many = len(source.templates) > 2
        chain.append(plural(len(source.templates), "template") if many else f"template {some(source.templates)}")
    if source.affects:
        differ = f"{len(source.differs):,} {_verb(len(source.differs), 'differ')}"
        chain.append(f"{plural(len(source.affects), 'fixture')}, {differ}")
    else:
        chain.append("reaches no fixture")
    return " → ".join(chain)


def version_told(version: VersionChange) -> str:
    """What became of a version, and whether that is enough."""
    if version.status == "added":
        return f"new at {version.head}" if version.head else "new"
    if version.status == "removed":
        return f"removed (was {version.base})" if version.base else "removed"
    step = (
        f"{version.base or 'none'} → {version.head or 'none'}"
        if version.base != version.head
        else version.head or "none"
    )
    if version.missing:
        return f"{step}, needs {'a' if version.needed != 'any' else ''} {version.needed} bump"
    if not version.content_changed:
        return step
    return f"{step}, enough" if version.bump != "none" else step


def drop_told(status: str, base_reason: str, head_reason: str) -> str:
    """What became of a candidate that one side leaves out."""
    if status == "dropped":
        return f"falls out ({head_reason})"
    if status == "restored":
        return f"comes back (was left out: {base_reason})"
    if status == "gone":
        return f"is no candidate any more (was left out: {base_reason})"
    return f"still left out: {base_reason} → {head_reason}"
