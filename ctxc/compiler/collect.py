"""Stage collect: fixture inputs and fragments become candidate sections.

Nothing is dropped silently: an input that no section of the template takes up is a dropped candidate with the
reason ``no_section``. Records become one candidate each, a conversation one candidate for each unit that may not be
split (a message, or a call with its results).
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from typing import Any

from ctxc.base.errors import CtxcError
from ctxc.base.spans import Origin
from ctxc.compiler.candidates import STAGE, Candidates
from ctxc.compiler.collect_fragments import collect_fragments
from ctxc.compiler.conversation import pending_calls, units
from ctxc.compiler.faults import fault
from ctxc.compiler.routing import FragmentIndex, matches
from ctxc.compiler.stage import Refused, Request, Stage
from ctxc.model.fixture import Record
from ctxc.model.package import Decision, State
from ctxc.model.section import (
    DEFAULTS,
    DROP,
    Authority,
    Kind,
    Message,
    Tier,
    Tool,
    Zone,
)
from ctxc.model.template import SectionSpec

_RECORD_KINDS = {
    Kind.MEMORY: "memory",
    Kind.EVIDENCE: "evidence",
    Kind.TOOL_RESULT: "tool_results",
    Kind.HANDOFF: "handoff",
    Kind.EXAMPLES: "examples",
}

IMPLICIT_CONTRACT = "contract"
IMPLICIT_USER = "user"
IMPLICIT_FOCUS = "focus"


def collect(request: Request, index: FragmentIndex) -> Stage:
    """All candidates in template order; raises Refused where a source cannot be read or a variable has no value."""
    collector = _Collector(request, index)
    for spec in _with_implicit(request):
        collector.take(spec)
    collector.leftovers()
    return collector.result()


def _with_implicit(request: Request) -> Iterable[SectionSpec]:
    """The template's sections, and those that need no writing: contract, tools, user and focus."""
    specs = list(request.template.sections)
    kinds = {s.kind for s in specs}
    at = request.template.origin
    if request.contract is not None and Kind.CONTRACT not in kinds:
        # After the last section of the system zone that the template wrote, which keeps the prefix stable.
        place = max((n for n, s in enumerate(specs) if _zone(s) is Zone.SYSTEM), default=-1) + 1
        spec = SectionSpec(id=IMPLICIT_CONTRACT, kind=Kind.CONTRACT, source="contract", cacheable=True, origin=at)
        specs.insert(place, spec)
    if request.toolset is not None and Kind.TOOLS not in kinds:
        specs.insert(0, SectionSpec(id="tools", kind=Kind.TOOLS, source="toolset", cacheable=True, origin=at))
    if "user" in request.fixture.inputs.values and Kind.USER not in kinds:
        specs.append(SectionSpec(id=IMPLICIT_USER, kind=Kind.USER, source="runtime.user", origin=at))
    if request.template.focus and Kind.FOCUS not in kinds:
        specs.append(SectionSpec(id=IMPLICIT_FOCUS, kind=Kind.FOCUS, source="runtime.state", origin=at))
    return specs


def _zone(spec: SectionSpec) -> Zone:
    return spec.zone or DEFAULTS[spec.kind].zone


