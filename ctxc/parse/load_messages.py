"""Recorded conversations in OpenAI's and Anthropic's form, as neutral messages. Nothing recorded is dropped silently.

Read are: OpenAI chat messages with ``tool_calls`` or the older ``function_call``, content as text, null or parts;
Anthropic messages with ``text``, ``tool_use`` and ``tool_result`` blocks; items of OpenAI's Responses form.
"""

from __future__ import annotations

import json
from typing import Any

from ctxc.model.finding import Severity
from ctxc.model.section import Message, ToolCall
from ctxc.parse.context import File, child
from ctxc.parse.problems import nearest, shown

ROLES = ("system", "developer", "user", "assistant", "tool", "function")
_MEANT = {"human": "user", "ai": "assistant", "model": "assistant", "bot": "assistant", "observation": "tool"}
# Tuples: what is looked for in them may be of any type, and a mapping cannot be looked for in a set.
_TEXT_PARTS = ("text", "input_text", "output_text")
_REASONING = ("thinking", "redacted_thinking", "reasoning")


def read_messages(items: list[Any], file: File, pointer: str = "") -> tuple[Message, ...]:
    """The messages of a list; what cannot be read is reported at its place and left out."""
    reader = _Reader(file)
    for number, item in enumerate(items):
        reader.take(item, f"{pointer}/{number}")
    return tuple(reader.messages)


