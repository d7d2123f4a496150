"""One fixture on both sides: its sections, what it drops, its prefix, tools, contract and budget."""

from __future__ import annotations

import json
from collections.abc import Hashable, Iterable, Mapping, Sequence
from typing import Any

from ctxc.compare.contracts import contract_change, named
from ctxc.compare.descriptions import Telling
from ctxc.compare.matching import Pair, pairs
from ctxc.compare.prefix import Count, prefix_change
from ctxc.compare.sections import Teller, identity
from ctxc.compare.sequences import moved
from ctxc.compare.tools import tools_change
from ctxc.compare.views import Item, View
from ctxc.model.change import (
    Block,
    BudgetChange,
    ContractChange,
    Drop,
    FieldChange,
    FixtureChange,
    SectionChange,
    Tokens,
)
from ctxc.model.contract import Contract
from ctxc.model.facets import FACETS
from ctxc.model.section import Tool

# Facts of a fixture as a whole, by facet. A template's hash is left out: a comment in its file changes it.
_FACTS: tuple[tuple[str, str, tuple[str, ...]], ...] = (
    ("outcome", "budget", ("outcome",)),
    ("template", "meta", ("template", "id")),
    ("template version", "meta", ("template", "version")),
    ("renderer", "meta", ("renderer",)),
    ("request profile", "meta", ("request_profile", "id")),
    ("request profile version", "meta", ("request_profile", "version")),
    ("bundle", "meta", ("bundle_id",)),
    ("route", "meta", ("route",)),
    ("provider", "meta", ("provider", "id")),
    ("model", "meta", ("provider", "model")),
    ("tokenizer", "meta", ("tokenizer", "id")),
    ("output contract", "contract", ("output_contract", "id")),
    ("output contract version", "meta", ("output_contract", "version")),
    ("window", "budget", ("budget", "window")),
    ("output reserve", "budget", ("budget", "output_reserve")),
    ("safety margin", "budget", ("budget", "safety_margin")),
    ("ceiling", "budget", ("budget", "ceiling")),
    ("available input", "budget", ("budget", "available_input")),
)


INVALID = "invalid"


def fixture_change(base: View, head: View, teller: Teller, count: Count) -> FixtureChange:
    """The change of one fixture that both sides have; ``unchanged`` where a model sees the same."""
    # A side that could not be compiled says nothing of its sections, its tools and its contract: they are not gone.
    known = INVALID not in (base.outcome, head.outcome)
    matched = pairs(base, head) if known else []
    wandering = _moved(matched)
    comparable = _same_tokenizer(base, head)
    changes: list[SectionChange] = []
    for number, pair in enumerate(matched):
        if any(i is not None and i.position is not None for i in pair):
            change = teller.tell(pair, is_moved=number in wandering, comparable=comparable)
            if change is not None:
                changes.append(change)
    changes.sort(key=_place)
    drops = tuple(d for d in map(_drop, matched) if d is not None)
    prefix = prefix_change(base, head, changes, teller, count) if known else None
    told = known and not _is_saved(base, head)  # a saved snapshot knows no more of its tools than their hash
    tools = tools_change(_tools(base), _tools(head), context=teller.context, sources=teller.head) if told else None
    contract = _contract(base, head, Telling(context=teller.context, sources=teller.head)) if known else None
    fields = _fields(base, head)
    tokens = Tokens(
        base=base.part("budget", "used_input"),
        head=head.part("budget", "used_input"),
        exact=_exact(base) and _exact(head),
        comparable=comparable,
    )
    facets = {facet for c in changes for facet in c.facets} | {f.facet for f in fields}
    if known and comparable and tokens.base != tokens.head:
        facets.add("tokens")
    if drops:
        facets.add("drops")
    if tools is not None and (len(tools.tools) > tools.unseen or tools.reserialized):
        facets.add("tools")
    if contract is not None:
        facets.add("contract")
    if prefix is not None and (not prefix.stable or prefix.marks):
        facets.add("prefix")
    if not facets and _differs_inside(base, head):
        facets.add("meta")
    differs = bool(facets)
    return FixtureChange(
        fixture_id=head.fixture_id,
        status="changed" if differs else "unchanged",
        template=str(head.part("template", "id") or ""),
        path=head.path or base.path,
        facets=tuple(f for f in FACETS if f in facets),
        base_outcome=base.outcome,
        head_outcome=head.outcome,
        tokens=tokens,
        prefix=prefix if differs else None,
        budget=_budget(base, head),
        sections=tuple(changes),
        drops=drops,
        tools=tools,
        contract=contract,
        fields=fields,
        base_layout=_layout(base, matched, changes, is_base=True) if differs else (),
        head_layout=_layout(head, matched, changes, is_base=False) if differs else (),
        problems=head.problems,
        base_problems=base.problems,
        weight=head.weight,
    )


