"""From a compiled fixture to what the gates judge of it (``ctxc.model.measured``)."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import Any

from ctxc.base.canonical import digest_text
from ctxc.compiler import expect
from ctxc.compiler.snapshot import stable_prefix
from ctxc.detect.fidelity import compare_facts
from ctxc.model.contract import Contract
from ctxc.model.counting import Count, Tokenizer
from ctxc.model.fixture import Expect, Fixture, Record
from ctxc.model.measured import Cut, Measured, MeasuredSection, Stretch
from ctxc.model.package import Package, Placed
from ctxc.model.project import Project
from ctxc.model.provider import ModelRow, ProviderProfile, TokenizerRef
from ctxc.model.section import Kind, Section
from ctxc.model.usage import Layout
from ctxc.providers import find_row, prices_of, shape
from ctxc.tokens import ships
from ctxc.usage.cache_rules import CacheRules, cache_rules
from ctxc.usage.difference import Keys
from ctxc.usage.latency import latency_of
from ctxc.usage.layout import lay_out
from ctxc.usage.marks import marks_of, static_end
from ctxc.usage.price import Prices, cost_of, dollars, read_prices

Tokenizers = Callable[[TokenizerRef], Tokenizer]

_LOSS_STAGES = frozenset(["select", "allocate", "fit"])
_CANDIDATES = frozenset([Kind.EVIDENCE, Kind.MEMORY, Kind.TOOL_RESULT, Kind.HANDOFF, Kind.HISTORY])
_SHORT = 16  # hex digits of a digest that only has to tell things apart within one project


def measure(package: Package, fixture: Fixture, project: Project, tokenizers: Tokenizers) -> Measured:
    """Everything that a gate judges of one package."""
    snapshot = package.snapshot
    template: Mapping[str, Any] = snapshot.get("template") or {}
    profile: Mapping[str, Any] = snapshot.get("request_profile") or {}
    provider: Mapping[str, Any] = snapshot.get("provider") or {}
    budget: Mapping[str, Any] = snapshot.get("budget") or {}
    contract: Mapping[str, Any] = snapshot.get("output_contract") or {}
    found = Measured(
        fixture=fixture.id,
        path=fixture.origin.path,
        template=str(template.get("id") or fixture.template),
        template_version=str(template.get("version", "")),
        template_path=_template_path(project, template),
        profile=str(profile.get("id", "")),
        profile_version=str(profile.get("version", "")),
        provider=str(provider.get("id", "")),
        provider_version=str(provider.get("version", "")),
        model=str(provider.get("model", "")),
        shape=str(provider.get("shape", "")),
        renderer=str(snapshot.get("renderer", "")),
        contract=str(contract.get("id", "")),
        conversation=fixture.conversation,
        turn=fixture.turn,
        weight=fixture.weight,
        outcome=package.outcome.value,
        expected=fixture.expect.outcome,
        as_expected=package.as_expected,
        snapshot=str(snapshot.get("snapshot_id", "")),
        available=budget.get("available_input"),
        output=int(budget.get("output_reserve") or 0),
        dropped=tuple((d.section_id, d.stage, d.reason) for d in package.dropped),
        stated=_stated(fixture),
        route=dict(fixture.route),
        fragments=tuple(
            p.section.attributes["fragment"].id for p in package.placed if "fragment" in p.section.attributes
        ),
    )
    if package.request is None or package.count is None:
        return found
    row = _row(project.providers.get(found.provider), found.model)
    counted: Mapping[str, Any] = snapshot.get("tokenizer") or {}
    found = replace(
        found,
        request=str(snapshot.get("request_hash") or ""),
        tokens=package.count.tokens,
        high=package.count.upper,
        low=_low(package.count, package.count.tokens),
        method=package.count.method,
        tokenizer=_tokenizer(counted),
        vocabulary=str(counted.get("digest", "")),
        bytes=len(json.dumps(package.request, ensure_ascii=False, separators=(",", ":")).encode("utf-8")),
        sections=tuple(_section(p, package.count) for p in package.placed),
        stretches=tuple(
            Stretch(id=s.id, digest=digest_text(s.wire)[7 : 7 + _SHORT]) for s in stable_prefix(package.segments)
        ),
        cuts=tuple(_cut(p, package, fixture) for p in package.placed if p.truncated),
        **_evidence(package, fixture),
        **_citations(package, project, contract),
    )
    known = project.providers.get(found.provider)
    if row is None or known is None:
        return found
    return replace(found, **_usage(package, known, row, found.model, tokenizers))


def _tokenizer(told: Mapping[str, Any]) -> str:
    """What tells one tokenizer from another: its name, and for one that does not ship the beginning of its digest."""
    name = str(told.get("id", ""))
    return name if not name or ships(name) else f"{name}@{str(told.get('digest', ''))[:12]}"


def _row(profile: ProviderProfile | None, model: str) -> ModelRow | None:
    return find_row(profile, model) if profile is not None else None


def _template_path(project: Project, template: Mapping[str, Any]) -> str:
    versions = project.templates.get(str(template.get("id")), ())
    return next((t.origin.path for t in reversed(versions) if t.version == template.get("version")), "")


def _stated(fixture: Fixture) -> int:
    """Expectations that the fixture wrote, each item of a list by itself."""
    said = fixture.expect
    lists = (said.loaded, said.not_loaded, said.must_contain, said.must_not_contain, said.dropped)
    single = sum(key in said.stated for key in ("outcome", "max_input_tokens"))
    return single + sum(map(len, lists)) + len(said.required_evidence)


def _high(count: Count, tokens: int) -> int:
    return tokens + -(-tokens * count.error_high_bp // 10_000)


def _low(count: Count, tokens: int) -> int:
    return max(0, tokens - -(-tokens * count.error_low_bp // 10_000))


def _section(placed: Placed, count: Count) -> MeasuredSection:
    section = placed.section
    record = section.attributes.get("record")
    fragment = section.attributes.get("fragment")
    text = placed.rendered or "".join(m.content for m in section.messages)
    return MeasuredSection(
        id=section.section_id,
        slot=section.slot,
        kind=section.kind.value,
        zone=section.zone.value,
        authority=section.authority.name,
        trust=section.trust.value,
        tokens=placed.tokens,
        high=_high(count, placed.tokens),
        bytes=len(text.encode("utf-8", "surrogatepass")),
        path=section.origin.path,
        pointer=section.origin.pointer,
        item=section.item_id,
        source=section.source_uri,
        version=section.source_version,
        locator=_locator(record),
        stable=placed.stable,
        truncated=placed.truncated,
        summary=_is_summary(section),
        fragment=fragment.id if fragment is not None else "",
    )


def _locator(record: Any) -> str:
    if not isinstance(record, Record):
        return ""
    if record.locator:
        return record.locator
    # A source that leads into a document, and a stored result, are places of their own.
    return record.source.partition("#")[2] or record.artifact_ref


def _is_summary(section: Section) -> bool:
    if section.attributes.get("summary"):
        return True
    record = section.attributes.get("record")
    if not isinstance(record, Record):
        return False
    told = (record.attributes.get(key) for key in ("type", "kind", "record_type", "memory_type"))
    return any("summary" in str(t).lower() for t in told if t)


# --- evidence ------------------------------------------------------------------------------------------------------


def _texts(value: object) -> tuple[str, ...]:
    if isinstance(value, str):
        return (value,)
    return tuple(v for v in value if isinstance(v, str)) if isinstance(value, (list, tuple)) else ()


def _evidence(package: Package, fixture: Fixture) -> dict[str, Any]:
    """Recall and precision against the fixture's labels, and how much of what could be shown was left out."""
    wanted = dict.fromkeys((*fixture.expect.required_evidence, *_texts(fixture.labels.get("required_evidence"))))
    constraints = dict.fromkeys((*fixture.expect.must_contain, *_texts(fixture.labels.get("constraints"))))
    missing: list[str] = []
    if wanted or constraints:
        asked = replace(fixture, expect=Expect(required_evidence=tuple(wanted), must_contain=tuple(constraints)))
        leaves = shape(str(package.snapshot["provider"]["shape"])).read_back(package.request or {})
        held = expect.check(
            asked, package.outcome, package.placed, package.dropped, package.count, (x.text for x in leaves)
        )
        missing = [str(e.expected) for e in held if not e.held and e.key != "outcome"]
    shown = [p.section.item_id for p in package.placed if p.section.kind is Kind.EVIDENCE]
    relevant = {*wanted, *_texts(fixture.labels.get("relevant_evidence"))}
    could = sum(p.section.kind in _CANDIDATES for p in package.placed)
    left = sum(
        d.stage in _LOSS_STAGES and d.section is not None and d.section.kind in _CANDIDATES for d in package.dropped
    )
    return {
        "labelled": (*wanted, *constraints),
        "missing": tuple(missing),
        "shown": len(shown),
        "relevant": sum(i in relevant for i in shown) if relevant else None,
        "candidates": could + left,
        "left": left,
    }


