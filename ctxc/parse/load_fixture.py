"""Fixtures and conversations: one recorded request each, or several that follow each other."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime
from hashlib import sha256
from typing import Any

from ctxc.base.spans import Origin
from ctxc.model.fixture import Conversation, Expect, Fixture, Inputs, Principal, Record
from ctxc.model.section import Message
from ctxc.parse.context import File, child, conditions, text_of
from ctxc.parse.lazy_inputs import LazyInputs
from ctxc.parse.load_messages import read_messages
from ctxc.parse.load_records import read_records
from ctxc.parse.nodes import tokens
from ctxc.parse.problems import Problem, nearest, shown
from ctxc.parse.scalars import typed

RECORDS = ("memory", "evidence", "tool_results", "handoff", "examples")
LISTS = frozenset((*RECORDS, "history", "fragments"))
"""Inputs that have a shape; every other key is free."""
_WRAPPERS = ("messages", "history", "input", "records", "items", "results", "evidence", "memory", "data")
_NO_INPUTS = Inputs()
_NO_EXPECT = Expect()


def read_fixture(value: dict[str, Any], file: File, digest: str, lazy: Inputs | None = None) -> Fixture:
    """A fixture; ``digest`` is the hash of its file. ``lazy``: its inputs, which are known to be clean."""
    if lazy is not None:
        return _fixture(value, value["fixture_id"], file, "", lazy, digest)
    inputs = read_inputs(value.get("inputs"), file, "/inputs")
    fixture = _fixture(value, value["fixture_id"], file, "", inputs, digest)
    for number, path in enumerate(fixture.sensitive):
        _check_sensitive(path, [value], file, child("/sensitive", number))
    return fixture


def _fixture(
    value: Mapping[str, Any],
    name: str,
    file: File,
    at: str,
    inputs: Inputs,
    digest: str,
    turn: Mapping[str, Any] | None = None,
) -> Fixture:
    """``turn``: of a turn of a conversation, what it says itself; a name that all turns share stands once, above."""
    own = value if turn is None else turn

    def refer(kind: str, key: str) -> str:
        return file.refer(kind, text_of(value.get(key)), child(at if key in own else "", key))

    template = refer("template", "template")
    profile = refer("profile", "request_profile")
    provider = refer("provider", "provider")
    beside = at if "fragments" in own.get("inputs", {}) else ""
    for number, fragment in enumerate(value.get("inputs", {}).get("fragments", ())):
        file.refer("fragment", fragment, child(beside, "inputs", "fragments", number))
    principal = value.get("principal")
    now = text_of(value.get("now"))
    if now:
        _check_moment(now, file, child(at if "now" in own else "", "now"))
    return Fixture(
        id=name,
        template=template,
        version=text_of(value.get("version")),
        request_profile=profile,
        provider=provider,
        model=text_of(value.get("model")),
        now=now,
        route=conditions(value.get("route")),
        principal=_principal(principal) if principal is not None else None,
        sensitive=tuple(value.get("sensitive", ())),
        inputs=inputs,
        expect=_expect(value.get("expect"), file, child(at, "expect")),
        weight=value.get("weight", 1),
        labels=value.get("labels", {}),
        content_hash=digest if isinstance(inputs, LazyInputs) else _digest(digest, inputs, file),
        origin=file.origin(at),
    )


def _check_moment(text: str, file: File, at: str) -> None:
    """What the schema's pattern cannot see: whether there is such a day, hour and offset."""
    try:
        datetime.fromisoformat(text.upper())  # the pattern allows RFC 3339's small letters
    except ValueError:
        file.problem(
            "bad-time",
            f"{text!r} is not a date or time",
            "write it such as 2026-10-31T10:00:00Z",
            at=at,
        )


def _digest(own: str, inputs: Inputs, file: File) -> str:
    if not inputs.files:
        return own
    parts = [own, *(file.shared.digest(p) for p in inputs.files)]
    return "sha256:" + sha256("\n".join(parts).encode("utf-8")).hexdigest()


