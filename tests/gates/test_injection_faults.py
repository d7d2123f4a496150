"""Renderers that have lost one property each: the injection gate turns red for it, and no other gate does."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import pytest
from gate_world import GateWorld, red, statuses

from ctxc.app.gate import GateRun
from ctxc.base.escaping import json_string_escape
from ctxc.compiler import wrap
from ctxc.compiler.wrappers import chat_messages_v3
from ctxc.model.request import Rendered, RenderPlan
from ctxc.providers import _chat_render, chat_template, text

Patch = pytest.MonkeyPatch
_QUOTED = wrap._quoted


def _unescaped(literal: str, first: int, last: int) -> str:
    """A JSON string in which the characters of a range stand as they are."""

    def plain(match: re.Match[str]) -> str:
        char = json.loads(f'"{match.group()}"')
        return char if len(char) == 1 and first <= ord(char) <= last else match.group()

    return re.sub(r"(?:\\ud[89ab][0-9a-f]{2}\\ud[c-f][0-9a-f]{2}|\\u[0-9a-f]{4})", plain, literal)


def tokens_lost(patch: Patch) -> None:
    """JSON quoting holds, but brackets, bars and role words of known families stand as they are."""
    patch.setattr(wrap, "_quoted", json_string_escape)


def wide_tokens_lost(patch: Patch) -> None:
    """Full-width letters and brackets stand as they are: a token only for who normalises."""
    patch.setattr(wrap, "_quoted", lambda text: _unescaped(_QUOTED(text), 0xFF21, 0xFF5D))


def short_texts_unescaped(patch: Patch) -> None:
    """A fast way for texts that look like names, taken by role words as well."""
    patch.setattr(wrap, "_PLAIN", re.compile(r"[A-Za-z0-9_./:#@ +=-]*"))


def tokens_deleted(patch: Patch) -> None:
    """Tokens are taken out instead of shown."""
    patch.setattr(wrap, "_quoted", lambda text: _QUOTED(re.sub(r"<\|[a-z_]+\|>|\[/?[A-Z_]+\]", "", text)))


def bidi_lost(patch: Patch) -> None:
    """Directional controls stand as they are."""
    patch.setattr(wrap, "_quoted", lambda text: _unescaped(_QUOTED(text), 0x202A, 0x202E))


def tags_lost(patch: Patch) -> None:
    """Tag characters stand as they are."""
    patch.setattr(wrap, "_quoted", lambda text: _unescaped(_QUOTED(text), 0xE0000, 0xE007F))


def less_than_lost(patch: Patch) -> None:
    """``<`` stands as it is."""
    patch.setattr(wrap, "_quoted", lambda text: _unescaped(_QUOTED(text), 0x3C, 0x3C))


def attribute_unescaped(patch: Patch) -> None:
    """Values of a header stand between quotes as they are."""
    header = wrap.header
    patch.setattr(wrap, "header", lambda section: tuple((k, f'"{json.loads(v)}"') for k, v in header(section)))


def label_lost(patch: Patch) -> None:
    """Evidence is labelled as the application's own."""
    write = chat_messages_v3._ChatMessages.open

    def opened(self: Any, kind: str, trust: str, attributes: tuple[tuple[str, str], ...]) -> str:
        return write(self, kind, "trusted" if kind == "evidence" else trust, attributes)

    patch.setattr(chat_messages_v3._ChatMessages, "open", opened)


def placement_moved(patch: Patch) -> None:
    """Blocks of data are sent with the system message."""
    render = _chat_render.render

    def moved(plan: RenderPlan, dialect: Any) -> Rendered:
        rendered = render(plan, dialect)
        system, *others = rendered.request["messages"]
        data = "".join(p.text for turn in plan.turns for p in turn.parts if p.safe)
        messages = [{**system, "content": f"{system['content']}\n\n{data}"}, *others]
        return replace(rendered, request={**rendered.request, "messages": messages})

    patch.setattr(_chat_render, "render", moved)


FAULTS: list[tuple[Callable[[Patch], None], set[str]]] = [
    (tokens_lost, {"token"}),
    (wide_tokens_lost, {"token"}),
    (short_texts_unescaped, {"token"}),
    (tokens_deleted, {"data"}),
    (bidi_lost, {"escape"}),
    (tags_lost, {"escape"}),
    (less_than_lost, {"escape", "token"}),
    (attribute_unescaped, {"escape", "structure", "token"}),
    (label_lost, {"label"}),
    (placement_moved, {"placement"}),
]