class _Reader:
    def __init__(self, file: File) -> None:
        self.file = file
        self.messages: list[Message] = []
        self.legacy: list[tuple[str, str]] = []  # name and made-up id of calls of the older form without a result
        self.made_up = 0

    def take(self, item: Any, at: str) -> None:
        """One recorded message, or one item of the Responses form."""
        if not isinstance(item, dict):
            self._bad(f"expected a message, found {shown(str(item))}", "write `{role: user, content: ...}`", at)
            return
        role = item.get("role")
        if role is None and isinstance(item.get("type"), str):
            self._response_item(item, at)
        elif role not in ROLES:
            self._bad_role(role, at)
        elif role == "assistant":
            self._assistant(item, at)
        elif role == "tool":
            self._tool(item, at)
        elif role == "function":
            self._function(item, at)
        else:
            content = item.get("content")
            if content.__class__ is str:
                self._add(Message(role=role, content=content, name=item.get("name"), origin=self.file.origin(at)))
            elif content.__class__ is list:
                self._blocks(role, item, at)
            else:
                self._bad(f"a {role} message without content", "write its text under `content`", at)

    def _add(self, message: Message) -> None:
        self.messages.append(message)

    def _bad(self, message: str, help: str, at: str) -> None:
        self.file.problem("bad-message", message, help, at=at)

    def _bad_role(self, role: Any, at: str) -> None:
        if role is None:
            self.file.problem("bad-message", 'the message has no "role"', f"one of: {', '.join(ROLES)}", at=at)
            return
        meant = _MEANT.get(str(role).lower()) or nearest(str(role), ROLES)
        hint = f'; did you mean "{meant}"?' if meant else ""
        self._bad(f"unknown role {shown(str(role))}{hint}", f"one of: {', '.join(ROLES)}", child(at, "role"))

    # --- content ----------------------------------------------------------------------------------------------------

    def _text(self, content: Any, at: str) -> str | None:
        """The text of a content; None where there is none. Parts are joined by a line break."""
        if content is None or isinstance(content, str):
            return content
        parts = []
        for number, part in enumerate(content):
            text = self._part(part, child(at, number))
            if text is not None:
                parts.append(text)
        return "\n".join(parts)

    def _part(self, part: Any, at: str) -> str | None:
        if isinstance(part, str):
            return part
        kind = part.get("type") if isinstance(part, dict) else None
        if kind in _TEXT_PARTS and isinstance(part.get("text"), str):
            text: str = part["text"]
            return text
        if kind == "refusal" and isinstance(part.get("refusal"), str):
            refusal: str = part["refusal"]
            return refusal
        if kind in _REASONING:
            self._reasoning(at)
            return None
        self._bad(
            f"a content part of type {shown(str(kind))} cannot be carried; ctxc carries text, calls and results",
            "replace it by a text part that says what it shows",
            at,
        )
        return None

    def _reasoning(self, at: str) -> None:
        self.file.problem(
            "bad-message",
            "the model's recorded reasoning is left out: providers take it back only with its own signature",
            "remove the block from the recording to silence this",
            at=at,
            level=Severity.INFO,
        )

    def _blocks(self, role: str, item: dict[str, Any], at: str) -> None:
        """A message of parts that may hold Anthropic's tool results: each becomes a message of its own, in order."""
        texts: list[str] = []
        found = False

        def flush() -> None:
            if texts:
                self._add(
                    Message(role=role, content="\n".join(texts), name=item.get("name"), origin=self.file.origin(at))
                )
                texts.clear()

        for number, part in enumerate(item["content"]):
            place = child(at, "content", number)
            if isinstance(part, dict) and part.get("type") == "tool_result":
                flush()
                found = True
                self._result(part, place)
            else:
                text = self._part(part, place)
                if text is not None:
                    texts.append(text)
        if not texts and not found and not item["content"]:
            self._bad(f"a {role} message without content", "write its text under `content`", at)
        flush()

    # --- calls and results ------------------------------------------------------------------------------------------

    def _assistant(self, item: dict[str, Any], at: str) -> None:
        content = item.get("content")
        calls: list[ToolCall] = []
        texts: list[str] = []
        if isinstance(content, list):
            for number, part in enumerate(content):
                place = child(at, "content", number)
                if isinstance(part, dict) and part.get("type") == "tool_use":
                    call = self._call(part.get("id"), part.get("name"), part.get("input", {}), place)
                    if call is not None:
                        calls.append(call)
                else:
                    text = self._part(part, place)
                    if text is not None:
                        texts.append(text)
        elif isinstance(content, str):
            texts.append(content)
        if not texts and isinstance(item.get("refusal"), str):
            texts.append(item["refusal"])
        listed = item.get("tool_calls") or ()
        if not isinstance(listed, (list, tuple)):
            self._bad("`tool_calls` is not a list", "write a list of calls", child(at, "tool_calls"))
            listed = ()
        for number, entry in enumerate(listed):
            call = self._listed_call(entry, child(at, "tool_calls", number))
            if call is not None:
                calls.append(call)
        legacy = item.get("function_call")
        if legacy is not None:
            call = self._legacy_call(legacy, child(at, "function_call"))
            if call is not None:
                calls.append(call)
        self._add(
            Message(
                role="assistant",
                content="\n".join(texts),
                name=item.get("name"),
                tool_calls=tuple(calls),
                legacy=legacy is not None,
                origin=self.file.origin(at),
            )
        )

    def _call(self, call_id: Any, name: Any, arguments: Any, at: str) -> ToolCall | None:
        if not isinstance(call_id, str) or not call_id or not isinstance(name, str) or not name:
            missing = "id" if not isinstance(call_id, str) or not call_id else "name"
            self._bad(f"the call has no {missing}", "a recorded call has an id, a name and its arguments", at)
            return None
        return ToolCall(id=call_id, name=name, arguments=_json_text(arguments))

    def _listed_call(self, entry: Any, at: str) -> ToolCall | None:
        if not isinstance(entry, dict):
            self._bad("expected a call", "a recorded call has an id, a name and its arguments", at)
            return None
        kind = entry.get("type", "function")
        if kind != "function":
            self._bad(f"a call of type {shown(str(kind))} cannot be carried", "only function calls are", at)
            return None
        function = entry.get("function")
        inner = function if isinstance(function, dict) else entry
        arguments = next((inner[k] for k in ("arguments", "args", "input") if k in inner), "{}")
        return self._call(entry.get("id") or entry.get("call_id"), inner.get("name"), arguments, at)

    def _legacy_call(self, legacy: Any, at: str) -> ToolCall | None:
        name = legacy.get("name") if isinstance(legacy, dict) else None
        if not isinstance(name, str) or not name:
            self._bad("the `function_call` has no name", "write `{name: ..., arguments: ...}`", at)
            return None
        self.made_up += 1
        call_id = f"call_legacy_{self.made_up}"
        self.legacy.append((name, call_id))
        return ToolCall(id=call_id, name=name, arguments=_json_text(legacy.get("arguments", "{}")))

    def _tool(self, item: dict[str, Any], at: str) -> None:
        call_id = item.get("tool_call_id")
        several = item.get("tool_call_ids")
        if call_id is None and isinstance(several, list) and len(several) == 1:
            call_id = several[0]
        if not isinstance(call_id, str) or not call_id:
            self._bad("a tool message without `tool_call_id`", "name the call that it answers", at)
            return
        self._add(
            Message(
                role="tool",
                content=self._text(item.get("content"), child(at, "content")) or "",
                name=item.get("name"),
                tool_call_id=call_id,
                is_error=item.get("is_error") is True,
                origin=self.file.origin(at),
            )
        )

    def _function(self, item: dict[str, Any], at: str) -> None:
        name = item.get("name")
        waiting = next((c for c in self.legacy if c[0] == name), None)
        if waiting is None:
            self._bad(
                f"the function message {shown(str(name))} answers no `function_call` before it",
                "record the call as well, or remove the answer",
                at,
            )
            return
        self.legacy.remove(waiting)
        self._add(
            Message(
                role="tool",
                content=self._text(item.get("content"), child(at, "content")) or "",
                name=name,
                tool_call_id=waiting[1],
                legacy=True,
                origin=self.file.origin(at),
            )
        )

    def _result(self, part: dict[str, Any], at: str) -> None:
        call_id = part.get("tool_use_id")
        if not isinstance(call_id, str) or not call_id:
            self._bad("a tool result without `tool_use_id`", "name the call that it answers", at)
            return
        content = part.get("content")
        if content is not None and not isinstance(content, (str, list)):
            content = _json_text(content)
        self._add(
            Message(
                role="tool",
                content=self._text(content, child(at, "content")) or "",
                tool_call_id=call_id,
                is_error=part.get("is_error") is True,
                origin=self.file.origin(at),
            )
        )

    def _response_item(self, item: dict[str, Any], at: str) -> None:
        kind = item["type"]
        if kind == "function_call":
            call = self._call(item.get("call_id"), item.get("name"), item.get("arguments", "{}"), at)
            if call is not None:
                self._add(Message(role="assistant", content="", tool_calls=(call,), origin=self.file.origin(at)))
        elif kind == "function_call_output":
            output = item.get("output")
            self._result({"tool_use_id": item.get("call_id"), "content": output}, at)
        elif kind in _REASONING:
            self._reasoning(at)
        else:
            self._bad(f'the item of type {shown(str(kind))} has no "role"', f"one of: {', '.join(ROLES)}", at)


def _json_text(value: Any) -> str:
    """Arguments as text: as they stand where they are text, else as compact JSON in the recorded order of keys."""
    if isinstance(value, str):
        return value
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
