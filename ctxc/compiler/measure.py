"""Drafts: sections with their rendered text and its tokens, counted alone, with wrapper and joiner."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ctxc.base.values import dataclass
from ctxc.compiler.stage import Request
from ctxc.compiler.wrap import block, body, is_native, json_text
from ctxc.compiler.wrappers import JOINER, Wrapper
from ctxc.model.request import Part, RenderPlan
from ctxc.model.section import Kind, Message, Section
from ctxc.providers import scaled_counts


@dataclass(frozen=True, slots=True, kw_only=True)
class Draft:
    """A section as it would be rendered.

    ``tokens`` counts the rendered span with wrapper and joiner alone; ``messages`` how many messages of the provider's
    it opens, whose framing belongs to the overhead of the whole request.
    """

    section: Section
    content: str
    rendered: str
    tokens: int
    messages: int = 0
    truncated: bool = False
    verdict: str = "kept"
    strategy: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Written:
    """A section as it would be rendered, not counted yet; ``pieces`` are the texts that are counted."""

    section: Section
    content: str
    rendered: str
    pieces: Sequence[str]


def write(request: Request, sections: Sequence[Section], wrapper: Wrapper) -> tuple[Written, ...]:
    """The sections of which no draft is known from another fixture."""
    return tuple(_written(request, s, wrapper) for s in sections if id(s) not in request.lane.drafts)


def _written(request: Request, section: Section, wrapper: Wrapper) -> Written:
    content = content_of(request, section)
    rendered = rendered_of(request, section, content, wrapper)
    return Written(section=section, content=content, rendered=rendered, pieces=_pieces(section, rendered))


def measure(request: Request, sections: Sequence[Section], written: Sequence[Written]) -> dict[str, Draft]:
    """A draft of each section by id; all texts are counted in one batch."""
    known = request.lane.drafts
    fresh: dict[int, Draft] = {}
    texts = [piece for w in written for piece in w.pieces]
    counts = iter(scaled_counts(texts, request.tokenizer.count_many(texts), request.tokenizer, request.row))
    for one in written:
        tokens = sum(next(counts) for _ in one.pieces)
        fresh[id(one.section)] = draft = _draft(request, one, tokens)
        if request.memo.is_fixed(one.section):
            known[id(one.section)] = draft
    return {s.section_id: fresh.get(id(s)) or known[id(s)] for s in sections}


def _draft(request: Request, written: Written, tokens: int) -> Draft:
    section = written.section
    if section.kind is Kind.TOOLS or (section.kind is Kind.CONTRACT and request.contract_in_field):
        tokens += provider_tokens(request, section)
    return Draft(
        section=section,
        content=written.content,
        rendered=written.rendered,
        tokens=tokens,
        messages=_messages(section),
    )


def content_of(request: Request, section: Section) -> str:
    """The body of a section before it is wrapped; empty for what has a place of its own."""
    if section.messages or section.kind is Kind.TOOLS:
        return ""
    if section.kind is Kind.USER:
        return section.text if not section.has_value else body(section)
    if section.kind is Kind.CONTRACT and request.contract is not None and section.has_value:
        return contract_text(request)
    return body(section)


def contract_text(request: Request) -> str:
    """What the system text says about the contract: all of it, or only what the provider's field cannot say."""
    contract = request.contract
    assert contract is not None
    lines = []
    if contract.description:
        lines.append(contract.description)
    if not request.contract_in_field:
        lines.append("Answer with one JSON value that satisfies this JSON Schema:")
        lines.append(json_text(contract.schema))
    if contract.refusal:
        lines.append(contract.refusal.get("say") or _refusal(contract.refusal))
    if contract.citations:
        lines.append(contract.citations.get("say") or _citations(contract.citations))
    return "\n".join(lines)


def _refusal(refusal: Mapping[str, Any]) -> str:
    place = refusal.get("field")
    return (
        "When it cannot be answered"
        + (f", `{place}` says: " if place else ", say: ")
        + json_text(refusal.get("text", ""))
    )


def _citations(citations: Mapping[str, Any]) -> str:
    rule = f"`{citations.get('field', 'citations')}` lists the ids of the evidence that supports the answer"
    return rule + ("; only ids that stand in this request." if citations.get("must_exist") else ".")


def rendered_of(request: Request, section: Section, content: str, wrapper: Wrapper) -> str:
    """The text that is sent for a section (for a conversation and tools: none, as they have no content here)."""
    if section.kind is Kind.USER or not content:
        return content
    return block(wrapper, section, content)


def _pieces(section: Section, rendered: str) -> list[str]:
    if section.messages:
        return [piece for m in section.messages for piece in message_pieces(m)]
    if not rendered:
        return []
    return [rendered if is_native(section) else rendered + JOINER]


def message_pieces(message: Message) -> list[str]:
    """Every text of a message that is counted: content, names and arguments of calls."""
    pieces = [message.content] if message.content else []
    for call in message.tool_calls:
        pieces.extend((call.name, call.arguments))
    return pieces


def _messages(section: Section) -> int:
    if section.messages:
        return len(section.messages)
    return 1 if section.kind in (Kind.USER, Kind.FOCUS) else 0


def provider_tokens(request: Request, section: Section) -> int:
    """Tokens that the request shape adds for tool definitions or for a contract in its own field.

    Measured on a request that holds nothing else, against one without it.
    """
    plan = RenderPlan(
        profile=request.provider,
        row=request.row,
        model=request.model,
        system=(Part(section_id="x", text="x"),),
        output_reserve=request.limits.output_reserve,
    )
    with_it = (
        RenderPlan(
            profile=plan.profile,
            row=plan.row,
            model=plan.model,
            system=plan.system,
            tools=section.tools,
            tools_section=section.section_id,
            output_reserve=plan.output_reserve,
        )
        if section.kind is Kind.TOOLS
        else RenderPlan(
            profile=plan.profile,
            row=plan.row,
            model=plan.model,
            system=plan.system,
            contract=request.contract,
            contract_section=section.section_id,
            output_reserve=plan.output_reserve,
        )
    )
    shape, tokenizer, row = request.shape, request.tokenizer, request.row
    more = shape.count(shape.render(with_it).request, tokenizer, row).tokens
    return more - shape.count(shape.render(plan).request, tokenizer, row).tokens