def single_fixture(view: View, status: str) -> FixtureChange:
    """A fixture that only one side has: ``added`` or ``removed``, with the layout of its request."""
    added = status == "added"
    used, available = view.part("budget", "used_input"), view.part("budget", "available_input")
    headroom = _headroom(view)
    layout = tuple(_block(i, status) for i in view.items)
    return FixtureChange(
        fixture_id=view.fixture_id,
        status=status,
        template=str(view.part("template", "id") or ""),
        path=view.path,
        facets=("content", "tokens") if used else ("content",),
        base_outcome="" if added else view.outcome,
        head_outcome=view.outcome if added else "",
        tokens=Tokens(base=None if added else used, head=used if added else None, exact=_exact(view)),
        budget=BudgetChange(
            base_available=None if added else available,
            head_available=available if added else None,
            base_headroom=None if added else headroom,
            head_headroom=headroom if added else None,
        ),
        base_layout=() if added else layout,
        head_layout=layout if added else (),
        problems=view.problems if added else (),
        base_problems=() if added else view.problems,
        weight=view.weight,
    )


def unloaded_fixture(view: View, problems: tuple[str, ...], *, is_base: bool) -> FixtureChange:
    """A fixture that one side compiled (``view``; base where ``is_base``) and whose file the other could not load."""
    outcomes = (view.outcome, INVALID) if is_base else (INVALID, view.outcome)
    used = view.part("budget", "used_input")
    fields = []
    if view.outcome != INVALID:
        fields.append(FieldChange(name="outcome", facet="budget", base=outcomes[0], head=outcomes[1]))
    told = (view.problems, problems) if is_base else (problems, view.problems)
    if told[0] != told[1]:
        fields.append(FieldChange(name="problems", facet="meta", base=_many(told[0]), head=_many(told[1])))
    facets = {f.facet for f in fields}
    layout = _layout(view, (), (), is_base=is_base)
    return FixtureChange(
        fixture_id=view.fixture_id,
        status="changed" if fields else "unchanged",
        template=str(view.part("template", "id") or ""),
        path=view.path,
        facets=tuple(f for f in FACETS if f in facets),
        base_outcome=outcomes[0],
        head_outcome=outcomes[1],
        tokens=Tokens(base=used if is_base else None, head=None if is_base else used, exact=_exact(view)),
        fields=tuple(fields),
        base_layout=layout if is_base else (),
        head_layout=() if is_base else layout,
        problems=told[1],
        base_problems=told[0],
        weight=view.weight,
    )


def _place(change: SectionChange) -> tuple[int, int]:
    at = change.head_position if change.head_position is not None else change.base_position
    return (at if at is not None else -1, change.head_position is None)


def _moved(matched: Sequence[Pair]) -> set[int]:
    """Numbers of the pairs whose sections left their order among those that both sides rendered."""
    both = [
        (number, pair.base.position, pair.head.position, pair)
        for number, pair in enumerate(matched)
        if pair.base is not None
        and pair.head is not None
        and pair.base.position is not None
        and pair.head.position is not None
    ]
    # Of two that could have moved, the one that changed is said to have.
    weights: dict[Hashable, int] = {
        n: 1 for n, _, _, p in both if p.base and p.head and p.base.content_hash == p.head.content_hash
    }
    order = [n for n, _, _, _ in sorted(both, key=lambda b: b[1])]
    now = [n for n, _, _, _ in sorted(both, key=lambda b: b[2])]
    found = moved(order, now, weights)
    return {n for n in found if isinstance(n, int)}


