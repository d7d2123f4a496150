"""One annotated document: for people, for completion interfaces, and for tools that take a single text.

Headings stand on lines of their own between two runs of ``=`` that are longer than any such run at the start of a
line of a part that stands there as it is. Every text of a turn that is not in a block stands as one JSON string, so
that no line of it can be a heading and no control token survives in it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ctxc.model.counting import Count, Tokenizer
from ctxc.model.provider import ModelRow, ProviderProfile
from ctxc.model.request import Leaf, Part, Rendered, RenderPlan, Segment, Turn
from ctxc.providers._build import Builder, whole
from ctxc.providers._quote import contents, quoted
from ctxc.providers._read import as_int, as_text, compact
from ctxc.providers._tally import Tally

_RUN = re.compile(r"^={3,}", re.MULTILINE)
_HEADING = re.compile(r"^(={3,}) (system|tools|user|assistant|tool|call|result)( \{.*\})? \1$")
_AT = "/text"


class Text:
    """The shape."""

    id = "text"
    capabilities = frozenset({"system", "history", "tools", "tool_results", "tool_errors"})

    def render(self, plan: RenderPlan) -> Rendered:
        """``{"model": ..., "text": ..., "max_tokens": ...}``."""
        fence = _fence(plan)
        build = Builder()
        build.put(":model", "/model", plan.model, "settings", stable=True)
        document = ""
        for section, text, zone, stable, heading in _pieces(plan, fence):
            joiner = "" if not document else "\n"
            frame = joiner + heading
            build.put(section, _AT, text, zone, stable=stable, frame=frame)
            document += frame + text
        request: dict[str, Any] = {"model": plan.model, "text": document + ("\n" if document else "")}
        if plan.output_reserve > 0:
            request["max_tokens"] = plan.output_reserve
        return build.done(request)

    def count(self, request: Mapping[str, Any], tokenizer: Tokenizer, row: ModelRow) -> Count:
        """Tokens of the document, counted as one text."""
        tally = Tally()
        tally.text(_AT, as_text(request.get("text")))
        return tally.finish(tokenizer, row)

    def texts(self, request: Mapping[str, Any]) -> Sequence[str]:
        """The document."""
        text = as_text(request.get("text"))
        return (text,) if text else ()

    def segments(self, request: Mapping[str, Any]) -> tuple[Segment, ...]:
        """The document's parts between headings."""
        found = [Segment(id="model", pointer="/model", text=as_text(request.get("model")), zone="settings")]
        joiner = ""
        leading = True
        for number, (heading, role, _, text) in enumerate(sections(as_text(request.get("text")))):
            leading = leading and role in ("system", "tools")
            zone = _zone(role, leading)
            found.append(Segment(id=f"{number}:{role}", pointer=_AT, text=text, zone=zone, frame=joiner + heading))
            joiner = "\n"
        return tuple(found)

    def read_back(self, request: Mapping[str, Any]) -> tuple[Leaf, ...]:
        """A leaf for each part; quoted texts are read back to what they were."""
        found: list[Leaf] = []
        leading = True
        for _, role, _, text in sections(as_text(request.get("text"))):
            leading = leading and role in ("system", "tools")
            kind = {"call": "tool_use", "result": "tool_result", "tools": "schema"}.get(role, "text")
            who = {"call": "assistant", "result": "tool"}.get(role, role)
            inner = list(contents(text))
            if not all(was_quoted for _, was_quoted in inner):
                inner = [(text, False)]  # a JSON string between other lines is the body of a block
            for words, was_quoted in inner:
                # What stands as a JSON string cannot be a block, whatever it says.
                form = "quoted" if was_quoted and kind == "text" else kind
                found.append(Leaf(pointer=_AT, zone=_zone(role, leading), role=who, kind=form, text=words))
        return tuple(found)

    def check(self, request: Mapping[str, Any], profile: ProviderProfile, row: ModelRow) -> tuple[str, ...]:
        """The document has to be a text, and the output limit within the model's."""
        found: list[str] = []
        if not isinstance(request.get("text"), str) or not request["text"]:
            found.append("/text: there has to be a text")
        limit = as_int(request.get("max_tokens"))
        if row.max_output is not None and limit > row.max_output:
            found.append(f"/max_tokens: {limit:,} is over the model's {row.max_output:,}")
        return tuple(found)


def _zone(role: str, leading: bool) -> str:
    """The zone of a heading: a system text after the first turn is part of the conversation."""
    return role if leading and role in ("system", "tools") else "messages"


def _fence(plan: RenderPlan) -> str:
    pasted = [*plan.system, *(p for turn in plan.turns for p in turn.parts if p.safe)]
    longest = max((len(r) for p in pasted for r in _RUN.findall(p.text)), default=2)
    return "=" * (longest + 1)


def _heading(fence: str, role: str, **ids: Any) -> str:
    given = {k: v for k, v in ids.items() if v}
    # Ids are quoted like any text from outside; the heading stays one line.
    note = "".join((" {", ", ".join(f"{quoted(k)}: {_value(v)}" for k, v in given.items()), "}")) if given else ""
    return f"{fence} {role}{note} {fence}\n"


def _value(value: object) -> str:
    return quoted(value) if isinstance(value, str) else json.dumps(value)


def _pieces(plan: RenderPlan, fence: str) -> Iterator[tuple[str, str, str, bool, str]]:
    """Section id, text, zone, stable, heading (only in front of the first text under it)."""
    if plan.tools:
        lines = [
            compact({"name": t.name, "description": t.description, "parameters": dict(t.input_schema)})
            for t in plan.tools
        ]
        yield plan.tools_section or ":tools", "\n".join(lines), "tools", plan.tools_stable, _heading(fence, "tools")
    heading = _heading(fence, "system")
    for part in whole(plan.system):
        yield part.section_id, part.text, "system", part.stable, heading
        heading = "\n"
    for turn in plan.turns:
        yield from _turn(turn, fence)


def _turn(turn: Turn, fence: str) -> Iterator[tuple[str, str, str, bool, str]]:
    role = "result" if turn.role == "tool" else turn.role
    owner = turn.section_id or ":turn"
    heading = _heading(fence, role, call=turn.tool_call_id, name=turn.name, error=turn.is_error)
    parts = whole(turn.parts)
    for part in parts:
        yield part.section_id, paste(part), "messages", part.stable, heading
        heading = ""
    if not parts and not turn.tool_calls:
        yield owner, '""', "messages", False, heading
    for call in turn.tool_calls:
        yield owner, quoted(call.arguments), "messages", False, _heading(fence, "call", id=call.id, name=call.name)


def paste(part: Part) -> str:
    """A part's text as it may stand in the document."""
    return part.text.rstrip("\n") if part.safe else quoted(part.text)


def sections(document: str) -> Iterator[tuple[str, str, str, str]]:
    """Heading line, role, attributes and text of each part; a text that begins with no heading is one user part."""
    lines = document.removesuffix("\n").split("\n")
    first = _HEADING.match(lines[0])
    if first is None:
        if document:
            yield "", "user", "", document
        return
    fence = first.group(1)
    heading, role, note = lines[0] + "\n", first.group(2), (first.group(3) or "").strip()
    held: list[str] = []
    for line in lines[1:]:
        match = _HEADING.match(line)
        if match is None or match.group(1) != fence:
            held.append(line)
            continue
        yield heading, role, note, "\n".join(held)
        heading, role, note, held = line + "\n", match.group(2), (match.group(3) or "").strip(), []
    yield heading, role, note, "\n".join(held)


SHAPE = Text()
