"""The pipeline: the stages in order, from a fixture to a package."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from ctxc.base.errors import InternalFault
from ctxc.compiler import expect, faults
from ctxc.compiler.allocate import Allocation, allocate, per_message, usable
from ctxc.compiler.authorise import authorise
from ctxc.compiler.collect import collect
from ctxc.compiler.fit import Fitted, fit
from ctxc.compiler.measure import Draft, measure
from ctxc.compiler.order import is_stable, order
from ctxc.compiler.reconcile import reconcile
from ctxc.compiler.render import render
from ctxc.compiler.resolve import resolve
from ctxc.compiler.routing import FragmentIndex, matches, route_key
from ctxc.compiler.select import select
from ctxc.compiler.snapshot import invalid_snapshot, snapshot
from ctxc.compiler.stage import Options, Refused, Request, Stage
from ctxc.compiler.verify import count_request, verify
from ctxc.compiler.wrappers import Wrapper, wrapper, wrapper_ids
from ctxc.model.counting import Count, Tokenizer
from ctxc.model.finding import Finding
from ctxc.model.fixture import Fixture
from ctxc.model.package import Conflict, Decision, Dropped, Expectation, Outcome, Package, Placed, State
from ctxc.model.project import Project
from ctxc.model.provider import TokenizerRef
from ctxc.model.request import Rendered
from ctxc.model.section import Section, Tier
from ctxc.providers.port import Shape

_ROUNDS = 8
"""Attempts to fit before everything optional is left out; each round corrects the overhead by what was measured."""


class Compiler:
    """Compiles fixtures of one project. Holds only what can be derived from the project, so that it can be kept."""

    def __init__(
        self,
        project: Project,
        *,
        tokenizers: Callable[[TokenizerRef], Tokenizer],
        shapes: Callable[[str], Shape],
        options: Options | None = None,
    ) -> None:
        self.project = project
        self.options = options or Options()
        self.index = FragmentIndex(project)
        self._tokenizers = tokenizers
        self._shapes = shapes

    def compile(self, fixture: Fixture) -> Package:
        """The package of one fixture. Wrong sources are an outcome (``invalid``) with findings, never an exception."""
        try:
            request = resolve(
                self.project, fixture, tokenizers=self._tokenizers, shapes=self._shapes, options=self.options
            )
            return _compile(request, self.index)
        except Refused as refused:
            return self._invalid(fixture, refused.findings)

    def route_key(self, fixture: Fixture) -> str:
        """Identity of the fragments that the fixture's route makes candidates."""
        return route_key(self.index.candidates(fixture.route))

    def _invalid(self, fixture: Fixture, findings: Sequence[Finding]) -> Package:
        return Package(
            fixture_id=fixture.id,
            outcome=Outcome.INVALID,
            snapshot=invalid_snapshot(fixture, [f"{f.code} {f.name}: {f.message}" for f in findings]),
            expectations=expect.check(fixture, Outcome.INVALID, (), (), None, ()),
            findings=tuple(findings),
            dependencies=tuple(sorted({fixture.origin.path, *fixture.inputs.files})),
            route_key=self.route_key(fixture),
        )


def compile_fixture(
    project: Project,
    fixture: Fixture,
    *,
    tokenizers: Callable[[TokenizerRef], Tokenizer],
    shapes: Callable[[str], Shape],
    options: Options | None = None,
) -> Package:
    """Compile one fixture of a project; for many, keep a Compiler."""
    return Compiler(project, tokenizers=tokenizers, shapes=shapes, options=options).compile(fixture)


class _Trail:
    """What the stages have said so far."""

    def __init__(self, request: Request) -> None:
        self.request = request
        self.dropped: list[Dropped] = []
        self.decisions: list[Decision] = []
        self.states: dict[str, State] = {}
        self.conflicts: list[Conflict] = []
        self.dependencies: set[str] = {
            request.fixture.origin.path,
            *request.fixture.inputs.files,
            *request.template.paths,
            *(x.origin.path for x in (request.profile, request.contract, request.toolset) if x is not None),
        }
        if request.provider.origin.path:
            self.dependencies.add(request.provider.origin.path)

    def take(self, stage: Stage) -> tuple[Section, ...]:
        """Add what a stage decided; its sections."""
        self.dropped.extend(stage.dropped)
        self.decisions.extend(stage.decisions)
        self.conflicts.extend(stage.conflicts)
        self.dependencies |= stage.dependencies
        for state in stage.states:
            before = self.states.get(state.candidate_id)
            self.states[state.candidate_id] = state if before is None else _later(before, state)
        return stage.sections

    def unloaded(self, dropped: Sequence[Dropped]) -> None:
        """Candidates that were selected and did not fit."""
        for gone in dropped:
            state = self.states.get(gone.section_id)
            if state is not None:
                self.states[gone.section_id] = replace(state, loaded=f"no:{gone.reason}")

    def paths(self) -> tuple[str, ...]:
        """Everything that was read, sorted."""
        return tuple(sorted(p for p in self.dependencies if p))


