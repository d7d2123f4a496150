"""Gemini request to what is in it: leaves, counted strings, segments, tokens. Works on requests of any origin.

Both spellings of keys are read: ``systemInstruction`` of the REST interface and ``system_instruction`` of the SDK.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ctxc.model.counting import Count, Tokenizer
from ctxc.model.provider import ModelRow
from ctxc.model.request import Leaf, Segment
from ctxc.providers._images import add_image
from ctxc.providers._read import as_int, as_list, as_map, as_text, compact
from ctxc.providers._tally import Tally, framing_of, tokenizer_ref

_DEEPEST = 40  # levels of a schema or of arguments that are walked


def role_frame(role: str) -> str:
    """Protocol in front of a content."""
    return compact({"role": role})


def result_frame(response: Mapping[str, Any]) -> str:
    """Protocol in front of a function's response."""
    body = as_map(response.get("response"))
    kind = "error" if "error" in body and len(body) == 1 else "output"
    return compact({**{k: response[k] for k in ("name", "id") if k in response}, "key": kind})


def either(data: Mapping[str, Any], camel: str, snake: str) -> Any:
    """The value under one of two spellings of a key."""
    return data[camel] if camel in data else data.get(snake)


def system_of(request: Mapping[str, Any]) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Parts of the system instruction with their pointers."""
    for key in ("systemInstruction", "system_instruction"):
        value = request.get(key)
        if isinstance(value, str):
            yield f"/{key}", {"text": value}
        elif value is not None:
            for index, part in enumerate(as_list(as_map(value).get("parts"))):
                yield f"/{key}/parts/{index}", as_map(part)


def contents_of(request: Mapping[str, Any]) -> Iterator[tuple[int, str, list[tuple[str, Mapping[str, Any]]]]]:
    """Index, role and parts (with pointers) of every content; a plain string reads as one user text."""
    contents = request.get("contents")
    if isinstance(contents, str):
        yield 0, "user", [("/contents", {"text": contents})]
        return
    for index, raw in enumerate(as_list(contents)):
        content = as_map(raw)
        parts = [
            (f"/contents/{index}/parts/{number}", as_map(part))
            for number, part in enumerate(as_list(content.get("parts")))
        ]
        yield index, as_text(content.get("role")) or "user", parts


def functions_of(request: Mapping[str, Any]) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Function declarations with their pointers."""
    for index, raw in enumerate(as_list(request.get("tools"))):
        tool = as_map(raw)
        for key in ("functionDeclarations", "function_declarations"):
            for number, declaration in enumerate(as_list(tool.get(key))):
                yield f"/tools/{index}/{key}/{number}", as_map(declaration)


def schema_of(function: Mapping[str, Any]) -> Mapping[str, Any]:
    """The schema of a function's parameters, in whichever of its fields."""
    for key in ("parametersJsonSchema", "parameters_json_schema", "parameters"):
        if isinstance(function.get(key), Mapping):
            return as_map(function[key])
    return {}


def response_schema(request: Mapping[str, Any]) -> tuple[str, Mapping[str, Any]] | None:
    """Pointer and schema of the structured output, or None."""
    for holder in ("generationConfig", "generation_config", "config"):
        settings = as_map(request.get(holder))
        for key in ("responseJsonSchema", "response_json_schema", "responseSchema", "response_schema"):
            if isinstance(settings.get(key), Mapping):
                return f"/{holder}/{key}", as_map(settings[key])
    return None


def schema_strings(schema: Mapping[str, Any], depth: int = 0) -> Iterator[str]:
    """The strings of a schema in the order in which the SDK's local tokenizer adds them: format, description, enum
    values, required names, property names, then the items, the properties and an example."""
    if depth > _DEEPEST:
        return
    for key in ("format", "description"):
        if isinstance(schema.get(key), str) and schema[key]:
            yield schema[key]
    yield from (as_text(v) for v in as_list(schema.get("enum")))
    yield from (as_text(v) for v in as_list(schema.get("required")))
    if isinstance(schema.get("items"), Mapping):
        yield from schema_strings(schema["items"], depth + 1)
    for name, child in as_map(schema.get("properties")).items():
        yield str(name)
        yield from schema_strings(as_map(child), depth + 1)
    if "example" in schema:
        yield from value_strings(schema["example"], depth + 1)


