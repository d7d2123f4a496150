"""Stage render: ordered drafts become a plan, and the request shape makes the provider's request of it.

Cache marks stand after the sections that the template names as ``checkpoints``, else at the end of the stable prefix.
A mark costs nothing where a provider has no marks: the shape leaves it out.
"""

from __future__ import annotations

from collections.abc import Sequence

from ctxc.compiler.measure import Draft
from ctxc.compiler.order import is_stable
from ctxc.compiler.stage import Request
from ctxc.compiler.wrap import is_native
from ctxc.compiler.wrappers import JOINER
from ctxc.model.request import Part, Rendered, RenderPlan, Turn
from ctxc.model.section import Kind, Message, Tool, Zone

STAGE = "render"

MARK = "default"
"""The time to live of a mark: the provider's own default."""


def render(request: Request, drafts: Sequence[Draft]) -> Rendered:
    """The provider request of some drafts, already in order."""
    return request.shape.render(plan(request, drafts))


def plan(request: Request, drafts: Sequence[Draft]) -> RenderPlan:
    """What is to be sent, in order, still with its section ids."""
    marks = _marks(request, drafts)
    system: list[Part] = []
    turns: list[Turn] = []
    tools: tuple[Tool, ...] = ()
    tools_section = contract_section = ""
    tools_stable = True
    data: list[Draft] = []

    def flush() -> None:
        if data:
            turns.append(_data_turn(data, marks))
            data.clear()

    for draft in drafts:
        section = draft.section
        if section.kind is Kind.CONTRACT:
            contract_section = section.section_id
        if section.kind is Kind.TOOLS:
            tools, tools_section, tools_stable = section.tools, section.section_id, is_stable(section)
        elif section.zone is Zone.SYSTEM:
            if draft.rendered:
                system.append(_part(draft, marks))
        elif section.messages:
            flush()
            turns.extend(_turn(section.section_id, m) for m in section.messages)
        elif section.kind is Kind.USER:
            flush()
            turns.append(Turn(role="user", parts=(_part(draft, marks),), section_id=section.section_id))
        elif section.kind is Kind.FOCUS:
            flush()
            turns.append(Turn(role="system", parts=(_part(draft, marks),), section_id=section.section_id))
        else:
            data.append(draft)
    flush()
    return RenderPlan(
        profile=request.provider,
        row=request.row,
        model=request.model,
        system=tuple(system),
        turns=tuple(turns),
        tools=tools,
        tools_section=tools_section,
        tools_stable=tools_stable,
        tools_mark=MARK if tools_section in marks else "",
        contract=request.contract if contract_section and request.contract_in_field else None,
        contract_section=contract_section,
        output_reserve=request.limits.output_reserve,
        tenant=request.fixture.principal.tenant if request.fixture.principal else "",
    )


def _part(draft: Draft, marks: frozenset[str]) -> Part:
    section = draft.section
    return Part(
        section_id=section.section_id,
        text=draft.rendered,
        stable=is_stable(section),
        mark=MARK if section.section_id in marks else "",
        safe=not is_native(section),
    )


def _data_turn(drafts: Sequence[Draft], marks: frozenset[str]) -> Turn:
    """Task, state and data blocks share one user message; every block but the last carries the joiner."""
    last = len(drafts) - 1
    parts = tuple(
        Part(
            section_id=d.section.section_id,
            text=d.rendered if number == last else d.rendered + JOINER,
            stable=False,
            mark=MARK if d.section.section_id in marks else "",
            safe=True,
        )
        for number, d in enumerate(drafts)
    )
    return Turn(role="user", parts=parts, section_id=drafts[0].section.section_id)


def _turn(section_id: str, message: Message) -> Turn:
    return Turn(
        role="user" if message.role in ("system", "developer") else message.role,
        parts=(Part(section_id=section_id, text=message.content),) if message.content else (),
        name=message.name,
        tool_calls=message.tool_calls,
        tool_call_id=message.tool_call_id,
        is_error=message.is_error,
        section_id=section_id,
    )


def _marks(request: Request, drafts: Sequence[Draft]) -> frozenset[str]:
    """Section ids after which a cache mark stands: of a slot, its last section."""
    last: dict[str, str] = {}
    stable_end = ""
    for draft in drafts:
        section = draft.section
        last[section.slot] = section.section_id
        if "fragment" in section.attributes:
            last[section.attributes["fragment"].kind] = section.section_id
        if is_stable(section) and (draft.rendered or section.tools):
            stable_end = section.section_id
    if request.template.checkpoints:
        return frozenset(last[c] for c in request.template.checkpoints if c in last)
    return frozenset({stable_end} if stable_end else ())
