"""Requests that ctxc did not compile: read from files, recognised, and given their provider, model and tokenizer."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

from ctxc.base.errors import UnreadableSource, UsageError
from ctxc.base.spans import Location, Span
from ctxc.base.values import dataclass

if TYPE_CHECKING:
    from ctxc.app.workspace import Workspace
    from ctxc.model.counting import Tokenizer
    from ctxc.model.provider import ModelRow, ProviderProfile
    from ctxc.providers.port import Shape

MAX_BYTES = 256 << 20
"""Bytes of a file of requests that are read; a longer log has to be split."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """Who is asked: a provider's profile, the row of the model, and what counts for it."""

    profile: ProviderProfile
    row: ModelRow
    model: str
    tokenizer: Tokenizer
    shape: Shape


@dataclass(frozen=True, slots=True, kw_only=True)
class Logged:
    """A line of a log: a request, and what else the line says of it. ``at`` in seconds since 1970."""

    number: int
    request: Mapping[str, Any]
    url: str = ""
    usage: Mapping[str, Any] | None = None
    at: int | None = None
    id: str = ""
    weight: int = 1


def read_bytes(path: str, stdin: bytes | None = None) -> bytes:
    """A file's bytes, or those of the standard input for ``-``; raises UnreadableSource."""
    if path == "-":
        if stdin is None:
            raise UsageError("nothing was given on the standard input")
        return stdin
    try:
        with Path(path).open("rb") as file:
            data = file.read(MAX_BYTES + 1)
    except OSError as error:
        reason = error.strerror or type(error).__name__
        raise UnreadableSource(
            f"cannot read {path!r}: {reason}", help="name a file that exists, or - for the standard input"
        ) from error
    if len(data) > MAX_BYTES:
        raise UnreadableSource(f"{path!r} is larger than {MAX_BYTES >> 20} MiB", help="split it")
    return data


def as_text(data: bytes, path: str) -> str:
    """Bytes as UTF-8 text without a byte order mark; raises UnreadableSource naming the first bad byte."""
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise UnreadableSource(
            f"{path!r} is not UTF-8: byte {error.start:,} is 0x{data[error.start]:02x}", help="convert it to UTF-8"
        ) from error


def _syntax(text: str, line: int, error: json.JSONDecodeError) -> tuple[int, int, str]:
    """Line, column and words of a mistake, as our own reader has them: those of ``json`` differ by Python version."""
    from ctxc.parse.json_text import read_json_nodes

    said = "not valid JSON: "
    for problem in read_json_nodes(text).problems:
        if problem.span is not None and problem.message.startswith(said):
            return line + problem.span.line - 1, problem.span.column, f"not JSON: {problem.message.removeprefix(said)}"
    return line + error.lineno - 1, error.colno, f"not JSON: {error.msg}"


def parse(text: str, path: str, *, line: int = 1, help: str = "correct the file") -> Any:
    """A JSON value; raises UnreadableSource with the place of what is wrong. ``line`` is where the text begins."""

    def unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        found = dict(pairs)
        if len(found) != len(pairs):
            twice = next(k for k, count in Counter(k for k, _ in pairs).items() if count > 1)
            _bad(path, line, 1, f"the key {twice!r} stands twice in one object", help)
        return found

    def refuse(name: str) -> NoReturn:
        _bad(path, line, 1, f"{name} is not JSON", help)

    try:
        value = json.loads(text, object_pairs_hook=unique, parse_constant=refuse)
        # A half of a surrogate pair can be written as an escape; no provider takes it and no tokenizer counts it.
        json.dumps(value, ensure_ascii=False).encode("utf-8")
    except json.JSONDecodeError as error:
        _bad(path, *_syntax(text, line, error), help)
    except UnicodeEncodeError:
        _bad(path, line, 1, "half of a surrogate pair stands in a string", help)
    except RecursionError:
        _bad(path, line, 1, "nested too deeply", help)
    except ValueError as error:
        _bad(path, line, 1, f"not JSON: {error}", help)
    return value


_LINES = "each line holds one request, or an object with `request` and what was recorded of it"


def _bad(path: str, line: int, column: int, message: str, help: str = _LINES) -> NoReturn:
    raise UnreadableSource(
        message,
        help=help,
        location=Location(path, Span(line, column, line, column + 1)),
    )


def read_log(text: str, path: str) -> list[Logged]:
    """Requests of a log: JSON Lines, one JSON object, or a JSON array of them; raises UnreadableSource."""
    stripped = text.lstrip()
    if stripped[:1] == "[":
        values = [(1, v) for v in _array(parse(text, path, help=_LINES), path)]
    elif _is_one_value(text):
        values = [(1, parse(text, path, help=_LINES))]
    else:
        values = [
            (number, parse(line, path, line=number, help=_LINES))
            for number, line in enumerate(text.split("\n"), start=1)
            if line.strip()
        ]
    if not values:
        raise UnreadableSource(f"{path!r} holds no request", help="write one request a line")
    return [_logged(number, value, path) for number, value in values]


def _array(value: Any, path: str) -> list[Any]:
    if not isinstance(value, list):
        _bad(path, 1, 1, "expected an array of requests")
    return value


