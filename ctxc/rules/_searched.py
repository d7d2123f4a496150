"""Where forbidden content is looked for: the project's own texts, what fixtures bring, and requests as sent."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any

from ctxc.base.spans import Location, Origin
from ctxc.base.values import dataclass
from ctxc.model.fixture import Record
from ctxc.model.lookup import candidates
from ctxc.model.measured import Measured
from ctxc.model.package import Package
from ctxc.model.section import DEFAULTS, Authority, Kind, Section
from ctxc.model.template import Template
from ctxc.rules._forbidden import digest_of
from ctxc.rules._ground import Facts, facts_at, fits, ground
from ctxc.rules._routes import fixtures_of, loadable
from ctxc.rules._scanner import Hit, Scanner
from ctxc.rules._texts import Shown, application_texts, is_file, strings, templates
from ctxc.rules._tools import profiles_of, used
from ctxc.rules.engine import Context

_CLASSES = ("classification", "data_classification", "sensitivity", "confidentiality")


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """A hit with its place: ``where`` is sources, inputs or request; ``section`` is empty for sources."""

    hit: Hit
    where: str
    location: Location
    section: str = ""
    fixture: str = ""


# --- the project's own texts ----------------------------------------------------------------------------------------


def in_sources(context: Context, scanner: Scanner) -> Iterator[Found]:
    """What rules forbid in application texts, tool definitions and contracts, each place once."""
    about = f"forbidden {digest_of(scanner.rules, scanner.secret_rules)}"
    for shown in (*application_texts(context), *_tool_texts(context)):
        clean = context.clean if shown.body else None
        if clean is not None and clean.has(about, shown.origin.path):
            continue
        hits = (*scanner.scan(shown.text), *(scanner.key_hits(shown.text) if shown.key else ()))
        if clean is not None and not hits:
            clean.note(about, shown.origin.path)
        facts = _source_facts(shown, context.shared(_owners).get(shown.origin.path, ()), context) if hits else {}
        for hit in hits:
            if _holds(scanner, hit, "sources", facts):
                place = shown.place(context, hit.match.start, hit.match.end)
                yield Found(hit=hit, where="sources", location=place)


def _tool_texts(context: Context) -> Iterator[Shown]:
    seen: set[Origin] = set()
    for versions in context.project.toolsets.values():
        for toolset in versions:
            for tool in toolset.tools:
                if tool.origin in seen:
                    continue
                seen.add(tool.origin)
                value = {"name": tool.name, "description": tool.description, "input_schema": tool.input_schema}
                yield from strings(value, tool.origin, f"tool {tool.name!r}")


def _owners(context: Context) -> dict[str, tuple[Template, ...]]:
    """The templates whose requests can hold the text of a file."""
    project = context.project
    found: dict[str, dict[str, Template]] = {}

    def add(path: str, template: Template) -> None:
        found.setdefault(path, {})[template.id] = template

    for template in templates(context):
        add(template.origin.path, template)
        for spec in template.sections:
            if is_file(spec):
                add(spec.source, template)
            if spec.source == "fragments":
                # What fixtures name is told by what they loaded: their inputs need not be read for it.
                shown = [m for m in ground(context).head.values() if m.template == template.id]
                for fragment in loadable(context, template, {name for m in shown for name in m.fragments}):
                    add(fragment.text_path, template)
        for toolset in used(context, template):
            for path in (toolset.origin.path, toolset.mcp):
                if path:
                    add(path, template)
        names = (template.output_contract, *(p.output_contract for p in profiles_of(context, template)))
        for contract in (c for name in names for c in candidates(project.contracts, name)[-1:]):
            add(contract.origin.path, template)
    return {path: tuple(owners.values()) for path, owners in found.items()}


def _source_facts(shown: Shown, owners: Sequence[Template], context: Context) -> Facts:
    kinds: set[str] = set()
    zones: set[str] = set()
    names: set[str] = set()
    for template in owners:
        for spec in template.sections:
            if spec.source == shown.origin.path or spec.origin == shown.origin or _is_inside(shown.origin, spec.origin):
                kinds.add(spec.kind.value)
                zones.add((spec.zone or DEFAULTS[spec.kind].zone).value)
                names.add(spec.id)
    what = shown.what.partition(" ")[0]
    if what == "tool":
        kinds, zones = {"tools"}, {"tools"}
    elif what == "fragment":
        kinds, zones = {"fragment"}, {"system"}
        names = {shown.what.partition(" ")[2].strip("'\"")}
    elif not kinds:
        kinds, zones = {"contract" if not shown.body else "fragment"}, {"system"}
    settings = context.project.settings
    asked = [f for t in owners for f in fixtures_of(context, t)]
    return {
        "template": {t.id for t in owners},
        "request_profile": {p.id for t in owners for p in profiles_of(context, t)},
        "provider": {t.provider or settings.provider for t in owners} | {f.provider for f in asked if f.provider},
        "model": {t.model or settings.model for t in owners} | {f.model for f in asked if f.model},
        "section": names,
        "kind": kinds,
        "zone": zones,
        "authority": (shown.authority.name,),
        "trust": ("trusted" if shown.authority <= Authority.T1 else "semi_trusted",),
        "path": (shown.origin.path,),
    }


def _is_inside(inner: Origin, outer: Origin) -> bool:
    return inner.path == outer.path and inner.pointer.startswith(outer.pointer + "/")


# --- what fixtures bring, and requests --------------------------------------------------------------------------------


def in_package(context: Context, package: Package, measured: Measured, scanner: Scanner) -> Iterator[Found]:
    """What rules forbid in the inputs of a fixture, whether they are shown or left out, and in its request."""
    about = facts_at(ground(context), measured)
    placed = {p.section.section_id: p for p in package.placed}
    candidates = [p.section for p in package.placed] + [d.section for d in package.dropped if d.section is not None]
    for section in candidates:
        if _is_own(section):
            continue
        facts = {**about, **_section_facts(section)}
        for shown in _input_texts(section):
            for hit in (*scanner.scan(shown.text), *(scanner.key_hits(shown.text) if shown.key else ())):
                if _holds(scanner, hit, "inputs", facts):
                    place = shown.place(context, hit.match.start, hit.match.end)
                    yield Found(
                        hit=hit, where="inputs", location=place, section=section.section_id, fixture=measured.fixture
                    )
    for segment in package.segments:
        here = placed.get(segment.id)
        facts = {**about, **(_section_facts(here.section) if here is not None else _frame_facts(segment.zone))}
        for hit in scanner.scan(segment.text, is_json=True):
            if _holds(scanner, hit, "request", facts):
                origin = here.section.origin if here is not None else Origin(measured.path)
                yield Found(
                    hit=hit,
                    where="request",
                    location=_request_place(
                        context, origin, here.section if here is not None else None, hit, segment.text
                    ),
                    section=segment.id,
                    fixture=measured.fixture,
                )
    for section in (p.section for p in package.placed):
        told = _classes(section)
        for number, rule in enumerate(scanner.rules):
            facts = {**about, **_section_facts(section)}
            hit = next((c for c in rule.classification if c.casefold() in told), None)
            if hit is not None and "request" in rule.search and _fits(rule.policy.where, rule.where, facts):
                yield Found(
                    hit=_classified(number, rule.severity, hit),
                    where="request",
                    location=context.locate(section.origin),
                    section=section.section_id,
                    fixture=measured.fixture,
                )


def _classified(number: int, severity: Any, name: str) -> Hit:
    from ctxc.detect.match import Match

    match = Match(detector="classification", severity=severity, start=0, end=0, message=f"classified as {name!r}")
    return Hit(rule=number, match=match)


def _is_own(section: Section) -> bool:
    """Whether a section holds application text, which is searched where it stands."""
    if section.kind in (Kind.TOOLS, Kind.CONTRACT):
        return True
    return section.authority <= Authority.T1 and "record" not in section.attributes and not section.messages


def _input_texts(section: Section) -> Iterator[Shown]:
    what = f"section {section.section_id!r}"
    level = section.authority
    if section.messages:
        for message in section.messages:
            yield Shown(text=message.content, origin=message.origin, authority=level, what=what)
            for call in message.tool_calls:
                yield Shown(text=call.arguments, origin=message.origin, authority=level, what=what)
        return
    if section.has_value:
        yield from strings(section.value, section.origin, what, level)
    elif section.text:
        yield Shown(text=section.text, origin=section.origin, authority=level, what=what)
    record = section.attributes.get("record")
    if isinstance(record, Record):
        for name in ("source", "locator", "claim", "artifact_ref"):
            text = getattr(record, name)
            if text:
                yield Shown(text=text, origin=section.origin.child(name), authority=level, what=what)
        for number, text in enumerate(record.limitations):
            at = section.origin.child("limitations", number)
            yield Shown(text=text, origin=at, authority=level, what=what)


def _section_facts(section: Section) -> Facts:
    fragment = section.attributes.get("fragment")
    names = (section.section_id, section.slot, section.item_id, fragment.id if fragment is not None else "")
    return {
        "section": tuple(n for n in names if n),
        "kind": (section.kind.value,),
        "zone": (section.zone.value,),
        "authority": (section.authority.name,),
        "trust": (section.trust.value,),
        "path": (section.origin.path,),
    }


def _frame_facts(zone: str) -> Facts:
    """What is said of text that belongs to no section: roles, names, settings."""
    return {"zone": ("turn" if zone == "messages" else "system" if zone == "settings" else zone,)}


def _classes(section: Section) -> set[str]:
    record = section.attributes.get("record")
    if not isinstance(record, Record):
        return set()
    found = (record.attributes.get(name) for name in _CLASSES)
    return {str(v).casefold() for value in found if value for v in (value if isinstance(value, list) else (value,))}


def _request_place(context: Context, origin: Origin, section: Section | None, hit: Hit, text: str) -> Location:
    """The source line that put a place of the request there, where the text stands there as it is."""
    if section is not None and section.text and not section.messages:
        value = text[hit.match.start : hit.match.end]
        start = section.text.find(value)
        if start >= 0:
            level = section.authority
            body = _is_own(section) and not origin.pointer
            shown = Shown(text=section.text, origin=origin, authority=level, what="", body=body)
            return shown.place(context, start, start + len(value))
    return context.locate(origin)


# --- where a rule holds ----------------------------------------------------------------------------------------------


def _holds(scanner: Scanner, hit: Hit, where: str, facts: Mapping[str, Collection[str]]) -> bool:
    rule = scanner.rules[hit.rule]
    return where in rule.search and _fits(rule.policy.where, rule.where, facts)


def _fits(outer: Mapping[str, Any], inner: Mapping[str, Any], facts: Facts) -> bool:
    return fits(outer, facts) and fits(inner, facts)