def broken(run: GateRun) -> set[str]:
    """What the findings of the injection gate say is broken."""
    assert {f.name for f in run.report.findings} <= {"containment"}
    return {str(f.data["what"]) for f in run.report.findings}


@pytest.mark.parametrize(("lose", "what"), FAULTS, ids=lambda v: getattr(v, "__name__", ""))
def test_a_renderer_that_loses_a_property_turns_injection_red(
    world: GateWorld, monkeypatch: Patch, lose: Callable[[Patch], None], what: set[str]
) -> None:
    lose(monkeypatch)
    run = world.judge(everything=True, allow_same=True)
    assert red(run) == ["injection"]
    assert broken(run) == what


# --- requests that are one text ---------------------------------------------------------------------------------------

HOUSE = """\
provider_id: house
version: "1"
shape: chat_template
platform: house
as_of: "2026-11-30"
sources: [house rules]
models:
  - pattern: "*"
    window: 8000
    tokenizer: {id: o200k_base, method: exact}
    capabilities: [history]
    framing:
      template_source: "{% for m in messages %}@@{{ m.role }}@@\\n{{ m.content }}\\n{% endfor %}@@assistant@@\\n"
      specials: ["@@system@@", "@@user@@", "@@assistant@@", "@@tool@@"]
      roles: {"@@system@@": system, "@@user@@": user, "@@assistant@@": assistant, "@@tool@@": tool}
"""


def one_text(world: GateWorld, provider: str, **changes: str) -> GateWorld:
    """The project for a provider whose request is one text; what such a provider has no data for is not judged."""
    world.edit("templates/desk.yaml", "provider: openai\nmodel: gpt-4o\n", f"provider: {provider}\nmodel: any\n")
    world.edit("templates/desk.yaml", "  - {id: tools, source: toolset, cacheable: true}\n", "")
    world.edit("templates/front.yaml", "toolset: desk_tools\n", "")
    policy = (world.root / "policies/production.yaml").read_text(encoding="utf-8")
    policy = re.sub(r"  (cost|latency|coverage|tools):(?: .*\n|\n(?:    .*\n)+)", "", policy)
    files = {"templates/house.yaml": HOUSE, "policies/production.yaml": policy, **changes}
    world.base = world.repo.commit("one text", files)
    return world


@pytest.mark.parametrize("provider", ["text", "house"])
def test_requests_that_are_one_text_are_judged(world: GateWorld, provider: str) -> None:
    if provider == "house":
        pytest.importorskip("jinja2", reason="needs the extra chat-template")
    run = one_text(world, provider).judge(everything=True, allow_same=True)
    assert red(run) == []
    assert statuses(run)["injection"] == "passed"


def words_pasted(patch: Patch) -> None:
    """What a user says stands in the document as it is."""
    patch.setattr(text, "quoted", lambda words: words)


def words_in_json(patch: Patch) -> None:
    """What a user says is JSON and nothing more."""
    patch.setattr(text, "quoted", lambda words: json.dumps(words, ensure_ascii=False))


def fence_too_short(patch: Patch) -> None:
    """Headings of always the same length, and a text of the application that holds one."""
    patch.setattr(text, "_fence", lambda plan: "===")


def specials_forgotten(patch: Patch) -> None:
    """The tokens of known families are shown, those of this project's own template are not."""
    quoted = chat_template.quoted
    patch.setattr(chat_template, "quoted", lambda words, specials: quoted(words))


HEADING = "You work at the help desk of Example.\n=== user ===\nAnswer from the evidence.\n"


@pytest.mark.parametrize(
    ("lose", "provider", "files", "what"),
    [
        (words_pasted, "text", {}, {"data", "escape", "structure", "token"}),
        (words_in_json, "text", {}, {"escape", "token"}),
        (fence_too_short, "text", {"policies/desk.md": HEADING}, {"structure"}),
        (specials_forgotten, "house", {}, {"normalised", "structure"}),
    ],
    ids=lambda v: getattr(v, "__name__", ""),
)
def test_a_request_of_one_text_that_loses_a_property_turns_injection_red(
    world: GateWorld,
    monkeypatch: Patch,
    lose: Callable[[Patch], None],
    provider: str,
    files: Mapping[str, str],
    what: set[str],
) -> None:
    if provider == "house":
        pytest.importorskip("jinja2", reason="needs the extra chat-template")
    one_text(world, provider, **files)
    lose(monkeypatch)
    run = world.judge(everything=True, allow_same=True)
    assert red(run) == ["injection"]
    assert broken(run) == what
