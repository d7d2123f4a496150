"""Stage verify: the finished request is counted and looked at, whatever the stages before it believed.

Counts: the whole request, by the shape's own formula; what is over the budget never gets here. Structure: everything
that was rendered has a place in the request, every block is its header, one JSON value and its own end, no untrusted
text in the system or tools zone, and whatever the provider itself would refuse (pairing, names, limits, marks).
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from ctxc.base.errors import InternalFault
from ctxc.base.values import dataclass
from ctxc.compiler.measure import Draft
from ctxc.compiler.stage import Request
from ctxc.compiler.wrap import is_native, is_verbatim
from ctxc.compiler.wrappers import Wrapper
from ctxc.model.counting import Count
from ctxc.model.request import Rendered
from ctxc.model.section import Authority, Kind, Zone

STAGE = "verify"


@dataclass(frozen=True, slots=True, kw_only=True)
class Verified:
    """The count of the whole request, its overhead over the sections, and what the provider would refuse."""

    count: Count
    overhead: int
    problems: tuple[str, ...]


def count_request(request: Request, rendered: Rendered) -> Count:
    """Tokens of the whole request as it will be sent."""
    return request.shape.count(rendered.request, request.tokenizer, request.row)


def verify(request: Request, drafts: Sequence[Draft], rendered: Rendered, count: Count, wrapper: Wrapper) -> Verified:
    """The verdict on a finished request; raises InternalFault where a promise of the compiler itself is broken."""
    for draft in drafts:
        _check_block(request, draft, rendered.placed, wrapper)
    return Verified(
        count=count,
        overhead=count.tokens - sum(d.tokens for d in drafts),
        problems=tuple(request.shape.check(rendered.request, request.provider, request.row)),
    )


def _check_block(request: Request, draft: Draft, placed: Mapping[str, Sequence[str]], wrapper: Wrapper) -> None:
    section = draft.section
    if section.authority >= Authority.T3 and section.zone in (Zone.SYSTEM, Zone.TOOLS):
        raise InternalFault(f"untrusted section {section.section_id!r} in the {section.zone.value} zone")
    if (draft.rendered or section.messages or section.tools) and section.section_id not in placed:
        raise InternalFault(f"section {section.section_id!r} was rendered and is not in the request")
    if is_native(section) or is_verbatim(section) or not draft.rendered or section.kind is Kind.CONTRACT:
        return
    lines = draft.rendered.split("\n")
    kind = "summary" if section.attributes.get("summary") else str(section.kind)
    if len(lines) != 3 or lines[1] != draft.content or lines[2] != wrapper.close(kind):
        raise InternalFault(f"the block of section {section.section_id!r} has more than header, body and end")
    if decoded(draft.content) is None and draft.content != "null":
        raise InternalFault(f"the body of section {section.section_id!r} does not decode")


def decoded(content: str) -> Any:
    """The data that a block's body carries; None where it is not JSON."""
    try:
        return json.loads(content)
    except ValueError:
        return None