def _is_one_value(text: str) -> bool:
    """Whether the text is one JSON object over several lines."""
    first = text.lstrip().split("\n", 1)[0].strip()
    if not first.startswith("{"):
        return False
    try:
        json.loads(first)
    except ValueError:
        return True
    return False


def _logged(number: int, value: Any, path: str) -> Logged:
    if not isinstance(value, dict):
        _bad(path, number, 1, "expected an object")
    if not isinstance(value.get("request"), dict):
        return Logged(number=number, request=value)
    usage = value.get("usage")
    if usage is None and isinstance(value.get("response"), dict):
        usage = value["response"].get("usage") or value["response"].get("usageMetadata")
    weight = value.get("weight", 1)
    if type(weight) is not int or weight < 1:
        _bad(path, number, 1, f"`weight` has to be a whole number from 1, not {weight!r}")
    url, name = value.get("url"), value.get("id")
    return Logged(
        number=number,
        request=value["request"],
        url=url if isinstance(url, str) else "",
        usage=usage if isinstance(usage, dict) else None,
        at=_seconds(value.get("at"), path, number),
        id=name if isinstance(name, str) else "",
        weight=weight,
    )


def _seconds(value: Any, path: str, number: int) -> int | None:
    """Seconds of a time: a number, or RFC 3339 text (without a zone it is UTC)."""
    if value is None:
        return None
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return int(value)
    if isinstance(value, str):
        found = seconds_of(value)
        if found is not None:
            return found
    _bad(path, number, 1, f"`at` is neither seconds nor an RFC 3339 time: {value!r}")


def seconds_of(text: str) -> int | None:
    """Seconds since 1970 of an RFC 3339 time; None for another text."""
    from datetime import UTC, datetime

    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        return None
    return int((moment if moment.tzinfo is not None else moment.replace(tzinfo=UTC)).timestamp())


def find_target(
    workspace: Workspace,
    *,
    provider: str = "",
    model: str = "",
    tokenizer: str = "",
    request: Mapping[str, Any] | None = None,
    url: str = "",
) -> Target:
    """Who a request is for: what was asked for, else what its address, its shape and its own ``model`` say, else the
    project's configuration. Raises UsageError, naming the nearest, where that is nobody or a model nobody knows."""
    from ctxc import providers
    from ctxc.app.tokenizers import reference
    from ctxc.usage.recognise import model_of

    known = workspace.project.providers
    settings = workspace.settings
    named = model or (model_of(request, url) if request is not None else "")
    chosen = provider or _provider_of(request, url, named, known, settings.provider)
    profile = known.get(chosen)
    if profile is None:
        raise _unknown("provider", chosen, known, "--provider")
    wanted = named or (settings.model if chosen == settings.provider else "") or profile.default_model
    row = providers.find_row(profile, wanted)
    if row is None and "/" in wanted:
        # A gateway's name for the model: the provider's own stands behind the stroke.
        wanted = wanted.rpartition("/")[2]
        row = providers.find_row(profile, wanted)
    if row is None:
        others = providers.who_knows(known, named)
        if others:
            hint = f"pass --provider {' or --provider '.join(others)}"
            raise UsageError(f"there is no model {wanted!r} of provider {profile.id!r}", help=hint)
        raise _unknown("model", wanted, [r.pattern for r in profile.models], "--model", of=profile.id)
    return Target(
        profile=profile,
        row=row,
        model=wanted,
        tokenizer=workspace.tokenizer(reference(row, tokenizer)),
        shape=providers.shape(profile.shape),
    )


def _provider_of(
    request: Mapping[str, Any] | None,
    url: str,
    model: str,
    known: Mapping[str, ProviderProfile],
    configured: str,
) -> str:
    from ctxc import providers
    from ctxc.usage.recognise import PROFILES, profile_at, shape_of

    at = profile_at(url) if url else ""
    if at in known:
        return at
    shape = shape_of(request) if request is not None else None
    own = known.get(configured)
    named = providers.who_knows(known, model) if model and shape is None else ()
    if named and (own is None or providers.find_row(own, model) is None):
        return "openai" if "openai" in named else named[0]  # of two interfaces of a vendor, the one of chats
    if own is not None and (shape is None or own.shape == shape):
        return configured
    likely = PROFILES.get(shape or "", ())
    for name in likely:
        profile = known.get(name)
        row = providers.find_row(profile, model) if profile is not None and model else None
        if row is not None and row.pattern.strip("*"):
            return name
    if not likely:
        if configured:
            return configured
        unknown = (
            f"no provider is known to have the model {model!r}"
            if model and shape is None
            else ("it is not known for which provider to count")
        )
        raise UsageError(unknown, help="name one: --provider openai --model gpt-5.6-sol")
    return likely[0]


def _unknown(
    what: str, name: str, known: Sequence[str] | Mapping[str, Any], option: str, *, of: str = ""
) -> UsageError:
    near = get_close_matches(name, [k.strip("*") for k in known], n=1, cutoff=0.4)
    hint = f"did you mean {near[0]!r}? " if near else ""
    where = f" of provider {of!r}" if of else ""
    return UsageError(f"there is no {what} {name!r}{where}", help=f"{hint}{option} takes one of: {', '.join(known)}")
