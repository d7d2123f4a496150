"""The pipeline: the stages in order, from a fixture to a package."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from ctxc.base.errors import InternalFault
from ctxc.base.spans import Origin
from ctxc.base.values import dataclass
from ctxc.compiler import expect, faults
from ctxc.compiler.allocate import Allocation, allocate, per_message, usable
from ctxc.compiler.authorise import authorise
from ctxc.compiler.capabilities import capability_finding, missing_capabilities, required_capabilities
from ctxc.compiler.collect import collect
from ctxc.compiler.endings import ended, exceeded, failed, without_model
from ctxc.compiler.fit import Fitted, fit
from ctxc.compiler.measure import Draft, Written, measure, write
from ctxc.compiler.memo import Memo
from ctxc.compiler.order import order, place
from ctxc.compiler.overrun import check_fragments
from ctxc.compiler.reconcile import reconcile
from ctxc.compiler.render import render
from ctxc.compiler.resolve import resolve
from ctxc.compiler.routing import FragmentIndex, matches, route_key
from ctxc.compiler.select import select
from ctxc.compiler.snapshot import invalid_snapshot, snapshot
from ctxc.compiler.stage import Options, Refused, Request
from ctxc.compiler.trail import Trail
from ctxc.compiler.verify import count_request, verify
from ctxc.compiler.wrappers import Wrapper, wrapper, wrapper_ids
from ctxc.model.counting import Count, CountPart, Tokenizer
from ctxc.model.finding import Finding
from ctxc.model.fixture import Fixture
from ctxc.model.package import Outcome, Package, Placed
from ctxc.model.project import Project
from ctxc.model.provider import TokenizerRef
from ctxc.model.request import Rendered
from ctxc.model.section import Kind, Section
from ctxc.providers.port import Shape

_ROUNDS = 8
"""Attempts to fit before everything optional is left out; each round corrects the overhead by what was measured."""

_AHEAD = 256
_AHEAD_CHARACTERS = 2_000_000
"""Fixtures, and characters of their texts, that are written before they are counted together."""


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
        self._memo = Memo()

    def compile(self, fixture: Fixture) -> Package:
        """The package of one fixture. Wrong sources are an outcome (``invalid``) with findings, never an exception."""
        begun = self._begin(fixture)
        return begun if isinstance(begun, Package) else self._finish(begun)

    def compile_all(self, fixtures: Iterable[Fixture]) -> Iterator[Package]:
        """The packages of fixtures, in their order. Their texts are counted some fixtures ahead, many at once, so
        that the vocabulary stays at hand."""
        waiting: list[Package | _Begun] = []
        size = 0
        for fixture in fixtures:
            begun = self._begin(fixture)
            waiting.append(begun)
            size += 0 if isinstance(begun, Package) else sum(len(p) for w in begun.written for p in w.pieces)
            if size >= _AHEAD_CHARACTERS or len(waiting) >= _AHEAD:
                yield from self._finish_all(waiting)
                waiting, size = [], 0
        yield from self._finish_all(waiting)

    def _finish_all(self, waiting: Sequence[Package | _Begun]) -> Iterator[Package]:
        lanes: dict[int, tuple[Tokenizer, list[str]]] = {}
        for begun in waiting:
            if isinstance(begun, _Begun):
                tokenizer = begun.request.tokenizer
                _, texts = lanes.setdefault(id(tokenizer), (tokenizer, []))
                texts.extend(piece for w in begun.written for piece in w.pieces)
        for tokenizer, texts in lanes.values():
            tokenizer.count_many(texts)  # remembered, so that each fixture finds its own
        for begun in waiting:
            yield begun if isinstance(begun, Package) else self._finish(begun)

    def _begin(self, fixture: Fixture) -> Package | _Begun:
        try:
            request = resolve(
                self.project,
                fixture,
                tokenizers=self._tokenizers,
                shapes=self._shapes,
                options=self.options,
                memo=self._memo,
            )
            return _begin(request, self.index)
        except Refused as refused:
            return self._invalid(fixture, refused.findings)

    def _finish(self, begun: _Begun) -> Package:
        try:
            return _finish(begun)
        except Refused as refused:
            return self._invalid(begun.request.fixture, refused.findings)

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


@dataclass(frozen=True, slots=True, kw_only=True)
class _Begun:
    """A fixture whose sections are selected and written; what follows needs their tokens."""

    request: Request
    trail: Trail
    key: str
    block_form: Wrapper
    sections: tuple[Section, ...]
    written: tuple[Written, ...]


def _begin(request: Request, index: FragmentIndex) -> Package | _Begun:
    routed = index.candidates(request.fixture.route)
    key = route_key(routed)
    trail = Trail(request)
    answer = _deterministic(request)
    if answer is not None:
        return without_model(request, trail, *answer, key)
    missing = missing_capabilities(request)
    if missing:
        return ended(request, trail, Outcome.CAPABILITY_MISSING, key, findings=(capability_finding(request, missing),))
    block_form = _wrapper(request)
    sections = trail.take(collect(request, index, routed))
    sections = trail.take(authorise(request, sections))
    sections = trail.take(reconcile(request, sections))
    sections = trail.take(select(request, sections))
    return _Begun(
        request=request,
        trail=trail,
        key=key,
        block_form=block_form,
        sections=sections,
        written=write(request, sections, block_form),
    )


def _finish(begun: _Begun) -> Package:
    request, trail, key, block_form = begun.request, begun.trail, begun.key, begun.block_form
    drafts = _with_calls(request, measure(request, begun.sections, begun.written))
    check_fragments(request, drafts)
    fitted = _fitted(request, drafts, block_form)
    if isinstance(fitted, Allocation):
        return exceeded(request, trail, drafts, fitted, key)
    result, ordered, rendered, count = fitted
    trail.dropped.extend(result.dropped)
    trail.decisions.extend(result.decisions)
    trail.unloaded(result.dropped)
    verified = verify(request, ordered, rendered, count, block_form)
    placed = place(ordered, rendered.placed)
    if verified.problems:
        return ended(
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
                    at=at,
                    fixture=request.fixture.id,
                    help="mend the input that the message names"
                    if at is request.fixture.origin
                    else "change the schema of the output contract",
                )
                for problem in verified.problems
                for at in (_cause(request, placed, problem),)
            ),
        )
    expectations = expect.check(
        request.fixture,
        Outcome.COMPILED,
        placed,
        trail.dropped,
        count,
        (leaf.text for leaf in request.shape.read_back(rendered.request))
        if expect.asks_for_text(request.fixture.expect)
        else (),
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
        findings=failed(request, expectations),
        count=count,
        renamed_tools=rendered.renamed,
        dependencies=trail.paths(),
        route_key=key,
    )


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
                at=request.template.at("renderer"),
                fixture=request.fixture.id,
                help="known: " + ", ".join(wrapper_ids()),
            )
        ) from None


def _deterministic(request: Request) -> tuple[str, str] | None:
    """The reply of the first route that needs no model, and what makes the fixture's route that one; or None."""
    for rule in request.template.deterministic:
        conditions: Mapping[str, tuple[str, ...]] = rule["when"]
        if matches(conditions, request.fixture.route):
            why = ", ".join(f"{key} is {' or '.join(values)}" for key, values in conditions.items())
            return str(rule.get("reply", "")), why
    return None