def _principal(value: Mapping[str, Any]) -> Principal:
    return Principal(
        tenant=value.get("tenant", ""),
        subject=value.get("subject", ""),
        permissions=frozenset(value.get("permissions", ())),
    )


def _expect(value: Mapping[str, Any] | None, file: File, at: str) -> Expect:
    if value is None:
        return _NO_EXPECT
    lists = {
        k: tuple(value.get(k, ()))
        for k in ("loaded", "not_loaded", "must_contain", "must_not_contain", "dropped", "required_evidence")
    }
    return Expect(
        outcome=value.get("outcome", "compiled"),
        max_input_tokens=value.get("max_input_tokens"),
        stated=frozenset(value),
        origin=file.origin(at),
        **lists,
    )


def read_inputs(value: Mapping[str, Any] | None, file: File, at: str) -> Inputs:
    """What a request brings; recorded files are read, each noted in ``files``."""
    if not value:
        return _NO_INPUTS
    files: list[str] = []
    history: tuple[Message, ...] = ()
    summary = ""
    if "history" in value:
        history, summary = _history(value["history"], file, child(at, "history"), files)
    records = {k: _records(k, value[k], file, child(at, k), files) for k in RECORDS if k in value}
    empty = {k for k, found in records.items() if not found}
    if "history" in value and not history and not summary:
        empty.add("history")
    return Inputs(
        values={k: v for k, v in value.items() if k not in LISTS},
        history=history,
        summary=summary,
        fragments=tuple(value.get("fragments", ())),
        empty=frozenset(empty),
        files=tuple(dict.fromkeys(files)),
        **records,
    )


def _history(value: Any, file: File, at: str, files: list[str]) -> tuple[tuple[Message, ...], str]:
    if isinstance(value, list):
        return read_messages(value, file, at), ""
    summary = text_of(value.get("summary"))
    if "messages" in value:
        if "file" in value:
            file.shared.used.add(file.file_beside(value["file"], child(at, "file")))
            file.problem(
                "bad-value", "the history has both `messages` and `file`", "keep one of them", at=child(at, "file")
            )
        return read_messages(value["messages"], file, child(at, "messages")), summary
    if "file" not in value:
        return (), summary
    found = _recorded(value, "message", file, at, files)
    if found is None:
        return (), summary
    items, source, pointer, around = found
    messages = read_messages(items, source, pointer)
    system = around.get("system") if around else None
    if isinstance(system, str) and system:
        # Anthropic's form keeps the system text beside the messages; recorded, it is one more message.
        messages = (Message(role="system", content=system, origin=source.origin("/system")), *messages)
    return messages, summary


def _records(kind: str, value: Any, file: File, at: str, files: list[str]) -> tuple[Record, ...]:
    if isinstance(value, list):
        return read_records(kind, value, file, at)
    if not isinstance(value.get("file"), str):
        return tuple(r for r in read_records(kind, [value], file, at)[:1]) if value else ()
    found = _recorded(value, "record", file, at, files)
    return read_records(kind, found[0], found[1], found[2]) if found is not None else ()