def _later(before: State, after: State) -> State:
    """Two statements on one candidate: a ``no`` stays."""
    return State(
        candidate_id=before.candidate_id,
        **{
            name: after_value if before_value == "yes" else before_value
            for name in ("discoverable", "selected", "loaded", "authorised")
            for before_value, after_value in ((getattr(before, name), getattr(after, name)),)
        },
    )


def _compile(request: Request, index: FragmentIndex) -> Package:
    key = route_key(index.candidates(request.fixture.route))
    trail = _Trail(request)
    reply = _deterministic(request)
    if reply is not None:
        return _without_model(request, trail, reply, key)
    missing = _missing_capabilities(request)
    if missing:
        return _ended(
            request, trail, Outcome.CAPABILITY_MISSING, key, findings=(_capability_finding(request, missing),)
        )
    block_form = _wrapper(request)
    sections = trail.take(collect(request, index))
    sections = trail.take(authorise(request, sections))
    sections = trail.take(reconcile(request, sections))
    sections = trail.take(select(request, sections))
    drafts = measure(request, sections, block_form)
    _check_fragments(request, drafts)
    fitted = _fitted(request, drafts, block_form)
    if isinstance(fitted, Allocation):
        return _exceeded(request, trail, drafts, fitted, key)
    result, ordered, rendered, count = fitted
    trail.dropped.extend(result.dropped)
    trail.decisions.extend(result.decisions)
    trail.unloaded(result.dropped)
    verified = verify(request, ordered, rendered, count, block_form)
    placed = _placed(ordered, rendered)
    if verified.problems:
        return _ended(
            request,
            trail,
            Outcome.INVALID,
            key,
            placed=placed,
            findings=tuple(
                faults.fault(
                    request.project,
                    "provider-refuses",
                    f"{request.provider.id} would refuse the request: {problem}",
                    at=request.fixture.origin,
                    fixture=request.fixture.id,
                    help="mend the input that the message names",
                )
                for problem in verified.problems
            ),
        )
    expectations = expect.check(
        request.fixture,
        Outcome.COMPILED,
        placed,
        trail.dropped,
        count,
        (leaf.text for leaf in request.shape.read_back(rendered.request)) if _asks_for_text(request) else (),
    )
    taken = snapshot(
        request,
        outcome=Outcome.COMPILED,
        placed=placed,
        dropped=trail.dropped,
        decisions=trail.decisions,
        states=tuple(trail.states.values()),
        conflicts=trail.conflicts,
        compression=result.compression,
        rendered=rendered,
        count=count,
        overhead=verified.overhead,
        buckets=result.buckets,
        remedies=(),
    )
    return Package(
        fixture_id=request.fixture.id,
        outcome=Outcome.COMPILED,
        snapshot=taken,
        request=rendered.request,
        placed=placed,
        segments=rendered.segments,
        dropped=tuple(trail.dropped),
        decisions=tuple(trail.decisions),
        states=tuple(trail.states.values()),
        conflicts=tuple(trail.conflicts),
        compression=result.compression,
        required_capabilities=required_capabilities(request, ordered),
        expectations=expectations,
        findings=_failed(request, expectations),
        count=count,
        renamed_tools=rendered.renamed,
        dependencies=trail.paths(),
        route_key=key,
    )


def _asks_for_text(request: Request) -> bool:
    return bool(request.fixture.expect.must_contain or request.fixture.expect.must_not_contain)


def _wrapper(request: Request) -> Wrapper:
    try:
        return wrapper(request.template.renderer)
    except KeyError:
        raise Refused(
            faults.fault(
                request.project,
                "unknown-renderer",
                f"there is no renderer {request.template.renderer!r}."
                + faults.did_you_mean(request.template.renderer, wrapper_ids()),
                at=request.template.origin.child("renderer"),
                fixture=request.fixture.id,
                help="known: " + ", ".join(wrapper_ids()),
            )
        ) from None


def _deterministic(request: Request) -> str | None:
    """The reply of the first route that needs no model, or None."""
    for rule in request.template.deterministic:
        conditions: Mapping[str, tuple[str, ...]] = rule["when"]
        if matches(conditions, request.fixture.route):
            return str(rule.get("reply", ""))
    return None


def _without_model(request: Request, trail: _Trail, reply: str, key: str) -> Package:
    trail.decisions.append(
        Decision(section_id="", stage="resolve", verdict="noted", reason="the route answers without a model")
    )
    return replace(_ended(request, trail, Outcome.MODEL_NOT_REQUIRED, key), reply=reply)


