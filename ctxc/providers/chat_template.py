"""A model's own chat template: the request as the very text that the model reads, for a completion interface.

The template is one of this package (``framing.template``) or the profile's own (``framing.template_source``). Text
from outside is never pasted into it: each is one JSON string in which no control token of a known family or of this
template stands. Control tokens in application text are made visible. Control tokens count as one each.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any

from ctxc.base.values import dataclass
from ctxc.model.counting import Count, Tokenizer
from ctxc.model.provider import ModelRow, ProviderProfile
from ctxc.model.request import Leaf, Part, Rendered, RenderPlan, Segment, Turn
from ctxc.providers._build import Builder, whole
from ctxc.providers._merge import call_input
from ctxc.providers._quote import Literal, contents, quoted, without
from ctxc.providers._read import as_int, as_text
from ctxc.providers._tally import Tally, framing_of, tokenizer_ref
from ctxc.providers._templates import ChatTemplate, run, shipped, template_names, template_of

JOINER = "\n\n"
_AT = "/prompt"
_OPEN, _CLOSE = "\ufdd0", "\ufdd1"  # noncharacters: they mark where parts stand while a template runs
_MARKED = re.compile(f"{_OPEN}([0-9]+){_CLOSE}")
_ROLES = ("system", "developer", "user", "assistant", "model", "tool", "ipython")


class ChatTemplateShape:
    """The shape."""

    id = "chat_template"
    capabilities = frozenset({"system", "history", "tools", "tool_results"})

    def render(self, plan: RenderPlan) -> Rendered:
        """``{"model", "prompt", "add_special_tokens": false, "max_tokens", "stop"}``."""
        template = template_of(plan.row.framing)
        collected = _Parts(template=template, parts=[])
        text = run(template, _messages(plan, collected), _tools(plan))
        build = Builder()
        build.put(":model", "/model", plan.model, "settings", stable=True)
        prompt = _segment(text, collected.parts, build)
        if plan.tools_section and plan.tools:
            build.placed.setdefault(plan.tools_section, []).append(_AT)
        request: dict[str, Any] = {"model": plan.model, "prompt": prompt, "add_special_tokens": False}
        if plan.output_reserve > 0:
            request["max_tokens"] = plan.output_reserve
        if template.stop:
            request["stop"] = list(template.stop)
        return build.done(request)

    def count(self, request: Mapping[str, Any], tokenizer: Tokenizer, row: ModelRow) -> Count:
        """Tokens of the prompt: one for each control token, the tokenizer's for what stands between them."""
        template = template_of(framing_of(row, tokenizer_ref(tokenizer, row)))
        tally = Tally()
        specials = 0
        for text, is_special in pieces(as_text(request.get("prompt")), template):
            if is_special:
                specials += 1
            else:
                tally.text(_AT, text)
        tally.fixed("", specials)
        return tally.finish(tokenizer, row)

    def texts(self, request: Mapping[str, Any], row: ModelRow | None = None) -> Sequence[str]:
        """What stands between control tokens: of the row's template, or, without a row, of any of this package."""
        prompt = as_text(request.get("prompt"))
        chosen = [template_of(row.framing)] if row is not None else [shipped(n) for n in template_names()]
        found = {text: None for t in chosen for text, special in pieces(prompt, t) if not special and text}
        return tuple(found)

    def segments(self, request: Mapping[str, Any]) -> tuple[Segment, ...]:
        """The prompt between control tokens of the template that fits it best."""
        prompt = as_text(request.get("prompt"))
        found = [Segment(id="model", pointer="/model", text=as_text(request.get("model")), zone="settings")]
        frame = ""
        for number, (role, text, before, zone) in enumerate(zoned(turns_of(prompt, likely(prompt)))):
            frame += before
            found.append(Segment(id=f"{number}:{role}", pointer=_AT, text=text, zone=zone, frame=frame))
            frame = ""
        return tuple(found)

    def read_back(self, request: Mapping[str, Any]) -> tuple[Leaf, ...]:
        """A leaf for each text between control tokens, with the role that they give it; quoted texts are read back."""
        prompt = as_text(request.get("prompt"))
        found = []
        for role, text, _, zone in zoned(turns_of(prompt, likely(prompt))):
            if not text.strip():
                continue
            kind = "tool_result" if role in ("tool", "ipython") else "text"
            for inner, was_quoted in contents(text):
                # What stood as a JSON string cannot be a block, whatever it says.
                form = "quoted" if was_quoted and kind == "text" else kind
                if inner.strip() or was_quoted:
                    found.append(Leaf(pointer=_AT, zone=zone, role=role, kind=form, text=inner))
        return tuple(found)

    def check(self, request: Mapping[str, Any], profile: ProviderProfile, row: ModelRow) -> tuple[str, ...]:
        """The prompt has to be a text, its limit within the model's, its template one that has what it needs."""
        found: list[str] = []
        if not isinstance(request.get("prompt"), str) or not request["prompt"]:
            found.append("/prompt: there has to be a text")
        limit = as_int(request.get("max_tokens"))
        if row.max_output is not None and limit > row.max_output:
            found.append(f"/max_tokens: {limit:,} is over the model's {row.max_output:,}")
        template = template_of(row.framing)
        if "tools" in row.capabilities and not template.tools:
            found.append(f"the chat template {template.name} has no place for tools, yet the row claims them")
        return tuple(found)