def _cut(placed: Placed, package: Package, fixture: Fixture) -> Cut:
    """What a shortened section had to keep: the facts of what it is said to support, its ids, its labels."""
    told = next((c for c in package.compression if c.section_id == placed.section.section_id), None)
    section = placed.section
    record = section.attributes.get("record")
    original = _plain(section.value if section.has_value else section.text)
    spans: list[str] = []
    if isinstance(record, Record):
        spans = [*_texts(record.attributes.get("supported_claims")), record.claim, record.status, record.artifact_ref]
    spans += _texts(fixture.labels.get("must_keep"))
    # A claim in other words than the text cannot be looked for in what is left of the text.
    kept = [s for s in spans if s and (s in original or s in placed.content)]
    content = _plain(_decoded(placed.content))
    found = compare_facts("\n".join(kept), content) if told is None or told.strategy != "reference" else None
    lost = tuple((f.kind, f.text) for f in found.lost) if found is not None else ()
    return Cut(
        section=section.section_id,
        strategy=told.strategy if told is not None else "",
        before=told.before if told is not None else 0,
        after=told.after if told is not None else placed.tokens,
        facts=found.total if found is not None else 0,
        kept=found.kept if found is not None else 0,
        lost=lost,
    )


def _decoded(content: str) -> Any:
    try:
        return json.loads(content)
    except ValueError:
        return content