def _recorded(
    value: Mapping[str, Any], definition: str, file: File, at: str, files: list[str]
) -> tuple[list[Any], File, str, Mapping[str, Any] | None] | None:
    """The list in a recorded file: its items, the file, its pointer, and the mapping around it."""
    path = file.file_beside(value["file"], child(at, "file"))
    if not path:
        return None
    files.append(path)
    document = file.shared.recorded(path)
    if document is None:
        file.problem(
            "unreadable-file", f'the recorded file "{path}" cannot be used',
            f"`ctxc lint {path}` says what is wrong in it", at=child(at, "file"),
        )  # fmt: skip
        return None
    source = File(path, file.shared)
    found, pointer, around = document.value, "", None
    wanted = value.get("pointer")
    if wanted:
        found, pointer = _follow(found, wanted)
        if found is None:
            file.problem(
                "bad-value", f'the pointer {shown(wanted)} names nothing in "{path}"', "write it as /messages",
                at=child(at, "pointer"),
            )  # fmt: skip
            return None
    elif isinstance(found, dict):
        around = found
        key = next((k for k in _WRAPPERS if isinstance(found.get(k), list)), "")
        if key:
            found, pointer = found[key], "/" + key
        elif definition == "record":
            found = [found]
    if not isinstance(found, list):
        lists = [k for k, v in around.items() if isinstance(v, list)] if around else []
        help = f"say where the list is: `pointer: /{lists[0]}`" if lists else "write a list, or one JSON value a line"
        source.problem("wrong-type", f"expected a list of {definition}s", help, at=pointer)
        return None
    problems: list[Problem] = []
    validator = file.shared.validator("fixture")
    items = []
    for number, item in enumerate(found):
        if definition == "record" and isinstance(item, str):
            items.append(str(item))
            continue
        mine: list[Problem] = []
        checked = validator.check(item, mine, ref=f"#/$defs/{definition}")
        problems.extend(p._replace(pointer=f"{pointer}/{number}{p.pointer}") for p in mine)
        items.append(checked if checked is not None else typed(item))
    for problem in problems:
        file.shared.report(path, problem)
    return (items, source, pointer, around) if not any(p.is_error for p in problems) else None


def _follow(value: Any, pointer: str) -> tuple[Any, str]:
    here = value
    for token in tokens(pointer):
        if isinstance(here, dict) and token in here:
            here = here[token]
        elif isinstance(here, list) and token.isdigit() and int(token) < len(here):
            here = here[int(token)]
        else:
            return None, pointer
    return here, pointer


def _check_sensitive(path: str, values: list[Any], file: File, at: str) -> None:
    """Report a path that is most likely misspelt: what it should hide would be shown.

    A path may name a value that this request happens not to have. What leads to it has to be there, and no other name
    beside it may be nearly the same.
    """
    parts = path.split(".")
    if any(_named(parts, v) for v in values):
        return
    depth = max((n for n in range(1, len(parts)) if any(_named(parts[:n], v) for v in values)), default=0)
    beside = sorted({k for v in values for k in _keys_at(parts[:depth], v)})
    near = nearest(parts[depth], beside)
    if depth == len(parts) - 1 and not near:
        return
    file.problem(
        "sensitive-names-nothing",
        f"the sensitive path {shown(path)} names nothing, so what it should hide would be shown"
        + (f'; did you mean "{".".join((*parts[:depth], near))}"?' if near else ""),
        "write the path of a value under `inputs`, such as inputs.state.plate_number",
        at=at,
    )


def _named(parts: list[str], value: Any) -> bool:
    """Whether a dotted path names a value. In a list, a number or an id names an item; a key, that of any item."""
    if not parts:
        return True
    head, *rest = parts
    if isinstance(value, Mapping):
        if "file" in value and set(value) <= {"file", "pointer", "summary"}:
            return True  # inside a recorded file: not looked at
        return head in value and _named(rest, value[head])
    if isinstance(value, list):
        if head.isdigit():
            return int(head) < len(value) and _named(rest, value[int(head)])
        items = [v for v in value if isinstance(v, Mapping)]
        return any(_named(parts, v) for v in items) or any(
            head == text_of(v.get(k)) and _named(rest, v) for v in items for k in ("id", "evidence_id", "memory_id")
        )
    return False


def _keys_at(parts: list[str], value: Any) -> list[str]:
    here = value
    for part in parts:
        here = here.get(part) if isinstance(here, Mapping) else None
    return [str(k) for k in here] if isinstance(here, Mapping) else []


