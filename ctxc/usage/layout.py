"""A request as the blocks that a cache compares, each with its tokens and the length of the prefix that ends with it.

The tokens of a block are those parts of the request's count that stand at its place, so that the lengths of all
prefixes end in the counted total. Where the protocol's own tokens stand (in front of a message, behind it, at the end
of the request) is data of the row's framing: ``per_message_close``, ``frame_tail``, ``tools.front`` and
``tools.hidden``; what is not stated stands in front.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field
from typing import Any

from ctxc.base.values import dataclass
from ctxc.model.counting import Count, Tokenizer
from ctxc.model.provider import ModelRow
from ctxc.model.request import Segment
from ctxc.model.usage import Block, Layout
from ctxc.providers.port import Shape
from ctxc.usage.settings import settings_of

_HOLDERS = ("messages", "contents", "input")
_IMAGE = frozenset({"image", "image_url", "input_image"})


def lay_out(
    request: Mapping[str, Any],
    shape: Shape,
    row: ModelRow,
    tokenizer: Tokenizer,
    *,
    count: Count | None = None,
    segments: Sequence[Segment] | None = None,
) -> Layout:
    """The layout of a request of any origin; ``segments`` and ``count`` are those of a compile, where there was one.

    Segments of a compile carry section ids; a raw request's are named by their place.
    """
    counted = count if count is not None else shape.count(request, tokenizer, row)
    parts = segments if segments is not None else shape.segments(request)
    drafts = _drafts(parts, request)
    total = _spread(drafts, counted, request, row)
    blocks: list[Block] = []
    before = 0
    for index, draft in enumerate(drafts):
        end = before + draft.opening + draft.tokens
        closed = end + draft.closing
        first, final = draft.segments[0], draft.segments[-1]
        blocks.append(
            Block(
                index=index,
                id=final.id,
                pointer=draft.pointer,
                zone=first.zone,
                wire="".join(s.wire for s in draft.segments),
                tokens=draft.opening + draft.tokens,
                end=end,
                closed=closed,
                mark=next((s.mark for s in reversed(draft.segments) if s.mark), ""),
                stable=all(s.stable for s in draft.segments),
                message=draft.message,
                role=draft.role,
                last=index + 1 == len(drafts) or drafts[index + 1].message != draft.message,
                kind=draft.kind,
                segments=tuple(draft.segments),
            )
        )
        before = closed
    return Layout(
        blocks=tuple(blocks),
        settings=settings_of(request),
        total=total,
        method=counted.method,
        tokenizer=counted.tokenizer,
        error_low_bp=counted.error_low_bp,
        error_high_bp=counted.error_high_bp,
        automatic=_automatic(request),
        mode=_text(_map(request.get("prompt_cache_options")).get("mode")),
        resource=_text(request.get("cachedContent") or request.get("cached_content")),
        request=request,
    )


@dataclass(slots=True, kw_only=True)
class _Draft:
    pointer: str
    message: str
    role: str
    kind: str
    segments: list[Segment] = field(default_factory=list)
    tokens: int = 0
    opening: int = 0
    closing: int = 0


def _drafts(segments: Sequence[Segment], request: Mapping[str, Any]) -> list[_Draft]:
    """Segments gathered into positions: the texts inside one tool result are one, and what shares a pointer is one."""
    values = _Values(request)
    found: list[_Draft] = []
    for segment in segments:
        if segment.zone == "settings":
            continue
        pointer = position_of(segment.pointer)
        if found and found[-1].pointer == pointer:
            found[-1].segments.append(segment)
            continue
        message = _message_of(pointer)
        value = values[pointer]
        found.append(
            _Draft(
                pointer=pointer,
                message=message,
                role=_role(values[message] if message else None, value, segment.zone),
                kind=_kind(value),
                segments=[segment],
            )
        )
    return found


def position_of(pointer: str) -> str:
    """The pointer of the block that a place lies in: a content block of a message, else the place itself."""
    parts = pointer.split("/")
    if len(parts) > 2 and parts[1] in _HOLDERS:
        return "/".join(parts[:5])
    return pointer


def _message_of(pointer: str) -> str:
    parts = pointer.split("/")
    if len(parts) > 2 and parts[1] in _HOLDERS:
        return "/".join(parts[:3])
    return pointer if parts[1:2] and parts[1] not in ("tools", "toolConfig") else ""


def _role(message: object, block: object, zone: str) -> str:
    holder = _map(message)
    role = _text(holder.get("role"))
    if role:
        return "tool" if _is_result(block) else role
    if holder.get("type") == "function_call_output":
        return "tool"
    if holder.get("type") == "function_call":
        return "assistant"
    return {"system": "system", "tools": ""}.get(zone, "user")


def _is_result(value: object) -> bool:
    block = _map(value)
    return block.get("type") == "tool_result" or isinstance(block.get("toolResult"), Mapping)


def _kind(value: object) -> str:
    block = _map(value)
    kind = _text(block.get("type"))
    if not kind:
        kind = "text" if isinstance(value, str) or "text" in block else next((str(k) for k in block), "text")
    return "image" if kind in _IMAGE else kind


def _spread(drafts: list[_Draft], count: Count, request: Mapping[str, Any], row: ModelRow) -> int:
    """Give each part of a count its block; the sum of all blocks and the tail is the count. Returns the count."""
    if not drafts:
        return count.tokens
    framing = _map(row.framing)
    close = _int(framing.get("per_message_close"))
    tail = _int(framing.get("frame_tail"))
    by_pointer = {d.pointer: d for d in drafts}
    last_of: dict[str, _Draft] = {}
    first_of: dict[str, _Draft] = {}
    for draft in drafts:
        if draft.message:
            first_of.setdefault(draft.message, draft)
            last_of[draft.message] = draft
    spoken = next((d for d in drafts if d.segments[0].zone == "messages"), drafts[-1])
    for part in count.parts:
        if part.pointer in ("/tools", "/toolConfig/tools"):
            tools = _map(framing.get("tools"))
            # What a provider hides it neither caches nor reports as cached: it belongs to no prefix.
            shown = part.tokens - min(_int(tools.get("hidden")), max(part.tokens, 0))
            front = min(_int(tools.get("front"), shown), shown)
            drafts[0].opening += front
            spoken.opening += shown - front
            continue
        if part.pointer in first_of:
            # What a message costs by itself: most of it stands in front of its first block.
            closing = min(close, part.tokens)
            first_of[part.pointer].opening += part.tokens - closing
            last_of[part.pointer].closing += closing
        elif not part.pointer:
            # The frame of the whole: its tail opens the answer and follows the last block.
            spoken.opening += part.tokens - min(tail, part.tokens) if "frame_tail" in framing else 0
        elif (home := by_pointer.get(position_of(part.pointer)) or _inside(part.pointer, drafts)) is not None:
            home.tokens += part.tokens
        else:
            _first_after(part.pointer, drafts, spoken).opening += part.tokens
    return count.tokens


def _inside(pointer: str, drafts: Sequence[_Draft]) -> _Draft | None:
    """The block that a place lies in or that lies in the place, where neither is a message as a whole."""
    for draft in drafts:
        if pointer.startswith(draft.pointer + "/"):
            return draft
    return next((d for d in drafts if d.pointer.startswith(pointer + "/") and d.message != pointer and pointer), None)


def _first_after(pointer: str, drafts: Sequence[_Draft], spoken: _Draft) -> _Draft:
    """Where the cost of a setting stands: an output format before the system text, anything else before the turns."""
    if "ormat" in pointer or "ystem" in pointer:
        return next((d for d in drafts if d.segments[0].zone == "system"), spoken)
    return spoken


def _automatic(request: Mapping[str, Any]) -> str:
    mark = request.get("cache_control")
    if not isinstance(mark, Mapping):
        return ""
    return _text(mark.get("ttl")) or "default"


class _Values:
    """Values of a request by their JSON pointers; what leads to a value is looked up once."""

    __slots__ = ("_known",)

    def __init__(self, request: Mapping[str, Any]) -> None:
        self._known: dict[str, Any] = {"": request}

    def __getitem__(self, pointer: str) -> Any:
        if pointer in self._known:
            return self._known[pointer]
        parent, _, token = pointer.rpartition("/")
        here = self[parent] if parent != pointer else None
        value: Any = None
        if isinstance(here, Mapping):
            value = here.get(token.replace("~1", "/").replace("~0", "~"))
        elif isinstance(here, (list, tuple)) and token.isdigit() and int(token) < len(here):
            value = here[int(token)]
        self._known[pointer] = value
        return value


def _map(value: object) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""


def _int(value: object, default: int = 0) -> int:
    return value if type(value) is int else default
