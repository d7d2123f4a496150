"""Stage collect: fixture inputs and fragments become candidate sections.

Nothing is dropped silently: an input that no section of the template takes up is a dropped candidate with the
reason ``no_section``. Records become one candidate each, a conversation one candidate for each unit that may not be
split (a message, or a call with its results).
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from ctxc.base.errors import CtxcError
from ctxc.base.spans import Origin
from ctxc.compiler.candidates import Candidates
from ctxc.compiler.collect_fragments import collect_fragments
from ctxc.compiler.collect_inputs import (
    RECORD_KINDS,
    absent,
    collect_focus,
    collect_history,
    collect_leftovers,
    collect_records,
    collect_runtime,
)
from ctxc.compiler.faults import broken_at, fault
from ctxc.compiler.routing import FragmentIndex, matches
from ctxc.compiler.stage import Refused, Request, Stage
from ctxc.model.finding import Finding
from ctxc.model.fragment import Fragment
from ctxc.model.section import (
    DEFAULTS,
    Kind,
    Tool,
    Zone,
)
from ctxc.model.template import SectionSpec

IMPLICIT_CONTRACT = "contract"
IMPLICIT_USER = "user"
IMPLICIT_FOCUS = "focus"


def collect(request: Request, index: FragmentIndex, routed: Sequence[Fragment]) -> Stage:
    """All candidates in template order; raises Refused where a source cannot be read or a variable has no value.

    ``routed`` are the fragments that the route makes candidates (``index.candidates``).
    """
    collector = _Collector(request, index, routed)
    has_user = "user" in request.fixture.inputs.values
    made_from = (request.template, request.contract, request.toolset, "user" if has_user else "")
    for spec in request.memo.specs(made_from, lambda: _with_implicit(request)):
        collector.take(spec)
    collect_leftovers(collector)
    return collector.result()


def _with_implicit(request: Request) -> Sequence[SectionSpec]:
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
    def __init__(self, request: Request, index: FragmentIndex, routed: Sequence[Fragment]) -> None:
        super().__init__(request)
        self.index = index
        self.routed = routed

    def take(self, spec: SectionSpec) -> None:
        """Candidates of one section of the template."""
        if spec.when and not matches(spec.when, self.request.fixture.route):
            self._not_for_this_route(spec)
            return
        if spec.kind is Kind.TOOLS:
            self._tools(spec)
        elif spec.kind is Kind.CONTRACT and spec.source in ("contract", "runtime", ""):
            self._contract(spec)
        elif spec.source == "fragments":
            self.taken.add("fragments")
            collect_fragments(self, self.index, self.routed, spec)
        elif spec.kind is Kind.HISTORY:
            collect_history(self, spec)
        elif spec.kind is Kind.FOCUS and spec.source.startswith("runtime"):
            collect_focus(self, spec)
        elif spec.kind in RECORD_KINDS and (spec.source == "retrieval" or spec.source.startswith("runtime")):
            collect_records(self, spec)
        elif spec.source == "literal":
            self._literal(spec)
        elif spec.source.startswith("runtime"):
            collect_runtime(self, spec)
        else:
            self._file(spec)

    def _not_for_this_route(self, spec: SectionSpec) -> None:
        """Everything that the section would have shown is a dropped candidate."""
        before = len(self.sections)
        if spec.kind is Kind.HISTORY:
            collect_history(self, spec)
        elif spec.kind in RECORD_KINDS and (spec.source == "retrieval" or spec.source.startswith("runtime")):
            collect_records(self, replace(spec, required=False))
        elif spec.source.startswith("runtime"):
            collect_runtime(self, replace(spec, required=False))
        else:
            self.add(spec, uri=spec.source)
        while len(self.sections) > before:
            self.set_aside("when", "the section's `when` does not match the route")

    # --- application text -------------------------------------------------------------------------------------

    def _literal(self, spec: SectionSpec) -> None:
        if self.recall((spec, self.request.profile)):
            return
        if not spec.text.strip():
            self._empty(spec, "its `text` is empty", spec.origin.child("text"), "write its text")
            return
        self.add(spec, text=self.fill(spec.text, spec.origin.child("text")), uri=f"template:{spec.id}")
        if self.is_fixed(spec.text):
            self.keep((spec, self.request.profile))

    def _file(self, spec: SectionSpec) -> None:
        path = spec.source
        self.dependencies.add(path)
        if self.recall((spec, self.request.profile)):
            return
        try:
            text = self.request.project.sources.body(path)
        except CtxcError as error:
            known = any(f.location.path == path for f in self.request.project.findings)
            raise Refused(
                fault(
                    self.request.project,
                    "unreadable-file" if known else "missing-file",
                    f"section {spec.id!r}: {error.message}",
                    at=spec.origin.child("source"),
                    fixture=self.request.fixture.id,
                    help=error.help or "sources are relative to the project root",
                )
            ) from None
        if not text.strip():
            self._empty(spec, f"{path} has no text", Origin(path), f"write its text in {path}")
            return
        version = _VERSION_IN_NAME.search(path)
        self.add(
            spec,
            text=self.fill(text, Origin(path)).rstrip("\n"),
            uri=path,
            version=version[1] if version else "",
            origin=Origin(path),
        )
        if self.is_fixed(text):
            self.keep((spec, self.request.profile))

    def _empty(self, spec: SectionSpec, why: str, at: Origin, mend: str) -> None:
        absent(self, replace(spec, required=spec.must_have_text), why, at=at, mend=mend)

    def _contract(self, spec: SectionSpec) -> None:
        contract = self.request.contract
        if contract is None:
            why = "the template and the request profile name no contract"
            absent(self, spec, why, mend="name one: `output_contract: ID`")
            return
        self.dependencies.add(contract.origin.path)
        made_from = (spec, contract, self.request.profile)
        if self.recall(made_from):
            return
        self.add(
            spec,
            value=contract.schema,
            has_value=True,
            uri=f"contract:{contract.id}",
            version=contract.version,
            origin=contract.origin,
        )
        self.keep(made_from)

    def _tools(self, spec: SectionSpec) -> None:
        toolset = self.request.toolset
        if spec.source not in ("toolset", "runtime", ""):
            named = self.request.project.toolsets.get(spec.source)
            toolset = named[-1] if named else None
            if toolset is None:
                raise Refused(self._no_tools(spec))
        if toolset is None:
            absent(self, spec, "the request profile names no tool set", mend="name one there: `toolset: ID`")
            return
        self.dependencies.add(toolset.origin.path)
        if toolset.mcp:
            self.dependencies.add(toolset.mcp)
        made_from = (spec, toolset, self.request.profile)
        if self.recall(made_from):
            return
        self.add(
            spec,
            tools=_ordered(toolset.tools, toolset.order),
            uri=f"toolset:{toolset.id}",
            version=toolset.version,
            origin=toolset.origin,
        )
        self.keep(made_from)

    def _no_tools(self, spec: SectionSpec) -> Finding:
        project = self.request.project
        at, fixture = spec.origin.child("source"), self.request.fixture.id
        if spec.source in project.broken:
            where = broken_at(project, spec.source)
            return fault(
                project,
                "unknown-reference",
                f"section {spec.id!r}: the tools of {spec.source} could not be loaded",
                at=at,
                fixture=fixture,
                help=f"mend the findings of {where[0]} first",
                related=[(Origin(path), "the tools") for path in where],
            )
        return fault(
            project,
            "missing-file",
            f"section {spec.id!r}: {spec.source!r} holds no tool definitions",
            at=at,
            fixture=fixture,
            help="name a file with a list of tools (OpenAI, Anthropic or MCP form), or use a request profile that "
            "names a tool set",
        )

    # --- inputs -----------------------------------------------------------------------------------------------


_VERSION_IN_NAME = re.compile(r"_(v\d+)\.[a-z]+$")
"""The version that people write into a file's name: ``platform_v12.md``."""


def _ordered(tools: tuple[Tool, ...], order: str) -> tuple[Tool, ...]:
    """Tools by name unless the author fixed the order: an order that depends on a server breaks every prefix."""
    return tools if order == "given" else tuple(sorted(tools, key=lambda t: t.name))