def _drop(pair: Pair) -> Drop | None:
    base, head = pair
    if head is not None and head.position is None:
        if base is not None and base.position is None:
            if base.reason == head.reason:
                return None
            return _dropped(head, base, "other_reason", base.reason, head.reason)
        return _dropped(head, base, "dropped", "", head.reason, new=base is None)
    if base is not None and base.position is None:
        return _dropped(base, head, "restored" if head is not None else "gone", base.reason, "")
    return None


def _dropped(
    item: Item, other: Item | None, status: str, base_reason: str, head_reason: str, *, new: bool = False
) -> Drop:
    counted = next((i for i in (item, other) if i is not None and i.is_counted), None)
    return Drop(
        section_id=item.section_id,
        kind=item.kind,
        status=status,
        tokens=counted.tokens if counted is not None else None,
        base_reason=base_reason,
        head_reason=head_reason,
        detail=item.detail,
        new=new,
    )


def _is_saved(*views: View) -> bool:
    return any(view.package is None for view in views)


def _tools(view: View) -> list[Tool]:
    return [t for i in view.items if i.section is not None for t in i.section.tools]


def _contract(base: View, head: View, telling: Telling) -> ContractChange | None:
    old, new = base.part("output_contract"), head.part("output_contract")
    if old == new:
        return None
    if base.project is None or head.project is None:
        # Only ids, versions and hashes were saved.
        told = [f"{c.get('id')}@{c.get('version')}" if isinstance(c, Mapping) else "" for c in (old, new)]
        return ContractChange(base=told[0], head=told[1]) if told[0] != told[1] else None
    before, after = _definition(base), _definition(head)
    found = contract_change(before, after, telling)
    if found is None and named(before) != named(after):
        return None
    return found


def _definition(view: View) -> Contract | None:
    assert view.project is not None
    name, version = view.part("output_contract", "id"), view.part("output_contract", "version")
    versions = view.project.contracts.get(str(name), ())
    return next((c for c in reversed(versions) if c.version == version), None)


def _fields(base: View, head: View) -> tuple[FieldChange, ...]:
    found = []
    known = INVALID not in (base.outcome, head.outcome)
    for name, facet, keys in _FACTS:
        if not known and name != "outcome":
            continue
        one, other = base.part(*keys), head.part(*keys)
        if one != other:
            found.append(FieldChange(name=name, facet=facet, base=_fact(one), head=_fact(other)))
    if base.part("tokenizer", "id") == head.part("tokenizer", "id") and not _same_tokenizer(base, head):
        told = [str(v.part("tokenizer", "digest"))[:16] for v in (base, head)]
        found.append(FieldChange(name="vocabulary", facet="meta", base=told[0], head=told[1]))
    for name in sorted({*_buckets(base), *_buckets(head)}) if known else ():
        one, other = _buckets(base).get(name), _buckets(head).get(name)
        if one != other:
            found.append(FieldChange(name=f"bucket {name}", facet="budget", base=_fact(one), head=_fact(other)))
    hashes = [str(v.part("tools_hash") or "none")[:23] for v in (base, head)]
    if known and _is_saved(base, head) and hashes[0] != hashes[1]:
        found.append(FieldChange(name="tool definitions", facet="tools", base=hashes[0], head=hashes[1]))
    if not _is_saved(base, head) and base.problems != head.problems:
        found.append(FieldChange(name="problems", facet="meta", base=_many(base.problems), head=_many(head.problems)))
    tenant = [v.project.fixtures[v.fixture_id].principal if _has(v) else None for v in (base, head) if v.project]
    if len(tenant) == 2 and tenant[0] != tenant[1]:
        told = [p.tenant if p is not None else "" for p in tenant]
        found.append(FieldChange(name="principal", facet="meta", base=told[0] or "none", head=told[1] or "none"))
    return tuple(found)