def _fitted(
    request: Request, drafts: Mapping[str, Draft], block_form: Wrapper
) -> Allocation | tuple[Fitted, tuple[Draft, ...], Rendered, Count]:
    """What fits, rendered and counted; or the allocation that shows why the required part does not."""
    framing = 3 + 2 * per_message(request)
    measured = False
    found: tuple[Fitted, tuple[Draft, ...], Rendered, Count] | None = None
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
            better = result, _recounted(ordered, rendered, count), rendered, count
            if measured or attempt == _ROUNDS or not _leaves_room(request, result, count):
                return better
            found = better
        elif found is not None:
            return found
        # The guess was too low, or so high that it kept something out: once more, with what was measured.
        framing = _framing_of(request, ordered, count)
        measured = True
    raise InternalFault(f"fixture {request.fixture.id!r}: the required part fits alone and not in the request")


def _leaves_room(request: Request, result: Fitted, count: Count) -> bool:
    """Whether something that the budget kept out is no larger than what is left of it."""
    left = request.limits.available - count.upper
    return any(d.reason == "budget" and d.tokens is not None and d.tokens <= left for d in result.dropped)


def _with_calls(request: Request, drafts: dict[str, Draft]) -> dict[str, Draft]:
    """The drafts with the tokens of tool calls as the shape writes them, before bounds are held against them."""
    asked = [d for d in drafts.values() if d.section.messages and any(m.tool_calls for m in d.section.messages)]
    if not asked:
        return drafts
    calling = order(request, asked)
    rendered = render(request, calling)
    recounted = _recounted(calling, rendered, count_request(request, rendered))
    return drafts | {d.section.section_id: d for d in recounted}