def _plain(value: Any) -> str:
    """The texts and numbers of a value, one a line."""
    if isinstance(value, str):
        return value
    if isinstance(value, Mapping):
        return "\n".join(f"{k}: {_plain(v)}" for k, v in value.items())
    if isinstance(value, (list, tuple)):
        return "\n".join(map(_plain, value))
    return "" if value is None else json.dumps(value)


# --- citations -----------------------------------------------------------------------------------------------------


def _citations(package: Package, project: Project, told: Mapping[str, Any]) -> dict[str, Any]:
    contract = next(
        (c for c in reversed(project.contracts.get(str(told.get("id")), ())) if c.version == told.get("version")), None
    )
    field = str(contract.citations.get("field", "")) if contract is not None else ""
    name = field.replace("[]", "").rpartition(".")[2]
    return {
        "cited": tuple(_cited(package, name)) if name else (),
        "allowed": tuple(_allowed(contract, field)) if contract is not None and field else (),
    }


def _cited(package: Package, name: str) -> Iterator[tuple[str, str, str]]:
    """Ids under the contract's citation field in examples, hand-offs and recorded answers."""
    listed = re.compile(rf'"{re.escape(name)}"\s*:\s*(\[[^\[\]{{}}]*\])')
    for placed in package.placed:
        section = placed.section
        texts: list[tuple[str, str]] = []
        if section.kind in (Kind.EXAMPLES, Kind.HANDOFF):
            texts.append((section.text or json.dumps(section.value, ensure_ascii=False), section.origin.pointer))
        texts += [(m.content, m.origin.pointer) for m in section.messages if m.role == "assistant"]
        for text, pointer in texts:
            for match in listed.finditer(text):
                for cited in _texts(_decoded(match[1])):
                    # An example may bring evidence of its own, named in brackets before it is cited.
                    if section.kind is Kind.EXAMPLES and f"[{cited}]" in text:
                        continue
                    yield cited, section.section_id, pointer


