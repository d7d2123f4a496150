"""Chat templates: the files of this package and those that a profile brings, run in a sandbox.

A template is untrusted. It runs in jinja2's immutable sandbox, sees only messages, tools and a flag, has no loader, no
clock and no includes, and its output is cut off where it grows beyond any request. jinja2 comes with the extra
``chat-template``.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from functools import cache, lru_cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any, NoReturn

from ctxc.base.errors import ConfigError, CtxcError
from ctxc.base.values import dataclass
from ctxc.providers._quote import quoted_json
from ctxc.providers._read import as_map, as_text, texts_of
from ctxc.providers._typescript import declaration, namespace

if TYPE_CHECKING:
    from jinja2 import Template

_LARGEST = 32 * 1024 * 1024  # characters of a rendered request

_LARGEST_SOURCE = 1024 * 1024  # characters of a template


@dataclass(frozen=True, slots=True, kw_only=True)
class ChatTemplate:
    """A template, the control tokens that it writes, and how they are read back.

    ``roles`` says which role a token opens; ``stop`` ends an answer; ``tools`` whether it has a place for tools.
    """

    name: str
    source: str
    specials: tuple[str, ...]
    roles: Mapping[str, str]
    stop: tuple[str, ...]
    tools: bool


@cache
def _index() -> Mapping[str, Any]:
    found: Mapping[str, Any] = json.loads(_file("index.json"))
    return found


def _file(name: str) -> str:
    return files("ctxc.providers").joinpath("templates", name).read_text(encoding="utf-8")


def template_names() -> tuple[str, ...]:
    """Names of the templates of this package, sorted."""
    return tuple(sorted(_index()))


@cache
def shipped(name: str) -> ChatTemplate:
    """A template of this package; raises ConfigError for a name that is none."""
    data = _index().get(name)
    if data is None:
        raise ConfigError(f"there is no chat template {name!r}", help=f"known: {', '.join(template_names())}")
    return ChatTemplate(
        name=name,
        source=_file(f"{name}.jinja"),
        specials=tuple(data["specials"]),
        roles=data["roles"],
        stop=tuple(data["stop"]),
        tools=data["tools"],
    )


def template_of(framing: Mapping[str, Any]) -> ChatTemplate:
    """The template that a row's framing names (``template: llama3``) or brings (``template_source``, with
    ``specials``, ``roles``, ``stop`` and ``tools`` beside it); ChatML where it says nothing."""
    source = framing.get("template_source")
    if not isinstance(source, str):
        return shipped(as_text(framing.get("template")) or "chatml")
    if len(source) > _LARGEST_SOURCE:
        raise ConfigError(f"a chat template of {len(source):,} characters, at most {_LARGEST_SOURCE:,}")
    return ChatTemplate(
        name="template_source",
        source=source,
        specials=texts_of(framing.get("specials")),
        roles={str(k): as_text(v) for k, v in as_map(framing.get("roles")).items()},
        stop=texts_of(framing.get("stop")),
        tools=framing.get("tools_in_template") is True,
    )


def run(template: ChatTemplate, messages: Sequence[Mapping[str, Any]], tools: Sequence[Mapping[str, Any]]) -> str:
    """The text that a template makes of messages and tools; raises ConfigError where it cannot."""
    compiled = _compiled(template.source, template.specials)
    from jinja2.exceptions import TemplateError

    pieces: list[str] = []
    size = 0
    try:
        for piece in compiled.generate(
            messages=messages,
            tools=list(tools) or None,
            add_generation_prompt=True,
            bos_token=template.specials[0] if template.specials else "",
            eos_token=template.stop[0] if template.stop else "",
        ):
            pieces.append(piece)
            size += len(piece)
            if size > _LARGEST:
                raise ConfigError(f"the chat template {template.name} writes without end")
    except CtxcError:
        raise
    except (
        TemplateError,
        TypeError,
        ValueError,
        ArithmeticError,
        LookupError,
        AttributeError,
        RecursionError,
    ) as error:
        raise ConfigError(f"the chat template {template.name} cannot be used: {error}") from None
    return "".join(pieces)


@lru_cache(maxsize=32)
def _compiled(source: str, specials: tuple[str, ...]) -> Template:
    try:
        from jinja2 import StrictUndefined
        from jinja2.exceptions import TemplateError
        from jinja2.sandbox import ImmutableSandboxedEnvironment
    except ImportError:
        raise ConfigError(
            "a chat template needs jinja2, which is not installed", help="install ctxc-toolkit[chat-template]"
        ) from None
    environment = ImmutableSandboxedEnvironment(
        trim_blocks=True, lstrip_blocks=True, undefined=StrictUndefined, autoescape=False
    )
    environment.filters["tojson"] = _tojson(specials)
    environment.filters["typescript"] = _typescript
    environment.globals.clear()
    environment.globals["namespace"] = _namespace()
    environment.globals["range"] = _range
    environment.globals["raise_exception"] = _raise
    try:
        return environment.from_string(source)
    except (TemplateError, RecursionError) as error:
        raise ConfigError(f"a chat template cannot be read: {error}") from None


def _namespace() -> Any:
    from jinja2.utils import Namespace

    return Namespace


def _range(*bounds: int) -> range:
    found = range(*bounds)
    if len(found) > 100_000:
        raise ValueError("a range of more than 100,000")
    return found


def _raise(message: object) -> NoReturn:
    raise ValueError(str(message))


def _tojson(specials: tuple[str, ...]) -> Callable[..., str]:
    def tojson(value: object, indent: int | None = None) -> str:
        return quoted_json(value, specials)

    return tojson


def _typescript(tools: Sequence[Mapping[str, Any]]) -> str:
    drawn = []
    for tool in tools:
        function = as_map(tool.get("function"))
        about = as_text(function.get("description"))
        drawn.append(declaration(as_text(function.get("name")), about, as_map(function.get("parameters"))))
    return namespace(drawn)