def required_capabilities(request: Request, drafts: Sequence[Draft] = ()) -> tuple[str, ...]:
    """What the request asks of an interface and a model, sorted."""
    needed = {"chat"}
    if request.contract is not None and request.contract_in_field:
        needed.add("json_schema")
    if any(d.section.tools for d in drafts) or request.toolset is not None:
        needed.add("tools")
    if any(d.section.messages and any(m.tool_calls for m in d.section.messages) for d in drafts):
        needed.add("tools")
    return tuple(sorted(needed))


def _missing_capabilities(request: Request) -> tuple[str, ...]:
    """What the template needs and the interface or the model cannot carry; known before anything is rendered."""
    have = request.shape.capabilities & (request.row.capabilities | {"history", "system"})
    needed: set[str] = set()
    wants_tools = request.toolset is not None or any(
        s.kind.value == "tools" and s.source not in ("toolset", "") for s in request.template.sections
    )
    if wants_tools and "tools" not in have:
        needed.add("tools")
    if any(m.tool_calls for m in request.fixture.inputs.history) and "tools" not in have:
        needed.add("tools")
    return tuple(sorted(needed))


def _capability_finding(request: Request, missing: Sequence[str]) -> Finding:
    return faults.fault(
        request.project,
        "capability-missing",
        f"{request.provider.id} with model {request.model} cannot carry {', '.join(missing)}, "
        f"which template {request.template.id!r} needs",
        at=request.template.origin,
        fixture=request.fixture.id,
        help="use a provider or model with this capability, or a request profile without it",
        data={"missing": list(missing)},
    )


def _check_fragments(request: Request, drafts: Mapping[str, Draft]) -> None:
    """A fragment over its own ``max_tokens`` is an error that names the chain which brought it in."""
    checked = [
        (d, d.section.attributes["fragment"])
        for d in drafts.values()
        if "fragment" in d.section.attributes and d.section.attributes["fragment"].max_tokens is not None
    ]
    if not checked:
        return
    counts = request.tokenizer.count_many([d.content for d, _ in checked])
    for (draft, fragment), tokens in zip(checked, counts, strict=True):
        if tokens > fragment.max_tokens:
            raise Refused(
                faults.fault(
                    request.project,
                    "fragment-overrun",
                    f"fragment {fragment.id!r} ({draft.section.attributes['cause']}) has {tokens} tokens, "
                    f"{tokens - fragment.max_tokens} over its max_tokens of {fragment.max_tokens}",
                    at=fragment.origin.child("max_tokens"),
                    fixture=request.fixture.id,
                    help="shorten the text, split the fragment, or raise `max_tokens` on purpose",
                    data={"tokens": tokens, "limit": fragment.max_tokens},
                )
            )


def _fitted(
    request: Request, drafts: Mapping[str, Draft], block_form: Wrapper
) -> Allocation | tuple[Fitted, tuple[Draft, ...], Rendered, Count]:
    """What fits, rendered and counted; or the allocation that shows why the required part does not."""
    framing = 3 + 2 * per_message(request)
    measured = False
    for attempt in range(_ROUNDS + 1):
        allocation = allocate(request, drafts, framing=framing)
        if allocation.over:
            if measured or any(o.section_id for o in allocation.over):
                return allocation
            # The framing was a guess: measure it on the required part alone before refusing anything.
            required = order(request, [d for d in drafts.values() if d.section.required])
            framing = _measured_framing(request, required)
            measured = True
            continue
        if attempt == _ROUNDS:
            allocation = replace(allocation, room=0, allowances={}, framing=framing)
        result = fit(request, drafts, allocation, block_form)
        ordered = order(request, list(result.drafts.values()))
        rendered = render(request, ordered)
        count = count_request(request, rendered)
        if count.upper <= request.limits.available:
            return result, ordered, rendered, count
        excess = count.tokens - usable(request)
        framing += max(excess, 1)
        measured = True
    raise InternalFault(f"fixture {request.fixture.id!r}: the required part fits alone and not in the request")


def _measured_framing(request: Request, drafts: Sequence[Draft]) -> int:
    count = count_request(request, render(request, drafts))
    alone = sum(d.tokens + d.messages * per_message(request) for d in drafts)
    # The band may be wider than the model's own (tool framing): what is over the usable part counts as framing.
    slack = max(0, count.upper - count.tokens - (request.limits.available - usable(request)))
    return count.tokens - alone + slack


def _placed(drafts: Sequence[Draft], rendered: Rendered) -> tuple[Placed, ...]:
    return tuple(
        Placed(
            section=d.section,
            content=d.content,
            rendered=d.rendered,
            tokens=d.tokens,
            position=number,
            stable=is_stable(d.section),
            truncated=d.truncated,
            pointers=tuple(rendered.placed.get(d.section.section_id, ())),
        )
        for number, d in enumerate(drafts)
    )