def _many(texts: Sequence[str]) -> str:
    return "; ".join(texts) or "none"


def _has(view: View) -> bool:
    return view.project is not None and view.fixture_id in view.project.fixtures


def _buckets(view: View) -> Mapping[str, Any]:
    """The buckets without what is used of them: that follows from the sections."""
    found = view.part("budget", "buckets") or {}
    return {k: {n: v for n, v in b.items() if n != "used"} for k, b in found.items() if isinstance(b, Mapping)}


def _fact(value: Any) -> str:
    if value is None:
        return "none"
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, sort_keys=True)


def _same_tokenizer(base: View, head: View) -> bool:
    """Whether one vocabulary counted both sides, or one of them counted nothing."""
    if not base.has_request or not head.has_request:
        return True
    return all(base.part("tokenizer", key) == head.part("tokenizer", key) for key in ("id", "digest"))


def _exact(view: View) -> bool:
    return not view.part("tokenizer", "error_low_bp") and not view.part("tokenizer", "error_high_bp")


def _headroom(view: View) -> int | None:
    """Tokens that are left, by the top of the count's band; negative where what is required does not fit."""
    available = view.part("budget", "available_input")
    if available is None:
        return None
    used = view.part("budget", "used_input_high")
    if used is not None:
        return int(available) - int(used)
    over = [int(o["over"]) for o in view.part("budget", "over") or () if isinstance(o, Mapping) and "over" in o]
    return -max(over) if over else None


def _budget(base: View, head: View) -> BudgetChange:
    crossed = ""
    if base.outcome != head.outcome:
        if head.outcome == "budget_exceeded":
            crossed = f"over the budget of {head.part('budget', 'available_input'):,} tokens now"
        elif base.outcome == "budget_exceeded" and head.outcome == "compiled":
            crossed = "within the budget again"
    crossed = crossed or _expected(base, head)
    return BudgetChange(
        base_available=base.part("budget", "available_input"),
        head_available=head.part("budget", "available_input"),
        base_headroom=_headroom(base),
        head_headroom=_headroom(head),
        crossed=crossed,
    )


def _expected(base: View, head: View) -> str:
    """Whether the fixture's own limit is crossed: what its author expects at most."""
    if not (_has(base) and _has(head)) or base.project is None or head.project is None:
        return ""
    sides = []
    for view, project in ((base, base.project), (head, head.project)):
        limit = project.fixtures[view.fixture_id].expect.max_input_tokens
        used = view.part("budget", "used_input_high")
        sides.append((limit, limit is not None and used is not None and used > limit))
    (_, was), (limit, now) = sides
    if was == now:
        return ""
    return f"over max_input_tokens {limit:,} now" if now else "within max_input_tokens again"


def _differs_inside(base: View, head: View) -> bool:
    """Whether the requests differ in something that no facet names."""
    return bool(base.part("request_hash") != head.part("request_hash"))


def _layout(
    view: View, matched: Iterable[Pair], changes: Sequence[SectionChange], *, is_base: bool
) -> tuple[Block, ...]:
    ids = {i.section_id: p.head.section_id for p in matched if (i := p.base) is not None and p.head is not None}
    known = {c.section_id: c for c in changes}
    skipped = "added" if is_base else "removed"
    found = []
    for item in view.items:
        change = known.get(ids.get(item.section_id, item.section_id) if is_base else item.section_id)
        status = change.status if change is not None and change.status != skipped else "unchanged"
        if change is not None and change.status == "changed" and "order" in change.facets:
            status = "moved"
        found.append(_block(item, status))
    return tuple(found)


def _block(item: Item, status: str) -> Block:
    return Block(
        section_id=item.section_id,
        identity=identity(item),
        kind=item.kind,
        zone=item.zone,
        tokens=item.tokens,
        stable=item.stable,
        status=status,
        truncated=bool(item.facts.get("truncated")),
    )