def _recounted(drafts: Sequence[Draft], rendered: Rendered, count: Count) -> tuple[Draft, ...]:
    """The drafts with the tokens of tool calls as the shape wrote them: some send arguments as data."""
    if not any(m.tool_calls for d in drafts if d.section.messages for m in d.section.messages):
        return tuple(drafts)
    below = _parts_below(count)
    found: list[Draft] = []
    for draft in drafts:
        if any(m.tool_calls for m in draft.section.messages):
            places = rendered.placed.get(draft.section.section_id, ())
            inside = {number for place in places for number in below.get(place, ())}
            if inside:
                draft = replace(draft, tokens=sum(count.parts[number].tokens for number in inside))
        found.append(draft)
    return tuple(found)


def _parts_below(count: Count) -> dict[str, list[int]]:
    """Numbers of the parts at or below each place of the request."""
    found: dict[str, list[int]] = {}
    for number, part in enumerate(count.parts):
        # A part at the message itself is its framing, which belongs to the overhead of the whole.
        place = part.pointer if _is_inside(part) else ""
        while place:
            found.setdefault(place, []).append(number)
            place = place.rpartition("/")[0]
    return found


def _is_inside(part: CountPart) -> bool:
    return part.pointer.count("/") > 2


def _measured_framing(request: Request, drafts: Sequence[Draft]) -> int:
    return _framing_of(request, drafts, count_request(request, render(request, drafts)))


def _framing_of(request: Request, drafts: Sequence[Draft], count: Count) -> int:
    """What a request takes beyond its sections, each counted alone with the framing of its messages.

    With it, what fits by its sections fits as a whole, unless other sections take more framing.
    """
    alone = sum(d.tokens + d.messages * per_message(request) for d in drafts)
    # The band may be wider than the model's own (tool framing): what is over the usable part counts as framing.
    slack = max(0, count.upper - count.tokens - (request.limits.available - usable(request)))
    return count.tokens - alone + slack


_TEXTS = ("system", "messages", "input", "contents", "instructions", "systemInstruction")
"""Members of requests that hold texts; a contract's own text is not what a provider finds wrong with its schema."""


def _cause(request: Request, placed: Iterable[Placed], problem: str) -> Origin:
    """Where it can be mended that a provider would refuse a request: the contract's schema, or else the fixture."""
    pointer = problem.partition(": ")[0]
    for p in placed:
        if p.section.kind is not Kind.CONTRACT or request.contract is None:
            continue
        for field in p.pointers:
            if field.split("/")[1] not in _TEXTS and (pointer == field or pointer.startswith(f"{field}/")):
                return request.contract.origin.child("schema")
    return request.fixture.origin


__all__ = ["Compiler", "Options"]