def _failed(request: Request, expectations: Sequence[Expectation]) -> tuple[Finding, ...]:
    return tuple(
        faults.fault(
            request.project,
            "unexpected-outcome" if e.key == "outcome" else "expectation-failed",
            f"expected {e.key} {e.expected!r}, got {e.actual!r}",
            at=e.origin,
            fixture=request.fixture.id,
            help="`ctxc explain " + request.fixture.id + "` shows the decisions",
            data={"key": e.key, "expected": e.expected, "actual": e.actual},
        )
        for e in expectations
        if not e.held
    )


def _exceeded(
    request: Request, trail: _Trail, drafts: Mapping[str, Draft], allocation: Allocation, key: str
) -> Package:
    """Required content does not fit: what is over, by how much, and what can be done."""
    for over in allocation.over:
        trail.decisions.append(
            Decision(
                section_id=over.section_id,
                stage="allocate",
                verdict="refused",
                reason=f"{over.what}: {over.tokens} tokens, {over.excess} over {over.limit}",
                before=over.tokens,
                after=over.limit,
            )
        )
    required = [d for d in order(request, list(drafts.values())) if d.section.required]
    for draft in drafts.values():
        state = trail.states.get(draft.section.section_id)
        if state is not None:
            trail.states[draft.section.section_id] = replace(state, loaded="no:budget_exceeded")
    over_data = [
        {"section_id": o.section_id, "what": o.what, "tokens": o.tokens, "limit": o.limit, "over": o.excess}
        for o in allocation.over
    ]
    largest = sorted(required, key=lambda d: (-d.tokens, d.section.section_id))[:5]
    message = "; ".join(
        f"{o.section_id or o.what} {o.tokens} tokens, {o.excess} over {o.limit}" for o in allocation.over
    )
    package = _ended(
        request,
        trail,
        Outcome.BUDGET_EXCEEDED,
        key,
        placed=tuple(
            Placed(
                section=d.section,
                content=d.content,
                rendered=d.rendered,
                tokens=d.tokens,
                position=n,
                stable=is_stable(d.section),
                truncated=False,
            )
            for n, d in enumerate(required)
        ),
        remedies=remedies(required),
        over=over_data,
    )
    if package.expectations and not package.expectations[0].held:
        finding = faults.fault(
            request.project,
            "budget-exceeded",
            f"CONTEXT_BUDGET_EXCEEDED: {message}",
            at=request.template.origin,
            fixture=request.fixture.id,
            help="largest: "
            + ", ".join(f"{d.section.section_id} {d.tokens}" for d in largest)
            + f"; remedies: {', '.join(remedies(required))}",
            data={"over": over_data},
        )
        package = replace(package, findings=(*package.findings, finding))
    return package


def remedies(required: Sequence[Draft]) -> tuple[str, ...]:
    """What could make the required part smaller, in the order in which to try it."""
    found = []
    kinds = {d.section.kind.value for d in required}
    if kinds & {"evidence", "tool_result", "memory"}:
        found.append("retrieve_more")  # narrower candidates instead of whole documents
    if any(d.section.tier >= Tier.P1 and not d.section.cacheable for d in required):
        found.append("compress")
    found.extend(("split_task", "ask"))
    return tuple(found)


def _ended(
    request: Request,
    trail: _Trail,
    outcome: Outcome,
    key: str,
    *,
    placed: tuple[Placed, ...] = (),
    findings: tuple[Finding, ...] = (),
    remedies: Sequence[str] = (),
    over: Sequence[Mapping[str, Any]] = (),
) -> Package:
    """A package without a request."""
    expectations = expect.check(request.fixture, outcome, (), trail.dropped, None, ())
    expected = request.fixture.expect.outcome == outcome.value
    return Package(
        fixture_id=request.fixture.id,
        outcome=outcome,
        snapshot=snapshot(
            request,
            outcome=outcome,
            placed=placed,
            dropped=trail.dropped,
            decisions=trail.decisions,
            states=tuple(trail.states.values()),
            conflicts=trail.conflicts,
            compression=(),
            rendered=None,
            count=None,
            overhead=0,
            buckets={},
            remedies=remedies,
            over=over,
        ),
        placed=placed,
        dropped=tuple(trail.dropped),
        decisions=tuple(trail.decisions),
        states=tuple(trail.states.values()),
        conflicts=tuple(trail.conflicts),
        required_capabilities=required_capabilities(request),
        expectations=expectations,
        findings=(*(() if expected else findings), *_failed(request, expectations)),
        dependencies=trail.paths(),
        route_key=key,
    )


__all__ = ["Compiler", "Options", "compile_fixture"]