def value_strings(value: object, depth: int = 0) -> Iterator[str]:
    """Keys, then string values, of arguments or of a response."""
    if depth > _DEEPEST:
        return
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        yield from map(str, value)
        for child in value.values():
            yield from value_strings(child, depth + 1)
    else:
        for child in as_list(value):
            yield from value_strings(child, depth + 1)


def part_strings(part: Mapping[str, Any]) -> Iterator[str]:
    """The strings of a part that are counted."""
    if isinstance(part.get("text"), str):
        yield part["text"]
    call = as_map(either(part, "functionCall", "function_call"))
    if call:
        yield as_text(call.get("name"))
        yield from value_strings(call.get("args"))
    response = as_map(either(part, "functionResponse", "function_response"))
    if response:
        yield as_text(response.get("name"))
        yield from value_strings(response.get("response"))


def function_strings(function: Mapping[str, Any]) -> Iterator[str]:
    """The strings of a function declaration that are counted."""
    yield as_text(function.get("name"))
    yield as_text(function.get("description"))
    yield from schema_strings(schema_of(function))
    yield from schema_strings(as_map(function.get("response")))


def counted_strings(request: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Pointer and string of everything that is counted: contents, tools, system instruction, in the SDK's order."""
    for _, _, parts in contents_of(request):
        for pointer, part in parts:
            yield from ((pointer, text) for text in part_strings(part))
    for pointer, function in functions_of(request):
        yield from ((pointer, text) for text in function_strings(function))
    for pointer, part in system_of(request):
        yield from ((pointer, text) for text in part_strings(part))


def texts(request: Mapping[str, Any]) -> Sequence[str]:
    """Every text that ``count`` hands to the tokenizer."""
    return tuple(text for _, text in counted_strings(request) if text)


def count(request: Mapping[str, Any], tokenizer: Tokenizer, row: ModelRow) -> Count:
    """Tokens of a whole request, with the row's framing: ``per_content`` (the system instruction is one), ``tools``
    (``base``, ``per_tool``, ``low``, ``high``), ``slack``. A response schema is not counted: recorded calls show that
    the service leaves it out of the prompt's count."""
    framing = framing_of(row, tokenizer_ref(tokenizer, row))
    tally = Tally()
    for pointer, text in counted_strings(request):
        tally.text(pointer, text)
    per_content = as_int(framing.get("per_content"))
    for index, _, parts in contents_of(request):
        tally.fixed(f"/contents/{index}", per_content)
        for pointer, part in parts:
            _count_media(tally, pointer, part, row)
    if any(True for _ in system_of(request)):
        tally.fixed("/systemInstruction", per_content)
    functions = list(functions_of(request))
    if functions:
        data = as_map(framing.get("tools"))
        tokens = as_int(data.get("base")) + len(functions) * as_int(data.get("per_tool"))
        tally.fixed("/tools", tokens, low=as_int(data.get("low")), high=as_int(data.get("high")))
    if response_schema(request) is not None:
        tally.note("a response schema is not part of the prompt's count")
    for key in ("cachedContent", "cached_content"):
        if request.get(key):
            tally.method("heuristic")
            tally.note(f"{key} brings in a cached prefix that does not stand in the request; it is not counted")
    slack = as_int(framing.get("slack"))
    tally.uncertain(slack, slack)
    return tally.finish(tokenizer, row)


def _count_media(tally: Tally, pointer: str, part: Mapping[str, Any], row: ModelRow) -> None:
    inline = as_map(either(part, "inlineData", "inline_data"))
    if inline and as_text(either(inline, "mimeType", "mime_type")).startswith("image/"):
        add_image(tally, pointer, {"type": "image", "inlineData": inline}, row)
    elif inline or either(part, "fileData", "file_data") is not None:
        tally.method("heuristic")
        tally.note(f"a file is not counted: {pointer}")


def read_back(request: Mapping[str, Any]) -> tuple[Leaf, ...]:
    """Everything that the model reads: system instruction, tools, contract, contents."""
    found: list[Leaf] = []
    for pointer, part in system_of(request):
        found += _leaves(pointer, part, "system", "system")
    for pointer, function in functions_of(request):
        name, about = as_text(function.get("name")), as_text(function.get("description"))
        found.append(Leaf(pointer=f"{pointer}/name", zone="tools", role="", kind="tool_name", text=name))
        if about:
            found.append(Leaf(pointer=f"{pointer}/description", zone="tools", role="", kind="text", text=about))
        schema = schema_of(function)
        if schema:
            found.append(Leaf(pointer=pointer, zone="tools", role="", kind="schema", text=compact(schema)))
    contract = response_schema(request)
    if contract is not None:
        at, schema = contract
        found.append(Leaf(pointer=at, zone="system", role="", kind="schema", text=compact(schema)))
    for _, role, parts in contents_of(request):
        for pointer, part in parts:
            found += _leaves(pointer, part, "messages", role)
    return tuple(found)


def _leaves(pointer: str, part: Mapping[str, Any], zone: str, role: str) -> Iterator[Leaf]:
    if isinstance(part.get("text"), str):
        at = f"{pointer}/text" if pointer.rsplit("/", 1)[-1].isdigit() else pointer
        yield Leaf(pointer=at, zone=zone, role=role, kind="text", text=part["text"])
        return
    call = either(part, "functionCall", "function_call")
    if isinstance(call, Mapping):
        at = f"{pointer}/functionCall"
        yield Leaf(pointer=f"{at}/name", zone=zone, role=role, kind="tool_name", text=as_text(call.get("name")))
        yield Leaf(pointer=f"{at}/args", zone=zone, role=role, kind="tool_use", text=compact(call.get("args", {})))
        return
    response = either(part, "functionResponse", "function_response")
    if isinstance(response, Mapping):
        body = as_map(response.get("response"))
        at = f"{pointer}/functionResponse/response"
        key = next((k for k in ("output", "error") if isinstance(body.get(k), str) and len(body) == 1), None)
        text = body[key] if key else compact(body)
        yield Leaf(pointer=f"{at}/{key}" if key else at, zone=zone, role=role, kind="tool_result", text=text)
        return
    yield Leaf(pointer=pointer, zone=zone, role=role, kind=next((str(k) for k in part), "?"), text="")


def segments(request: Mapping[str, Any]) -> tuple[Segment, ...]:
    """Model, tools, system instruction, contents, settings: the order of the strings that a cached prefix holds is
    not documented; tools and system instruction are taken to stand before the contents."""
    found: list[Segment] = []
    model = request.get("model")
    if isinstance(model, str):
        found.append(Segment(id="model", pointer="/model", text=model, zone="settings"))
    for pointer, function in functions_of(request):
        found.append(Segment(id=pointer[1:], pointer=pointer, text=compact(function), zone="tools"))
    for pointer, part in system_of(request):
        text = part["text"] if isinstance(part.get("text"), str) else compact(part)
        found.append(Segment(id=pointer[1:], pointer=pointer, text=text, zone="system"))
    for _, role, parts in contents_of(request):
        frame = role_frame(role)
        for pointer, part in parts:
            found.append(_segment(pointer, part, frame))
            frame = ""
    contract = response_schema(request)
    if contract is not None:
        at, schema = contract
        found.append(Segment(id="contract", pointer=at, text=compact(schema), zone="settings"))
    return tuple(found)


def _segment(pointer: str, part: Mapping[str, Any], frame: str) -> Segment:
    response = as_map(either(part, "functionResponse", "function_response"))
    if isinstance(part.get("text"), str):
        text = part["text"]
    elif response:
        body = as_map(response.get("response"))
        only = next((body[k] for k in ("output", "error") if isinstance(body.get(k), str) and len(body) == 1), None)
        text = compact(body) if only is None else only
        frame += result_frame(response)
    else:
        text = compact(part)
    return Segment(id=pointer[1:], pointer=pointer, text=text, zone="messages", frame=frame)