def read_conversation(value: dict[str, Any], file: File, digest: str) -> Conversation:
    """A conversation as complete fixtures: shared keys merged in, earlier turns and replies as history."""
    name = value["conversation_id"]
    shared = {k: v for k, v in value.items() if k not in ("conversation_id", "turns", "description", "owner")}
    base = shared.get("inputs", {})
    start = read_inputs({"history": base["history"]}, file, "/inputs") if "history" in base else _NO_INPUTS
    carried: list[Message] = []
    turns: list[Fixture] = []
    merged_turns: list[dict[str, Any]] = []
    for number, turn in enumerate(value["turns"]):
        at = child("/turns", number)
        merged = _merge(shared, turn)
        merged_turns.append(merged)
        own = turn.get("inputs", {})
        inputs = _turn_inputs(merged.get("inputs", {}), own, base, file, at)
        if "history" not in own:
            inputs = replace(
                inputs,
                history=(*start.history, *carried),
                summary=start.summary,
                files=tuple(dict.fromkeys((*start.files, *inputs.files))),
            )
        turn_id = turn.get("fixture_id") or f"{name}.{number + 1}"
        if "template" not in merged:
            file.problem("missing-key", 'the key "template" is missing', "name it once for all turns", at=at)
        fixture = _fixture(merged, turn_id, file, at, inputs, digest, turn)
        turns.append(replace(fixture, conversation=name, turn=number))
        user = inputs.values.get("user")
        if isinstance(user, str):
            carried.append(Message(role="user", content=user, origin=file.origin(child(at, "inputs", "user"))))
        if "reply" in turn:
            carried.extend(_reply(turn["reply"], file, child(at, "reply")))
        elif number + 1 < len(value["turns"]):
            file.problem(
                "turn-without-reply", f"turn {number + 1} has no reply, but another turn follows",
                "record what the model answered under `reply:`", at=at,
            )  # fmt: skip
    for number, path in enumerate(shared.get("sensitive", ())):
        _check_sensitive(path, merged_turns, file, child("/sensitive", number))
    return Conversation(id=name, turns=tuple(turns), origin=file.origin())


def _merge(shared: Mapping[str, Any], turn: Mapping[str, Any]) -> dict[str, Any]:
    """What a turn repeats wins; of ``route``, ``inputs``, ``expect`` and ``labels`` key by key."""
    merged = {**shared, **{k: v for k, v in turn.items() if k not in ("reply", "fixture_id", "description")}}
    for key in ("route", "inputs", "expect", "labels"):
        if key in shared and key in turn:
            merged[key] = {**shared[key], **turn[key]}
    return merged


def _turn_inputs(
    merged: Mapping[str, Any], own: Mapping[str, Any], base: Mapping[str, Any], file: File, at: str
) -> Inputs:
    """A turn's inputs, each list with the place where it was written: the turn, or the part that all turns share."""
    mine = read_inputs(own, file, child(at, "inputs"))
    rest = {k: v for k, v in base.items() if k not in own and k != "history"}
    theirs = read_inputs(rest, file, "/inputs")
    picked = {k: getattr(mine if k in own else theirs, k) for k in (*RECORDS, "fragments")}
    return Inputs(
        values={k: v for k, v in merged.items() if k not in LISTS},
        history=mine.history,
        summary=mine.summary,
        empty=mine.empty | theirs.empty,
        files=tuple(dict.fromkeys((*mine.files, *theirs.files))),
        **picked,
    )


def _reply(value: Any, file: File, at: str) -> tuple[Message, ...]:
    if isinstance(value, str):
        return (Message(role="assistant", content=value, origin=file.origin(at)),)
    if isinstance(value, dict):
        return read_one(value, file, at)
    return read_messages(value, file, at)


def read_one(value: dict[str, Any], file: File, at: str) -> tuple[Message, ...]:
    """One recorded message that stands alone: its pointer has no number."""
    found = read_messages([value], file, at)
    return tuple(replace(m, origin=Origin(m.origin.path, at + m.origin.pointer[len(at) + 2 :])) for m in found)
