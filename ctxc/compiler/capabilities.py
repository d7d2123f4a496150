"""What a request asks of an interface and a model, matched before anything is rendered."""

from __future__ import annotations

from collections.abc import Sequence

from ctxc.compiler import faults
from ctxc.compiler.measure import Draft
from ctxc.compiler.stage import Request
from ctxc.model.finding import Finding
from ctxc.model.section import Kind


def required_capabilities(request: Request, drafts: Sequence[Draft] = ()) -> tuple[str, ...]:
    """What the request asks of an interface and a model, sorted; without drafts what the template and the fixture
    would have made it ask."""
    needed = {"chat"}
    if not drafts and _wants_tools(request):
        needed.add("tools")
    if request.contract is not None and request.contract_in_field:
        needed.add("json_schema")
    if any(d.section.tools for d in drafts) or request.toolset is not None:
        needed.add("tools")
    if any(d.section.messages and any(m.tool_calls for m in d.section.messages) for d in drafts):
        needed.add("tools")
    return tuple(sorted(needed))


def missing_capabilities(request: Request) -> tuple[str, ...]:
    """What the template needs and the interface or the model cannot carry; known before anything is rendered."""
    have = request.shape.capabilities & (request.row.capabilities | {"history", "system"})
    return ("tools",) if _wants_tools(request) and "tools" not in have else ()


def _wants_tools(request: Request) -> bool:
    """Whether the template defines tools, or the fixture's history calls some."""
    return (
        request.toolset is not None
        or any(s.kind is Kind.TOOLS and s.source not in ("toolset", "") for s in request.template.sections)
        or any(m.tool_calls for m in request.fixture.inputs.history)
    )


def capability_finding(request: Request, missing: Sequence[str]) -> Finding:
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
