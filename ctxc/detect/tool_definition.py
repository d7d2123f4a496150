"""A tool definition as the detectors see it: MCP, OpenAI, Anthropic or our own form, every string with its place."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Literal, NamedTuple

from ctxc.base.canonical import digest_json
from ctxc.detect.match import Match
from ctxc.model.finding import Severity

Role = Literal["name", "description", "title", "key", "value", "text"]
"""What a string is: the tool's name, its description, its title, a key, a value (enum, default ...), other text."""

MAX_DEPTH = 64
DEFINITION_KEYS = ("name", "title", "description", "inputSchema", "outputSchema", "annotations", "icons")
_INPUT_KEYS = ("inputSchema", "input_schema", "parameters")
_OUTPUT_KEYS = ("outputSchema", "output_schema")
_VALUE_KEYS = frozenset(("enum", "default", "const", "examples", "example", "x-enumDescriptions"))


class Text(NamedTuple):
    """One string of a definition: where it stands, what it is, what it says."""

    pointer: str
    role: Role
    text: str


def unwrap(tool: Mapping[str, object]) -> tuple[Mapping[str, object], str]:
    """The definition itself and its pointer: OpenAI puts it under ``function``."""
    inner = tool.get("function")
    return (inner, "/function") if isinstance(inner, Mapping) else (tool, "")


def input_schema(tool: Mapping[str, object]) -> tuple[object, str] | None:
    """The schema of the arguments and its pointer; None where the definition has none."""
    return _first(tool, _INPUT_KEYS)


def output_schema(tool: Mapping[str, object]) -> tuple[object, str] | None:
    """The schema of the result and its pointer; None where the definition has none."""
    return _first(tool, _OUTPUT_KEYS)


def _first(tool: Mapping[str, object], keys: tuple[str, ...]) -> tuple[object, str] | None:
    inner, pointer = unwrap(tool)
    for key in keys:
        if key in inner:
            return inner[key], f"{pointer}/{key}"
    return None


def name_of(tool: Mapping[str, object]) -> str:
    """The tool's name, empty where it has none."""
    name = unwrap(tool)[0].get("name")
    return name if isinstance(name, str) else ""


def definition_digest(tool: Mapping[str, object]) -> str:
    """``sha256:`` and the digest of the canonical JSON of what a model and a host see of a tool.

    The keys are those of MCP (name, title, description, both schemas, annotations, icons), the same for every form of
    definition. Nothing is normalised: a changed look-alike letter is a changed tool.
    """
    inner, _ = unwrap(tool)
    seen = {key: inner[key] for key in DEFINITION_KEYS if key in inner}
    for key, found in (("inputSchema", input_schema(tool)), ("outputSchema", output_schema(tool))):
        if found is not None:
            seen[key] = found[0]
    return digest_json(seen)


def escape(key: str) -> str:
    """A key as a part of a JSON pointer (RFC 6901)."""
    return key.replace("~", "~0").replace("/", "~1")


def texts(tool: Mapping[str, object]) -> Iterator[Text]:
    """Every string of the definition, keys included, down to ``MAX_DEPTH`` levels."""
    inner, pointer = unwrap(tool)
    for key, value in tool.items() if pointer else ():
        if key != "function":
            yield from _walk(value, f"/{escape(key)}", "text", 1)
    for key, value in inner.items():
        role: Role = "text"
        if key in ("name", "description", "title"):
            role = key  # type: ignore[assignment]
        yield from _walk(value, f"{pointer}/{escape(key)}", role, 1)


def _walk(value: object, pointer: str, role: Role, depth: int) -> Iterator[Text]:
    if isinstance(value, str):
        yield Text(pointer, role, value)
    elif depth >= MAX_DEPTH:
        return
    elif isinstance(value, Mapping):
        for key, child in value.items():
            place = f"{pointer}/{escape(str(key))}"
            yield Text(place, "key", str(key))
            inner: Role = "value" if key in _VALUE_KEYS or role == "value" else "text"
            yield from _walk(child, place, inner, depth + 1)
    elif isinstance(value, list | tuple):
        for index, child in enumerate(value):
            yield from _walk(child, f"{pointer}/{index}", role, depth + 1)


def problem(code: str, severity: Severity, message: str, pointer: str, start: int = 0, end: int = 0) -> Match:
    """A match about a definition; the range, if any, lies in the string at the pointer."""
    return Match(detector=f"tool.{code}", severity=severity, start=start, end=end, message=message, pointer=pointer)