def _allowed(contract: Contract, field: str) -> Iterator[tuple[str, str]]:
    """Ids that the contract's schema lists at its citation field."""
    node: Any = contract.schema
    for step in field.split("."):
        node = _child(node, "properties", step.removesuffix("[]"))
        if step.endswith("[]"):
            node = _child(node, "items")
    for place in (node, _child(node, "items")):
        if isinstance(place, Mapping):
            for value in (*_texts(place.get("enum")), *_texts(place.get("const"))):
                yield value, contract.origin.path


def _child(node: Any, *keys: str) -> Any:
    for key in keys:
        node = node.get(key) if isinstance(node, Mapping) else None
    return node


# --- prefix, money, time -------------------------------------------------------------------------------------------


def _usage(
    package: Package, profile: ProviderProfile, row: ModelRow, model: str, tokenizers: Tokenizers
) -> dict[str, Any]:
    assert package.request is not None
    rules = cache_rules(row.cache)
    layout = lay_out(
        package.request,
        shape(profile.shape),
        row,
        tokenizers(row.tokenizer),
        count=package.count,
        segments=package.segments,
    )
    cache: Mapping[str, Any] = package.snapshot.get("cache") or {}
    prefix = int(cache.get("prefix_tokens") or 0)
    keys = Keys(layout, profile, rules.keyed_by)
    output = int((package.snapshot.get("budget") or {}).get("output_reserve") or 0)
    cached = cacheable(layout, rules, prefix)
    high = layout.band(layout.total)[1]
    prices = read_prices(prices_of(row, model))
    cold, warm = _money(prices, layout, rules, high, cached, output)
    slow = latency_of(row.latency, uncached=high, output=output)
    fast = latency_of(row.latency, uncached=high - cached, cached=cached, output=output)
    return {
        "prefix": prefix,
        "prefix_low": layout.band(prefix)[0],
        "prefix_minimum": rules.min_tokens,
        "prefix_mode": rules.mode,
        "chain": tuple(k.hex()[:_SHORT] for k in keys.of_block),
        "chain_ids": tuple(b.id for b in layout.blocks),
        "cold": cold,
        "warm": warm,
        "price": ", ".join(t for t in (prices.source, prices.date) if t) if prices is not None else "",
        "latency_cold": slow.total_ms if slow is not None else None,
        "latency_warm": fast.total_ms if fast is not None else None,
    }


def cacheable(layout: Layout, rules: CacheRules, prefix: int) -> int:
    """Tokens at the start that a provider reads from its cache once a request with the same static part was sent.

    A provider with marks reads up to a mark; the others find a common start, ``prefix`` tokens, by themselves.
    """
    if rules.mode in ("explicit", "implicit_latest_message"):
        end = static_end(layout)
        inside = [m.block.end for m in marks_of(layout, rules) if end is not None and m.block.index <= end.index]
        tokens = max(inside, default=0)
    elif rules.mode in ("none", "resource"):
        tokens = 0
    else:
        step = max(rules.interval, rules.granularity)
        tokens = prefix // step * step
    return tokens if tokens >= rules.min_tokens else 0


def _money(
    prices: Prices | None, layout: Layout, rules: CacheRules, high: int, cached: int, output: int
) -> tuple[str, str]:
    """Dollars of one request with nothing cached and with its static part cached, at the top of the count's band."""
    if prices is None:
        return "", ""
    ttl = next((m.ttl for m in marks_of(layout, rules)), rules.default_ttl)
    writes = {ttl: cached} if cached and rules.charges_writes else {}
    cold = cost_of(prices, uncached=high - sum(writes.values()), written=writes, output=output)
    warm = cost_of(prices, uncached=high - cached, read=cached, output=output)
    return dollars(cold.total), dollars(warm.total)
