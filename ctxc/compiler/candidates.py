"""Building candidates: defaults of the kind, what the template and the record say, and what may not be.

A template may lower authority and tier of a section and never raise authority; untrusted content has no place in the
system and tools zones. Both are checked here, where every candidate is made.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from ctxc.base.spans import Location, Origin, Span
from ctxc.compiler.faults import did_you_mean, fault
from ctxc.compiler.stage import Refused, Request, Stage, drop
from ctxc.compiler.substitute import DOTTED_HELP, UnknownVariable, substitute, variables
from ctxc.model.finding import Finding
from ctxc.model.fixture import Record
from ctxc.model.package import Decision, Dropped, State
from ctxc.model.section import (
    DEFAULTS,
    REFUSE,
    Authority,
    Kind,
    Message,
    Overflow,
    Section,
    Tier,
    Tool,
    Trust,
    Verification,
    Zone,
    trust_of,
)
from ctxc.model.template import SectionSpec
from ctxc.parse.spots import place_in_value, span_of

STAGE = "collect"


class Candidates:
    """Candidates, and what was said of them, while a fixture is collected."""

    def __init__(self, request: Request) -> None:
        self.request = request
        self.sections: list[Section] = []
        self.dropped: list[Dropped] = []
        self.decisions: list[Decision] = []
        self.states: list[State] = []
        self.dependencies: set[str] = set()
        self.taken: set[str] = set()
        self._buckets = frozenset(b.id for b in request.limits.buckets)
        self.variables = {
            **{k: "+".join(v) for k, v in request.fixture.route.items()},
            **request.template.variables,
        }

    def set_aside(self, reason: str, detail: str) -> None:
        """Drop the candidate that was added last."""
        section = self.sections.pop()
        self.states.pop()
        gone, decision = drop(section, STAGE, reason, detail)
        self.dropped.append(gone)
        self.decisions.append(decision)
        self.states.append(State(candidate_id=section.section_id, selected=f"no:{reason}", loaded=f"no:{reason}"))

    def result(self) -> Stage:
        """What was collected."""
        return Stage(
            sections=tuple(self.sections),
            dropped=tuple(self.dropped),
            decisions=tuple(self.decisions),
            states=tuple(self.states),
            dependencies=frozenset(self.dependencies),
        )

    def fill(self, text: str, at: Origin) -> str:
        """Application text with its variables; raises Refused for one that has no value."""
        try:
            return substitute(text, self.variables)
        except UnknownVariable as unknown:
            found = fault(
                self.request.project,
                "unknown-variable",
                f"variable {{{{{unknown.name}}}}} has no value." + did_you_mean(unknown.name, self.variables),
                at=at,
                fixture=self.request.fixture.id,
                help=DOTTED_HELP
                if "." in unknown.name
                else "declare it under `variables:` of the template or give it in the fixture's route; "
                f"known: {', '.join(sorted(self.variables)) or 'none'}",
                data={"variable": unknown.name},
            )
            place = self._place(text, found.location, unknown)
            raise Refused(replace(found, location=found.location._replace(span=place))) from None

    def _place(self, text: str, at: Location, unknown: UnknownVariable) -> Span | None:
        """Where the variable stands: in a file whose body the text is, or in a value that has a place of its own."""
        if not at.path:  # a template that was made in memory
            return None
        whole = self.request.project.sources.read_text(at.path)
        start, end = unknown.offset, unknown.end
        if at.pointer:
            return place_in_value(whole, at.span, text, start, end)
        before = len(whole) - len(text)
        return span_of(whole, before + start, before + end)

    def is_fixed(self, text: str) -> bool:
        """Whether a text is the same for every fixture of the template: no variable in it comes from a route."""
        return "{{" not in text or self.request.template.variables.keys() >= set(variables(text))

    def recall(self, made_from: tuple[object, ...]) -> bool:
        """Add the section that was made from the same objects for another fixture; whether there is one."""
        known = self.request.memo.section(made_from)
        if known is None:
            return False
        self.sections.append(known[0])
        self.states.append(known[1])
        return True

    def keep(self, made_from: tuple[object, ...]) -> None:
        """Let other fixtures have the section that was added last, which depends on nothing but these objects."""
        self.request.memo.keep_section(made_from, self.sections[-1], self.states[-1])

    # --- building ---------------------------------------------------------------------------------------------

    def is_sensitive(self, path: str) -> bool:
        """Whether a value, something in it, or something that it is in, is marked sensitive by the fixture."""
        return any(
            s == path or s.startswith(path + ".") or path.startswith(s + ".") for s in self.request.fixture.sensitive
        )

    def add(
        self,
        spec: SectionSpec,
        *,
        uri: str,
        suffix: str = "",
        text: str = "",
        value: Any = None,
        has_value: bool = False,
        messages: tuple[Message, ...] = (),
        tools: tuple[Tool, ...] = (),
        version: str = "",
        origin: Origin | None = None,
        item_id: str = "",
        authority: Authority | None = None,
        tier: Tier | None = None,
        zone: Zone | None = None,
        overflow: Overflow | None = None,
        priority: int | None = None,
        turn: int = -1,
        record: Record | None = None,
        attributes: Mapping[str, Any] | None = None,
        sensitive: bool = False,
        cacheable: bool | None = None,
        required: bool | None = None,
    ) -> None:
        defaults = DEFAULTS[spec.kind]
        own = authority if authority is not None else defaults.authority
        if spec.authority is not None:
            if spec.authority < own:
                raise Refused(self._raised(spec, own))
            own = spec.authority
        place = zone or spec.zone or defaults.zone
        if own >= Authority.T3 and spec.kind is Kind.EXAMPLES:
            place = Zone.DATA
        if own >= Authority.T3 and place in (Zone.SYSTEM, Zone.TOOLS):
            raise Refused(self._misplaced(spec, own, place))
        level = spec.tier if spec.tier is not None else defaults.tier
        if tier is not None and (tier < level or tier is Tier.P4):
            level = tier
        must = required if required is not None else spec.required
        # ``required: false`` cannot free what a tier promises: P0 to P2 are whole (a lint finding says so).
        refuses = spec.overflow is not None and spec.overflow.action == "refuse"
        whole = bool(must) or level <= Tier.P2 or refuses
        loss = overflow or spec.overflow or (REFUSE if whole else defaults.overflow)
        profile = self.request.profile
        stable = cacheable if cacheable is not None else spec.cacheable
        if stable is None:
            stable = profile is not None and (spec.id in profile.static or spec.kind.value in profile.static)
        self.sections.append(
            Section(
                section_id=f"{spec.id}/{suffix}" if suffix else spec.id,
                slot=spec.id,
                kind=spec.kind,
                authority=own,
                tier=level,
                zone=place,
                overflow=loss,
                source_uri=uri,
                source_version=version,
                text=text,
                messages=messages,
                tools=tools,
                value=value,
                has_value=has_value,
                required=whole,
                cacheable=bool(stable) and trust_of(own) is Trust.TRUSTED,
                sensitive=sensitive,
                priority=spec.priority if priority is None else priority,
                min_tokens=0 if suffix else spec.min_tokens,
                max_tokens=spec.max_tokens,
                bucket=self._bucket(spec),
                verification=record.verification if record else Verification.UNVERIFIED,
                item_id=item_id,
                turn=turn,
                attributes={**(attributes or {}), "record": record} if record else dict(attributes or {}),
                origin=origin or spec.origin,
            )
        )
        self.states.append(State(candidate_id=self.sections[-1].section_id))

    def _bucket(self, spec: SectionSpec) -> str:
        if spec.id in self._buckets:
            return spec.id
        kind = str(spec.kind)
        return kind if kind in self._buckets else ""

    def _raised(self, spec: SectionSpec, own: Authority) -> Finding:
        return fault(
            self.request.project,
            "authority-raised",
            f"section {spec.id!r} asks for {spec.authority.name if spec.authority is not None else ''}, but a "
            f"{spec.kind.value} has {own.name}: a template may lower authority, never raise it",
            at=spec.origin.child("authority"),
            fixture=self.request.fixture.id,
            help=f"remove `authority:` or set it to {own.name} or lower",
        )

    def _misplaced(self, spec: SectionSpec, own: Authority, place: Zone) -> Finding:
        return fault(
            self.request.project,
            "untrusted-zone",
            f"section {spec.id!r} ({own.name}, untrusted) may not stand in the {place.value} zone",
            at=spec.origin.child("zone") if spec.zone is not None else spec.origin,
            fixture=self.request.fixture.id,
            help="use `zone: data` or `zone: turn`",
        )