class _Collector(Candidates):
    def __init__(self, request: Request, index: FragmentIndex) -> None:
        super().__init__(request)
        self.index = index
        has_history = any(s.kind is Kind.HISTORY for s in request.template.sections)
        self.pending = pending_calls(request.fixture.inputs.history) if has_history else frozenset[str]()

    def take(self, spec: SectionSpec) -> None:
        """Candidates of one section of the template."""
        if spec.when and not matches(spec.when, self.request.fixture.route):
            self._consume(spec)
            self.states.append(
                State(candidate_id=spec.id, selected="no:when", loaded="no:when", authorised="yes"),
            )
            self.decisions.append(
                Decision(section_id=spec.id, stage=STAGE, verdict="noted", reason="when does not match the route")
            )
            return
        if spec.kind is Kind.TOOLS:
            self._tools(spec)
        elif spec.kind is Kind.CONTRACT and spec.source in ("contract", "runtime", ""):
            self._contract(spec)
        elif spec.source == "fragments":
            self.taken.add("fragments")
            collect_fragments(self, self.index, spec)
        elif spec.kind is Kind.HISTORY:
            self._history(spec)
        elif spec.kind is Kind.FOCUS and spec.source.startswith("runtime"):
            self._focus(spec)
        elif spec.kind in _RECORD_KINDS and (spec.source == "retrieval" or spec.source.startswith("runtime")):
            self._records(spec)
        elif spec.source == "literal":
            self.add(spec, text=self.fill(spec.text, spec.origin.child("text")), uri=f"template:{spec.id}")
        elif spec.source.startswith("runtime"):
            self._runtime(spec)
        else:
            self._file(spec)

    def _consume(self, spec: SectionSpec) -> None:
        """Remember that a section that does not apply would have taken up its inputs."""
        if spec.kind is Kind.HISTORY:
            self.taken.add("history")
        elif spec.kind in _RECORD_KINDS:
            self.taken.add(_RECORD_KINDS[spec.kind])
        elif spec.source.startswith("runtime"):
            self.taken.add(spec.source.partition(".")[2] or spec.id)

    # --- application text -------------------------------------------------------------------------------------

    def _file(self, spec: SectionSpec) -> None:
        path = spec.source
        try:
            text = self.request.project.sources.body(path)
        except CtxcError as error:
            raise Refused(
                fault(
                    self.request.project,
                    "missing-file",
                    f"section {spec.id!r}: {error.message}",
                    at=spec.origin.child("source"),
                    fixture=self.request.fixture.id,
                    help=error.help or "sources are relative to the project root",
                )
            ) from None
        self.dependencies.add(path)
        version = _VERSION_IN_NAME.search(path)
        self.add(
            spec,
            text=self.fill(text, Origin(path)).rstrip("\n"),
            uri=path,
            version=version[1] if version else "",
            origin=Origin(path),
        )

    def _contract(self, spec: SectionSpec) -> None:
        contract = self.request.contract
        if contract is None:
            self._absent(spec, "the template and the request profile name no contract")
            return
        self.dependencies.add(contract.origin.path)
        self.add(
            spec,
            value=contract.schema,
            has_value=True,
            uri=f"contract:{contract.id}",
            version=contract.version,
            origin=contract.origin,
        )

    def _tools(self, spec: SectionSpec) -> None:
        toolset = self.request.toolset
        if spec.source not in ("toolset", "runtime", ""):
            named = self.request.project.toolsets.get(spec.source)
            toolset = named[-1] if named else None
            if toolset is None:
                raise Refused(
                    fault(
                        self.request.project,
                        "missing-file",
                        f"section {spec.id!r}: {spec.source!r} holds no tool definitions",
                        at=spec.origin.child("source"),
                        fixture=self.request.fixture.id,
                        help="name a file with a list of tools (OpenAI, Anthropic or MCP form), or use a request "
                        "profile that names a tool set",
                    )
                )
        if toolset is None:
            self._absent(spec, "the request profile names no tool set")
            return
        self.dependencies.add(toolset.origin.path)
        if toolset.mcp:
            self.dependencies.add(toolset.mcp)
        self.add(
            spec,
            tools=_ordered(toolset.tools, toolset.order),
            uri=f"toolset:{toolset.id}",
            version=toolset.version,
            origin=toolset.origin,
        )

    # --- inputs -----------------------------------------------------------------------------------------------

    def _absent(self, spec: SectionSpec, why: str) -> None:
        """A section without content: noted, or refused where the template requires it."""
        required = spec.required
        if required is None:
            required = False
        if required and spec.kind not in (Kind.TOOLS, Kind.HISTORY):
            raise Refused(
                fault(
                    self.request.project,
                    "missing-input",
                    f"section {spec.id!r} is required and {why}",
                    at=self.request.fixture.origin,
                    fixture=self.request.fixture.id,
                    help=f"add `inputs.{spec.source.partition('.')[2] or spec.id}` to the fixture, or make the section"
                    " not required",
                    related=((spec.origin, "the section"),),
                )
            )
        self.decisions.append(Decision(section_id=spec.id, stage=STAGE, verdict="noted", reason=f"empty: {why}"))

    def _runtime(self, spec: SectionSpec) -> None:
        key = spec.source.partition(".")[2] or spec.id
        values = self.request.fixture.inputs.values
        self.taken.add(key)
        value, found = _dig(values, key)
        if not found or value is None or (isinstance(value, str) and not value.strip()):
            self._absent(spec, f"the fixture has no inputs.{key}")
            return
        uri = f"fixture:inputs.{key}"
        origin = self.request.fixture.origin.child("inputs", *key.split("."))
        sensitive = self.is_sensitive(f"inputs.{key}")
        if isinstance(value, str):
            self.add(spec, text=value, uri=uri, origin=origin, sensitive=sensitive)
        else:
            self.add(spec, value=value, has_value=True, uri=uri, origin=origin, sensitive=sensitive)

    def _focus(self, spec: SectionSpec) -> None:
        state, found = _dig(self.request.fixture.inputs.values, spec.source.partition(".")[2] or "state")
        fields = self.request.template.focus
        if not found or not isinstance(state, Mapping):
            self._absent(spec, "the fixture has no inputs.state to recite from")
            return
        recited = {}
        for name in fields or tuple(state):
            value, there = _dig(state, name)
            if there:
                recited[name] = value
        if not recited:
            self._absent(spec, "the state holds none of the fields to recite")
            return
        self.add(
            spec,
            value=recited,
            has_value=True,
            uri="fixture:inputs.state",
            origin=self.request.fixture.origin.child("inputs", "state"),
            sensitive=any(self.is_sensitive(f"inputs.state.{name}") for name in recited),
        )

    def _records(self, spec: SectionSpec) -> None:
        name = _RECORD_KINDS[spec.kind]
        key = spec.source.partition(".")[2]
        inputs = self.request.fixture.inputs
        self.taken.add(name)
        records: tuple[Record, ...] = getattr(inputs, name)
        if key and key != name and key in inputs.values:
            self._runtime(spec)
            return
        if not records:
            self._absent(spec, f"the fixture has no inputs.{name}")
            return
        for record in records:
            self._record(spec, record)

    def _record(self, spec: SectionSpec, record: Record) -> None:
        authority: Authority | None = None
        if spec.kind is Kind.EXAMPLES:
            authority = Authority.T3 if record.attributes.get("from_user") else None
        tier: Tier | None = None
        if spec.kind is Kind.EVIDENCE and self._is_required(record):
            tier = Tier.P1
        if spec.kind is Kind.TOOL_RESULT and record.call_id in self.pending:
            self._answer(spec, record)
            return
        if spec.kind is Kind.TOOL_RESULT and record.status in _UNFINISHED:
            tier = Tier.P2
        self.add(
            spec,
            suffix=record.id,
            text=record.text,
            value=record.value,
            has_value=record.has_value,
            uri=record.source or f"fixture:inputs.{_RECORD_KINDS[spec.kind]}",
            version=record.version,
            origin=record.origin,
            item_id=record.id,
            authority=authority,
            tier=tier,
            record=record,
            required=True if tier is Tier.P1 else None,
            sensitive=self.is_sensitive(f"inputs.{_RECORD_KINDS[spec.kind]}.{record.id}"),
        )

    def _answer(self, spec: SectionSpec, record: Record) -> None:
        """The result that an open call of the conversation waits for stands in the provider's own place for it."""
        data = record.value if record.has_value else record.text
        content = data if isinstance(data, str) else json.dumps(data, ensure_ascii=False)
        if record.truncated or record.artifact_ref or record.status not in _PLAIN_STATUS:
            # A model that is not told that a result is partial takes the part for the whole.
            envelope = {"status": record.status, "truncated": record.truncated, "artifact_ref": record.artifact_ref}
            content = json.dumps({**{k: v for k, v in envelope.items() if v}, "data": data}, ensure_ascii=False)
        self.add(
            spec,
            suffix=record.id,
            messages=(
                Message(
                    role="tool",
                    content=content,
                    tool_call_id=record.call_id,
                    is_error=record.status in ("error", "failed"),
                    origin=record.origin,
                ),
            ),
            uri=record.source or "fixture:inputs.tool_results",
            version=record.version,
            origin=record.origin,
            item_id=record.id,
            tier=Tier.P2,
            zone=Zone.TURN,
            record=record,
            attributes={"answers": record.call_id},
            sensitive=self.is_sensitive(f"inputs.tool_results.{record.id}"),
        )

    def _is_required(self, record: Record) -> bool:
        return record.required or record.id in self.request.fixture.expect.required_evidence

    def _history(self, spec: SectionSpec) -> None:
        inputs = self.request.fixture.inputs
        self.taken.add("history")
        if inputs.summary:
            self.add(
                spec,
                suffix="summary",
                text=inputs.summary,
                uri="fixture:inputs.summary",
                origin=self.request.fixture.origin.child("inputs", "summary"),
                authority=Authority.T2,
                tier=Tier.P4,
                zone=Zone.DATA,
                overflow=DROP,
                attributes={"summary": True},
            )
        if not inputs.history:
            if not inputs.summary:
                self._absent(spec, "the fixture has no inputs.history")
            return
        for number, unit in enumerate(units(inputs.history)):
            tier = Tier.P2 if unit.unfinished else None
            self.add(
                spec,
                suffix=str(number),
                messages=unit.messages,
                uri="fixture:inputs.history",
                origin=unit.messages[0].origin,
                turn=unit.turn,
                authority=unit.authority,
                tier=tier,
                attributes={"roles": [m.role for m in unit.messages], "opens_turn": unit.opens_turn},
                sensitive=self.is_sensitive("inputs.history"),
            )
            if unit.fault:
                self.set_aside(*_UNSENDABLE[unit.fault])

    # --- what no section takes up -----------------------------------------------------------------------------

    def leftovers(self) -> None:
        """Inputs that the template has no place for."""
        inputs = self.request.fixture.inputs
        for kind, name in _RECORD_KINDS.items():
            if name in self.taken:
                continue
            spec = SectionSpec(id=name, kind=kind, source="runtime", origin=self.request.fixture.origin)
            for record in getattr(inputs, name):
                self._leave(spec, record.id, text=record.text, value=record.value, has_value=record.has_value)
        if "history" not in self.taken and inputs.history:
            spec = SectionSpec(id="history", kind=Kind.HISTORY, source="runtime", origin=self.request.fixture.origin)
            for number, unit in enumerate(units(inputs.history)):
                self._leave(spec, str(number), messages=unit.messages)
        for key in inputs.values:
            if key in self.taken or any(t.startswith(key + ".") for t in self.taken):
                continue
            if key == "state" and any(s.kind is Kind.FOCUS for s in self.sections):
                continue  # recited at the end
            value = inputs.values[key]
            spec = SectionSpec(id=key, kind=Kind.STATE, source="runtime", origin=self.request.fixture.origin)
            if isinstance(value, str):
                self._leave(spec, "", text=value)
            else:
                self._leave(spec, "", value=value, has_value=True)
        if inputs.fragments and "fragments" not in self.taken:
            spec = SectionSpec(id="fragments", kind=Kind.FRAGMENT, source="runtime", origin=self.request.fixture.origin)
            for name in inputs.fragments:
                self._leave(spec, name)

    def _leave(self, spec: SectionSpec, suffix: str, **content: Any) -> None:
        self.add(spec, suffix=suffix, uri=f"fixture:inputs.{spec.id}", **content)
        self.set_aside("no_section", f"the template has no section for inputs.{spec.id}")


_VERSION_IN_NAME = re.compile(r"_(v\d+)\.[a-z]+$")
"""The version that people write into a file's name: ``platform_v12.md``."""

_UNFINISHED = ("pending", "running", "in_progress", "unfinished")

_PLAIN_STATUS = ("", "ok", "success", "succeeded")

_UNSENDABLE = {
    "orphan": ("orphan_result", "its call is not in the history: every provider refuses such a result"),
    "unanswered": ("unanswered_call", "a call without its result inside the history: every provider refuses it"),
    "blank": ("empty", "nothing but white space"),
}


def _ordered(tools: tuple[Tool, ...], order: str) -> tuple[Tool, ...]:
    """Tools by name unless the author fixed the order: an order that depends on a server breaks every prefix."""
    return tools if order == "given" else tuple(sorted(tools, key=lambda t: t.name))


def _dig(values: Any, path: str) -> tuple[Any, bool]:
    """A value by dotted path, and whether it is there."""
    if isinstance(values, Mapping) and path in values:
        return values[path], True
    current = values
    for key in path.split("."):
        if not isinstance(current, Mapping) or key not in current:
            return None, False
        current = current[key]
    return current, True
