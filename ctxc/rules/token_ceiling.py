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

from collections.abc import Iterator, Mapping
from typing import Any

from ctxc.base.spans import Origin
from ctxc.model.contract import Policy
from ctxc.model.finding import Finding
from ctxc.model.measured import Measured, MeasuredSection
from ctxc.rules._ground import items, of_sections, origin_of, sections, selected, settings, told
from ctxc.rules.engine import Context, rule


def check(context: Context) -> Iterator[Finding]:
    """Every ceiling of every policy, for every fixture that it speaks of."""
    for policy, budget in settings(context, "budget"):
        for number, ceiling in items(budget.get("ceilings")):
            where = ceiling.get("where", {})
            of_some = bool(of_sections(where) or of_sections(policy.where))
            for measured in selected(context, policy, where):
                keys = ("budget", "ceilings", number)
                if "max_input_tokens" in ceiling:
                    yield from _request(context, policy, keys, measured, ceiling["max_input_tokens"])
                chosen = sections(measured, policy, where)
                if "max_tokens" in ceiling:
                    for section in chosen:
                        yield from _section(context, policy, keys, measured, section, ceiling["max_tokens"])
                if "max_total_tokens" in ceiling:
                    yield from _total(context, policy, keys, measured, chosen, ceiling["max_total_tokens"], where)
                if "max_bytes" in ceiling:
                    yield from _bytes(context, policy, keys, measured, chosen if of_some else (), ceiling["max_bytes"])


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


def _section(
    context: Context, policy: Policy, keys: tuple[Any, ...], measured: Measured, section: MeasuredSection, limit: int
) -> Iterator[Finding]:
    if section.high > limit:
        yield told(
            context,
            RULE,
            policy,
            (*keys, "max_tokens"),
            f"section {section.id!r} has {section.high:,} tokens, "
            f"{section.high - limit:,} over the ceiling of {limit:,}",
            at=_place(section),
            help="shorten it, or split it",
            fixture=measured.fixture,
            data={"section": section.id, "tokens": section.tokens, "high": section.high, "limit": limit},
        )


def _total(
    context: Context, policy: Policy, keys: tuple[Any, ...], measured: Measured,
    chosen: tuple[MeasuredSection, ...], limit: int, where: Mapping[str, Any],
) -> Iterator[Finding]:  # fmt: skip
    total = sum(s.high for s in chosen)
    if total > limit:
        what = ", ".join(f"{k} {v}" for k, v in sorted(where.items())) or "all sections"
        yield told(
            context,
            RULE,
            policy,
            (*keys, "max_total_tokens"),
            f"the {len(chosen):,} sections of {what} have {total:,} tokens together, "
            f"{total - limit:,} over the ceiling of {limit:,}",
            at=origin_of(context, measured.fixture),
            help="select fewer of them, or shorten them",
            fixture=measured.fixture,
            related=[(_place(s), f"{s.id}: {s.tokens:,} tokens") for s in sorted(chosen, key=lambda s: -s.tokens)[:3]],
            data={"tokens": total, "limit": limit, "sections": [s.id for s in chosen]},
        )


def _bytes(
    context: Context, policy: Policy, keys: tuple[Any, ...], measured: Measured, chosen: tuple[MeasuredSection, ...],
    limit: int,
) -> Iterator[Finding]:  # fmt: skip
    things: list[tuple[str, int, Origin]] = [(f"section {s.id!r}", s.bytes, _place(s)) for s in chosen]
    if not chosen:
        things = [("the request", measured.bytes, origin_of(context, measured.fixture))]
    for what, size, place in things:
        if size > limit:
            yield told(
                context,
                RULE,
                policy,
                (*keys, "max_bytes"),
                f"{what} has {size:,} bytes, {size - limit:,} over the ceiling of {limit:,}",
                at=place,
                help="shorten it, or raise the ceiling on purpose",
                fixture=measured.fixture,
                data={"bytes": size, "limit": limit},
            )


def _place(section: MeasuredSection) -> Origin:
    return Origin(section.path, section.pointer)


def _band(measured: Measured) -> str:
    if measured.high == measured.tokens:
        return ""
    return f" (counted {measured.tokens:,}, {measured.method}; the top of its band is compared)"


RULE = rule(__name__, __doc__, check, needs="packages")