@dataclass(slots=True)
class _Parts:
    """The parts whose places are looked for in the template's output."""

    template: ChatTemplate
    parts: list[tuple[Part, str, str]]  # part, text as pasted, zone

    def place(self, part: Part, zone: str, *, trusted: bool) -> str:
        """The text of a part between marks that say which part it is."""
        specials = self.template.specials
        text = _sealed(without(part.text, specials) if trusted else quoted(part.text, specials))
        self.parts.append((part, text, zone))
        number = len(self.parts) - 1
        return f"{_OPEN}{number}{_CLOSE}{text}{_OPEN}{number}{_CLOSE}"


def _sealed(text: str) -> str:
    return text.replace(_OPEN, "\\ufdd0").replace(_CLOSE, "\\ufdd1")


def _messages(plan: RenderPlan, collected: _Parts) -> list[dict[str, Any]]:
    messages: list[dict[str, Any]] = []
    system = whole(plan.system)
    if system:
        content = JOINER.join(collected.place(p, "system", trusted=True) for p in system)
        messages.append(_message("system", content))
    called = {c.id: c.name for turn in plan.turns for c in turn.tool_calls}
    for turn in plan.turns:
        content = _joined(whole(turn.parts), collected)
        message = _message(turn.role, content)
        word = partial(_word, specials=collected.template.specials)
        if turn.role == "tool":
            message["tool_call_id"] = word(turn.tool_call_id or "")
            message["name"] = word(turn.name or called.get(turn.tool_call_id or "", "tool"))
        message["tool_calls"] = _calls(turn, word)
        messages.append(message)
    return messages


def _joined(parts: Sequence[Part], collected: _Parts) -> str:
    """The parts of a turn, each on lines of its own, as many blank lines between them as they bring along."""
    text = ""
    for number, part in enumerate(parts):
        if number and not collected.parts[-1][1].endswith("\n"):
            text += "\n"
        text += collected.place(part, "messages", trusted=part.safe)
    # A quoted text on its own is JSON: a template that writes its messages as JSON has nothing to escape in it.
    return Literal(text) if len(parts) == 1 and not parts[0].safe else text


def _message(role: str, content: str) -> dict[str, Any]:
    return {"role": role, "content": content, "tool_calls": [], "tool_call_id": "", "name": ""}


def _calls(turn: Turn, word: Callable[[str], str]) -> list[dict[str, Any]]:
    return [
        {
            "id": word(call.id),
            "type": "function",
            "function": {"name": word(call.name), "arguments": call_input(call.arguments)},
        }
        for call in turn.tool_calls
    ]


