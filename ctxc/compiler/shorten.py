"""Shortening one section for fit: cut by its strategy before it is wrapped, or replaced by a reference.

The limit holds for the rendered block, which is counted again after the cut: escapes make JSON longer than its text.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from ctxc.compiler.measure import Draft, message_pieces
from ctxc.compiler.stage import Request
from ctxc.compiler.truncate import truncate_json, truncate_text
from ctxc.compiler.wrap import block, body, json_text, reference
from ctxc.compiler.wrappers import JOINER, Wrapper
from ctxc.model.section import Kind, Message, Section, Strategy
from ctxc.providers import scaled_counts

SMALLEST = 24
"""Tokens of content below which a cut says nothing any more."""

_SMALLEST_BLOCK = 16
"""Tokens that even the shortest header and end of a block take: below, trying is a waste."""

_ATTEMPTS = 5


def shorten(request: Request, draft: Draft, space: int, wrapper: Wrapper) -> Draft | None:
    """A shorter draft of at most ``space`` tokens, or None where the section may only be whole or absent."""
    section = draft.section
    if space < SMALLEST + _SMALLEST_BLOCK:
        return None
    if section.messages:
        return _messages(request, draft, space)
    action = section.overflow.action
    found: Draft | None = None
    if action == "cut":
        found = _cut(request, draft, space, wrapper)
    if found is None and (action == "reference" or (action == "cut" and section.kind is Kind.TOOL_RESULT)):
        found = _reference(request, draft, space, wrapper)
    return found


def count(request: Request, text: str) -> int:
    """Tokens of a text under the model's calibration, rounded up."""
    return scaled_counts([text], [request.tokenizer.count(text)], request.tokenizer, request.row)[0]


def _base(request: Request, tokens: int) -> int:
    """Tokens of the base vocabulary that about fit into calibrated tokens; what is cut by it is counted again."""
    return tokens * 10_000 // request.row.tokenizer.factor_bp


def _cut(request: Request, draft: Draft, space: int, wrapper: Wrapper) -> Draft | None:
    section = draft.section
    strategy = section.overflow.strategy or Strategy.TAIL
    empty = count(request, block(wrapper, section, body(section, text="", cut=True)) + JOINER)
    limit = space - empty
    for _ in range(_ATTEMPTS):
        if limit < SMALLEST:
            return None
        found = _shorter(request, section, _base(request, limit), strategy)
        if found is None:
            return None
        content, applied = found
        rendered = block(wrapper, section, content)
        tokens = count(request, rendered + JOINER)
        if tokens <= space:
            return replace(
                draft,
                content=content,
                rendered=rendered,
                tokens=tokens,
                truncated=True,
                verdict="cut",
                strategy=applied.value,
            )
        limit -= max(tokens - space, limit // 10)
    return None


def _shorter(request: Request, section: Section, limit: int, strategy: Strategy) -> tuple[str, Strategy] | None:
    """The body of a block whose content was cut to about ``limit`` tokens, and by which strategy in the end; None
    where only the mark would be left."""
    if section.has_value or strategy is Strategy.JSON:
        value = section.value if section.has_value else _parsed(section.text)
        if value is not None:
            cut = truncate_json(value, limit, request.tokenizer, render=lambda v: body(section, value=v, cut=True))
            kept = cut.fits and "" not in cut.removed
            return (body(section, value=cut.value, cut=True), Strategy.JSON) if kept else None
        strategy = Strategy.MIDDLE  # not JSON after all: keep both ends
    if strategy is Strategy.ROLE:
        strategy = Strategy.HEAD  # a text has no roles: the newest part is its end
    text = truncate_text(section.text, limit, strategy, request.tokenizer, keep=_support(section))
    kept = text.fits and bool(text.kept_ranges)
    return (body(section, text=text.text, cut=True), strategy) if kept else None


def _support(section: Section) -> tuple[str, ...]:
    """Spans that evidence has to keep: what it is said to support, and its citation id."""
    record = section.attributes.get("record")
    if record is None:
        return ()
    claims = record.attributes.get("supported_claims") or ()
    spans = [c for c in claims if isinstance(c, str)] if isinstance(claims, (list, tuple)) else []
    return tuple(s for s in (*spans, record.claim, record.id) if s)


def _parsed(text: str) -> Any:
    stripped = text.strip()
    if not stripped.startswith(("{", "[")):
        return None
    try:
        return json.loads(stripped)
    except ValueError:
        return None


def _reference(request: Request, draft: Draft, space: int, wrapper: Wrapper) -> Draft | None:
    found = reference(draft.section)
    if found is None:
        return None
    content = json_text(found)
    rendered = block(wrapper, draft.section, content)
    tokens = count(request, rendered + JOINER)
    if tokens > space or tokens >= draft.tokens:
        return None
    return replace(
        draft,
        content=content,
        rendered=rendered,
        tokens=tokens,
        truncated=True,
        verdict="referenced",
        strategy="reference",
    )


def _messages(request: Request, draft: Draft, space: int) -> Draft | None:
    """A call with its results, the results cut: status, structure and both ends stay."""
    messages = draft.section.messages
    results = [m for m in messages if m.role == "tool" and m.content]
    if not results or draft.section.required:
        return None
    fixed = draft.tokens - sum(count(request, p) for m in results for p in message_pieces(m))
    share = (space - fixed) // len(results)
    if share < SMALLEST:
        return None
    shorter = tuple(_result(request, m, _base(request, share)) if m in results else m for m in messages)
    written = draft.tokens - _total(request, messages)  # what the request's shape adds to the texts of the calls
    tokens = _total(request, shorter) + max(0, written)
    if tokens > space or shorter == messages:
        return None
    return replace(
        draft,
        section=replace(draft.section, messages=shorter),
        tokens=tokens,
        truncated=True,
        verdict="cut",
        strategy="role",
    )


def _result(request: Request, message: Message, limit: int) -> Message:
    value = _parsed(message.content)
    if value is not None:
        as_json = truncate_json(value, limit, request.tokenizer)
        if as_json.fits:
            return replace(message, content=as_json.text) if as_json.cut else message
    cut = truncate_text(message.content, limit, Strategy.MIDDLE, request.tokenizer)
    return replace(message, content=cut.text) if cut.fits else message


def _total(request: Request, messages: Sequence[Message]) -> int:
    return sum(count(request, p) for m in messages for p in message_pieces(m))
