"""A promise of the compiler that a stage before verify breaks is a fault, never a request."""

from __future__ import annotations

from dataclasses import replace

import pytest
from world import compiled, evidence, fixture, project, spec, user

from ctxc.base.errors import InternalFault
from ctxc.compiler import pipeline
from ctxc.model.contract import RequestProfile, ToolSet
from ctxc.model.section import Authority, Tool, Zone

TOOL = Tool(name="find", description="Find a claim.", input_schema={"type": "object", "properties": {}})


def world():
    made = project(
        sections=[spec("tools"), spec("history"), spec("evidence", source="retrieval")],
        toolset=ToolSet(id="claims", version="1", tools=(TOOL,)),
        profile=RequestProfile(id="desk", version="1", toolset="claims"),
    )
    asked = fixture(user="hi", history=[user("before")], summary="Asked once.", evidence=[evidence("E", "a fact")])
    return made, asked


def change(monkeypatch, name, tamper):
    """Have ``tamper`` change one draft between its rendering and verify."""
    arrange = pipeline.order

    def tampered(request, drafts):
        return tuple(tamper(d) if d.section.section_id == name else d for d in arrange(request, drafts))

    monkeypatch.setattr(pipeline, "order", tampered)


def body_of(text):
    """A draft whose body, alone and in its block, is another text."""
    return lambda d: replace(d, content=text, rendered=d.rendered.replace(d.content, text))


def test_what_is_whole_passes():
    assert compiled(*world()).outcome.value == "compiled"


@pytest.mark.parametrize("name", ["evidence/E", "history/summary"])
@pytest.mark.parametrize(
    ("tamper", "told"),
    [
        (lambda d: replace(d, rendered=d.rendered + "\nmore"), "has more than header, body and end"),
        (lambda d: replace(d, rendered=d.rendered + "]"), "has more than header, body and end"),
        (lambda d: replace(d, content=d.content + " "), "has more than header, body and end"),
        (body_of("not JSON"), "does not decode"),
    ],
)
def test_a_block_that_is_not_header_body_and_end(monkeypatch, name, tamper, told):
    change(monkeypatch, name, tamper)
    with pytest.raises(InternalFault, match=f"section '{name}' {told}"):
        compiled(*world())


def test_a_body_may_be_null(monkeypatch):
    change(monkeypatch, "evidence/E", body_of("null"))
    assert compiled(*world()).outcome.value == "compiled"


@pytest.mark.parametrize("zone", [Zone.SYSTEM, Zone.TOOLS])
@pytest.mark.parametrize(("authority", "fault"), [(Authority.T2, False), (Authority.T3, True), (Authority.T4, True)])
def test_untrusted_text_in_a_trusted_zone(monkeypatch, zone, authority, fault):
    change(monkeypatch, "evidence/E", lambda d: replace(d, section=replace(d.section, authority=authority, zone=zone)))
    if not fault:
        assert compiled(*world()).outcome.value == "compiled"
        return
    with pytest.raises(InternalFault, match=f"untrusted section 'evidence/E' in the {zone.value} zone"):
        compiled(*world())


@pytest.mark.parametrize("name", ["evidence/E", "history/0", "tools", "user"])
def test_what_was_rendered_has_a_place_in_the_request(monkeypatch, name):
    render = pipeline.render

    def forgetful(request, drafts):
        made = render(request, drafts)
        assert name in made.placed
        return replace(made, placed={k: v for k, v in made.placed.items() if k != name})

    monkeypatch.setattr(pipeline, "render", forgetful)
    with pytest.raises(InternalFault, match=f"section '{name}' was rendered and is not in the request"):
        compiled(*world())