def _word(text: str, *, specials: Sequence[str] = ()) -> str:
    """A name or an id that can stand bare in a template: other characters become ``_``, and so do control tokens."""
    word = re.sub(r"[^A-Za-z0-9_.:-]", "_", text)[:128]
    for token in specials:
        if token:
            word = word.replace(token, "_" * len(token))
    return word


def _tools(plan: RenderPlan) -> list[dict[str, Any]]:
    return [
        {
            "type": "function",
            "function": {
                "name": _word(tool.name),
                "description": tool.description,
                "parameters": dict(tool.input_schema),
            },
        }
        for tool in plan.tools
    ]


def _segment(text: str, parts: Sequence[tuple[Part, str, str]], build: Builder) -> str:
    """Takes the marks out of a template's output and records where each part stands."""
    tokens = _MARKED.split(text)  # text, number, text, number, text ...
    frame = tokens[0]
    prompt = [frame]
    position = 1
    while position < len(tokens):
        number = int(tokens[position])
        inner = tokens[position + 1]
        closed = position + 2 < len(tokens) and tokens[position + 2] == tokens[position]
        part, _, zone = parts[number]
        build.put(part.section_id, _AT, inner, zone, stable=part.stable, frame=frame)
        prompt.append(inner)
        frame = tokens[position + 3] if closed else ""
        prompt.append(frame)
        position += 4 if closed else 2
    build.put(":generation", _AT, "", "messages", frame=frame)
    return "".join(prompt)


def pieces(prompt: str, template: ChatTemplate) -> Iterator[tuple[str, bool]]:
    """A prompt as control tokens (True) and the texts between them (False), in order."""
    if not template.specials:
        yield prompt, False
        return
    longest_first = sorted(template.specials, key=len, reverse=True)
    splitter = re.compile("(" + "|".join(re.escape(s) for s in longest_first) + ")")
    for index, piece in enumerate(splitter.split(prompt)):
        if piece:
            yield piece, index % 2 == 1


def likely(prompt: str) -> ChatTemplate:
    """The template of this package whose control tokens make up most of a prompt."""
    best, most = shipped("chatml"), 0
    for name in template_names():
        template = shipped(name)
        covered = sum(len(t) for t, special in pieces(prompt, template) if special)
        if covered > most:
            best, most = template, covered
    return best


def turns_of(prompt: str, template: ChatTemplate) -> Iterator[tuple[str, str, str]]:
    """Role, text, and the control tokens in front of it, for every text between control tokens."""
    role, before = "", ""
    for text, special in pieces(prompt, template):
        if special:
            role = template.roles.get(text, role)
            before += text
            continue
        header, _, rest = text.partition("\n")
        word = header.strip().split(" ")[0]
        named = "tool" if word.startswith("functions.") else word
        if before and (named in _ROLES or named == "tool") and len(header) < 200:
            role = named
            if rest or "\n" in text:
                yield role, rest, f"{before}{header}\n"
                before = ""
            else:
                before += header
            continue
        yield role, text, before
        before = ""


def zoned(turns: Iterable[tuple[str, str, str]]) -> Iterator[tuple[str, str, str, str]]:
    """The turns with their zones: a system text after the first words of anybody else is part of the conversation."""
    leading = True
    for role, text, before in turns:
        leading = leading and (role in ("", "system", "developer", "tools") or not text.strip())
        yield role, text, before, "system" if leading and role in ("system", "developer") else "messages"


def token_ids(
    request: Mapping[str, Any],
    row: ModelRow,
    encode: Callable[[str], Sequence[int]],
    special_id: Callable[[str], int | None],
) -> list[int]:
    """Token ids of a prompt, for a vocabulary that is given as two functions: the ids of an ordinary text, and the id
    of a control token (None where the vocabulary has none, then it is encoded as text)."""
    found: list[int] = []
    for text, special in pieces(as_text(request.get("prompt")), template_of(row.framing)):
        one = special_id(text) if special else None
        if one is None:
            found.extend(encode(text))
        else:
            found.append(one)
    return found


SHAPE = ChatTemplateShape()
