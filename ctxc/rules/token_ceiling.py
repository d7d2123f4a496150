"""A request, or a section of it, over a ceiling that a policy sets, in tokens or bytes.

Why: A ceiling is what somebody decided that a request may take: of a model's attention, of money, of time. The top of
the count's band is compared, so that an estimate does not pass what the real count would breach.

Bad:

    # file: templates/t.yaml
    template_id: t
    version: 1
    provider: text
    sections:
      - {id: policy, source: literal, text: "Answer briefly, name the source of every statement, say what is missing."}
      - {id: user, source: runtime}
    # file: tests/fixtures/f.yaml
    fixture_id: f
    template: t
    inputs: {user: When is the refund due?}
    # file: policies/p.yaml
    policy_id: p
    version: 1
    gates: {budget: {ceilings: [{where: {section: policy}, max_tokens: 20}]}}

Good:

    # file: templates/t.yaml
    template_id: t
    version: 1
    provider: text
    sections:
      - {id: policy, source: literal, text: "Answer briefly."}
      - {id: user, source: runtime}
    # file: tests/fixtures/f.yaml
    fixture_id: f
    template: t
    inputs: {user: When is the refund due?}
    # file: policies/p.yaml
    policy_id: p
    version: 1
    gates: {budget: {ceilings: [{where: {section: policy}, max_tokens: 40}]}}

Mend: Shorten what the message names, or raise the ceiling in a change of its own. `ctxc explain FIXTURE` shows where
the tokens go.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from ctxc.base.spans import Origin
from ctxc.model.contract import Policy
from ctxc.model.finding import Finding
from ctxc.model.measured import Measured, MeasuredSection
from ctxc.rules._ground import items, of_sections, origin_of, sections, selected, settings, told
from ctxc.rules.engine import Context, rule

_Size = tuple[MeasuredSection, Measured]
_LISTED = 5


def check(context: Context) -> Iterator[Finding]:
    """Every ceiling of every policy, for every fixture that it speaks of; a section that is over it in several once."""
    for policy, budget in settings(context, "budget"):
        for number, ceiling in items(budget.get("ceilings")):
            where = ceiling.get("where", {})
            of_some = bool(of_sections(where) or of_sections(policy.where))
            shown: list[_Size] = []
            for measured in selected(context, policy, where):
                keys = ("budget", "ceilings", number)
                if "max_input_tokens" in ceiling:
                    yield from _request(context, policy, keys, measured, ceiling["max_input_tokens"])
                chosen = sections(measured, policy, where)
                shown += [(section, measured) for section in chosen]
                if "max_total_tokens" in ceiling:
                    yield from _total(context, policy, keys, measured, chosen, ceiling["max_total_tokens"], where)
                if "max_bytes" in ceiling and not of_some and measured.bytes > ceiling["max_bytes"]:
                    yield _bytes(context, policy, keys, measured, ceiling["max_bytes"])
            for key, unit in (("max_tokens", "tokens"), ("max_bytes", "bytes")):
                if key in ceiling and (key == "max_tokens" or of_some):
                    at = ("budget", "ceilings", number, key)
                    yield from _sections(context, policy, at, shown, ceiling[key], unit)


def _request(
    context: Context, policy: Policy, keys: tuple[Any, ...], measured: Measured, limit: int
) -> Iterator[Finding]:
    if measured.high <= limit:
        return
    largest = max(measured.sections, key=lambda s: s.tokens, default=None)
    about = [(_place(largest), f"the largest section: {largest.id}, {largest.tokens:,} tokens")] if largest else []
    yield told(
        context,
        RULE,
        policy,
        (*keys, "max_input_tokens"),
        f"{measured.high:,} input tokens, {measured.high - limit:,} over the ceiling of {limit:,}{_band(measured)}",
        at=origin_of(context, measured.fixture),
        help=f"`ctxc explain {measured.fixture}` shows where the tokens go",
        fixture=measured.fixture,
        related=about,
        data={"tokens": measured.tokens, "high": measured.high, "limit": limit, "method": measured.method},
    )


def _sections(
    context: Context, policy: Policy, keys: tuple[Any, ...], shown: Iterable[_Size], limit: int, unit: str
) -> Iterator[Finding]:
    """Sections over a ceiling, each once however many fixtures show it: with the range, at the fixture with most."""
    groups: dict[tuple[str, Origin], list[_Size]] = {}
    for section, measured in shown:
        if _size(section, unit) > limit:
            groups.setdefault((section.id, _place(section)), []).append((section, measured))
    for (name, place), members in groups.items():
        sizes = [_size(s, unit) for s, _ in members]
        least, most = min(sizes), max(sizes)
        section, worst = members[sizes.index(most)]
        where = f" in {len(members):,} fixtures" if len(members) > 1 else ""
        if least < most:
            where += f" (most in {worst.fixture!r})"
        yield told(
            context,
            RULE,
            policy,
            keys,
            f"section {name!r} has {f'{least:,} to ' if least < most else ''}{most:,} {unit}{where}, "
            f"{'up to ' if least < most else ''}{most - limit:,} over the ceiling of {limit:,}",
            at=place,
            help="shorten it, or split it",
            fixture=worst.fixture,
            data={
                "section": name, "tokens": section.tokens, "high": section.high, "bytes": section.bytes, "limit": limit,
                "least": least, "fixtures": [m.fixture for _, m in members[:_LISTED]], "requests": len(members),
            },
        )  # fmt: skip


def _size(section: MeasuredSection, unit: str) -> int:
    return section.high if unit == "tokens" else section.bytes


def _total(
    context: Context, policy: Policy, keys: tuple[Any, ...], measured: Measured,
    chosen: tuple[MeasuredSection, ...], limit: int, where: Mapping[str, Any],
) -> Iterator[Finding]:  # fmt: skip
    total = sum(s.high for s in chosen)
    if total > limit:
        named = ((k, [v] if isinstance(v, str) else v) for k, v in sorted(where.items()))
        what = ", ".join(f"{k} {' or '.join(map(str, v))}" for k, v in named)
        of = f" of {what}" if what else ""
        told_size = f"the {len(chosen):,} sections{of} have {total:,} tokens together"
        if len(chosen) == 1:
            told_size = f"the section{of} has {total:,} tokens"
        yield told(
            context,
            RULE,
            policy,
            (*keys, "max_total_tokens"),
            f"{told_size}, {total - limit:,} over the ceiling of {limit:,}",
            at=origin_of(context, measured.fixture),
            help="select fewer of them, or shorten them",
            fixture=measured.fixture,
            related=[(_place(s), f"{s.id}: {s.tokens:,} tokens") for s in sorted(chosen, key=lambda s: -s.tokens)[:3]],
            data={"tokens": total, "limit": limit, "sections": [s.id for s in chosen]},
        )


def _bytes(context: Context, policy: Policy, keys: tuple[Any, ...], measured: Measured, limit: int) -> Finding:
    return told(
        context,
        RULE,
        policy,
        (*keys, "max_bytes"),
        f"the request has {measured.bytes:,} bytes, {measured.bytes - limit:,} over the ceiling of {limit:,}",
        at=origin_of(context, measured.fixture),
        help="shorten it, or raise the ceiling on purpose",
        fixture=measured.fixture,
        data={"bytes": measured.bytes, "limit": limit},
    )


def _place(section: MeasuredSection) -> Origin:
    return Origin(section.path, section.pointer)


def _band(measured: Measured) -> str:
    if measured.high == measured.tokens:
        return ""
    return f" (counted {measured.tokens:,}, {measured.method}; the top of its band is compared)"


RULE = rule(__name__, __doc__, check, needs="packages")
