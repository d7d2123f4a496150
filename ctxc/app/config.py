"""The project's configuration: found, read, and laid over each other with the place that each value came from.

One file a project: ``ctxc.yaml``, or the table ``[tool.ctxc]`` of ``pyproject.toml``. It is looked for in the folder
and in those above it, up to the one that holds ``.git``. Flags win over ``CTXC_*``, these over the file, the file over
the defaults. Whatever is wrong with it ends the command: a project must not be judged by half of its configuration.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ctxc.base.errors import ConfigError, UnreadableSource
from ctxc.base.spans import Location, Origin, Span
from ctxc.base.values import dataclass
from ctxc.model.project import Settings

if TYPE_CHECKING:
    from ctxc.parse.problems import Problem
    from ctxc.source.tree import Tree

FILE, PYPROJECT = "ctxc.yaml", "pyproject.toml"
MAX_BYTES = 1 << 20
# A dotted TOML key of 20 kB costs tomllib 400 MB and half a second, quadratically (measured): such a file is refused
# before it is parsed.
_TOML_SEGMENTS = 64
_PART = r"""(?:[A-Za-z0-9_-]+|"[^"\n]*"|'[^'\n]*')"""
_TOML_DOTTED = re.compile(rf"{_PART}(?:[ \t]*\.[ \t]*{_PART}){{{_TOML_SEGMENTS},}}")
_TOML_TABLE = re.compile(rb"^[ \t]*\[[ \t]*tool[ \t]*\.[ \t]*ctxc[ \t]*[\].]", re.MULTILINE)

DEFAULTS: Mapping[str, Any] = {
    "templates": ["templates"],
    "fragments": ["fragments"],
    "policies": ["policies"],
    "fixtures": ["tests/fixtures"],
    "provider": "",
    "model": "",
    "tokenizers": {},
    "per-file-ignores": {},
    "select": [],
    "ignore": [],
    "tier": "default",
    "fail-on": "error",
    "baseline": ".ctxc/baseline.jsonl",
    "policy": "",
    "policy-source": "",
    "internal-hosts": [],
    "secret-rules": [],
    "rules": {},
}
"""Every setting with its default; the names are those of the configuration's schema."""

_FOLDERS = ("templates", "fragments", "policies", "fixtures")
_FROM_ENVIRONMENT = tuple(name for name, value in DEFAULTS.items() if not isinstance(value, dict))
_OTHER_VARIABLES = (
    "CTXC_CACHE_DIR",
    "CTXC_COLOR",
    "CTXC_DEBUG",
    "CTXC_NO_CACHE",
    "CTXC_NOW",
    "CTXC_PROJECT",
    "CTXC_SHARED",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Value:
    """A setting as it applies. ``origin``: ``--model``, ``CTXC_MODEL``, ``ctxc.yaml:3:1`` or ``default``."""

    name: str
    value: Any
    origin: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """The file that configures a project; ``values`` as parsed, each with its place. No path: there is none."""

    root: Path
    path: str = ""
    values: Mapping[str, Any] | None = None
    places: Mapping[str, str] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Config:
    """The settings of a project with their origins; ``notes`` are for people who asked what happened."""

    root: Path
    path: str
    values: tuple[Value, ...]
    settings: Settings
    notes: tuple[str, ...] = ()


def find_root(start: Path) -> tuple[Path, str]:
    """The folder of the project that ``start`` lies in, and the name of its configuration file (or nothing).

    Without a configuration it is the folder that holds ``.git``, else ``start`` itself. Raises ConfigError where
    ``start`` is no folder and where two files configure one project.
    """
    here = Path(os.path.abspath(start))  # noqa: PTH100  # not resolved: a message names the path that was given
    if not here.is_dir():
        raise ConfigError(f"{str(start)!r} is not a folder", help="name the folder of the project with -C")
    repository: Path | None = None
    for folder in (here, *here.parents):
        # Not Path.is_file: a folder that may not be searched has none, it ends no command. A configuration that is a
        # folder, a pipe or a link to nothing is not taken for none.
        found = [FILE] if os.path.lexists(folder / FILE) else []
        found += [name for name in ("ctxc.yml", "ctxc.json") if os.path.isfile(folder / name)]  # noqa: PTH113
        if found and found != [FILE]:
            raise ConfigError(f"the configuration file is called {FILE}, not {found[-1]}", help=f"rename it to {FILE}")
        in_pyproject = mentions_ctxc(folder / PYPROJECT)
        if found and in_pyproject:
            raise _both()
        if found or in_pyproject:
            return folder, FILE if found else PYPROJECT
        if os.path.lexists(folder / ".git"):
            repository = folder
            break
    return repository or here, ""


def _both() -> ConfigError:
    return ConfigError(
        f"both {FILE} and [tool.ctxc] in {PYPROJECT} configure this project",
        help="keep one of them",
        location=Location(FILE),
    )


def mentions_ctxc(path: Path) -> bool:
    """Whether a pyproject.toml is there and has the table ``[tool.ctxc]``."""
    try:
        return path.is_file() and has_table(path.read_bytes())
    except OSError:
        return False


def has_table(data: bytes) -> bool:
    """Whether a TOML text has the table ``[tool.ctxc]``; a broken one, whether it looks like it."""
    if b"ctxc" not in data:
        return False
    values = _toml(data, strict=False)
    if values is None:
        return _TOML_TABLE.search(data) is not None
    tool = values.get("tool")
    return isinstance(tool, dict) and "ctxc" in tool


def read_source(root: Path, name: str) -> Source:
    """The configuration file of a project, checked against its schema; raises ConfigError for all that is wrong."""
    return parse_source(root, name, read_bytes(root / name, name)) if name else Source(root=root)


def parse_source(root: Path, name: str, data: bytes) -> Source:
    """The same from the bytes of the file."""
    from ctxc.parse import document

    if name == PYPROJECT:
        tool = (_toml(data) or {}).get("tool")
        values = tool.get("ctxc") if isinstance(tool, dict) else None
        spans = document.places(name, data)
        return Source(root=root, path=name, values=_checked(name, values, spans), places=_places(name, spans))
    parsed = document.parse(name, data)
    spans = document.places(name, data)
    errors = [p for p in parsed.problems if p.is_error]
    if errors:
        _fail(name, errors, lambda p: p.span or document.find(spans, p.pointer, key=p.on_key))
    if not parsed.has_value or parsed.value in (None, "", {}):
        return Source(root=root, path=name, values={}, places={})
    return Source(root=root, path=name, values=_checked(name, parsed.value, spans), places=_places(name, spans))


def _places(name: str, spans: Mapping[str, tuple[Span, Span | None]]) -> dict[str, str]:
    """Where each setting stands."""
    found = {}
    for pointer, (value, key) in spans.items():
        if pointer.count("/") == 1:
            found[pointer[1:].replace("~1", "/").replace("~0", "~")] = str(Location(name, key or value))
    return found


def source_in_tree(tree: Tree) -> Source:
    """The configuration in a tree: ``ctxc.yaml``, the table in ``pyproject.toml``, or nothing; raises ConfigError."""
    found = [(name, tree.read(name)) for name in (FILE, PYPROJECT) if tree.exists(name)]
    found = [(name, data) for name, data in found if name == FILE or has_table(data)]
    if len(found) > 1:
        raise _both()
    for name, data in found:
        return parse_source(Path(), name, data)
    return Source(root=Path())


def resolve(source: Source, *, flags: Mapping[str, Any], environment: Mapping[str, str]) -> Config:
    """Flags over environment over file over defaults; raises ConfigError for a variable whose value cannot be."""
    values: list[Value] = []
    in_file, places = source.values or {}, source.places or {}
    for name, default in DEFAULTS.items():
        variable = variable_of(name)
        if name in flags:
            values.append(Value(name=name, value=flags[name], origin=f"--{name}"))
        elif name in _FROM_ENVIRONMENT and environment.get(variable):
            values.append(Value(name=name, value=_from_text(name, variable, environment[variable]), origin=variable))
        elif name in in_file:
            value = in_file[name]
            as_list = [value] if isinstance(default, list) and isinstance(value, str) else value
            values.append(Value(name=name, value=as_list, origin=places.get(name, source.path)))
        else:
            values.append(Value(name=name, value=default, origin="default"))
    return Config(
        root=source.root,
        path=source.path,
        values=tuple(values),
        settings=_settings(values, source.path),
        notes=_unknown_variables(environment),
    )


def variable_of(name: str) -> str:
    """The environment variable of a setting."""
    return "CTXC_" + name.upper().replace("-", "_")


def _settings(values: list[Value], path: str) -> Settings:
    by_name = {v.name: v for v in values}
    for name in _FOLDERS:
        _check_folders(by_name[name])
    _check_vocabularies(by_name["tokenizers"])
    own = {n: by_name[n].value for n in DEFAULTS}
    return Settings(
        **{name: tuple(_folder(f) for f in own[name]) for name in _FOLDERS},
        provider=own["provider"],
        model=own["model"],
        per_file_ignores={k: tuple(v) for k, v in own["per-file-ignores"].items()},
        extra={n: v for n, v in own.items() if n not in (*_FOLDERS, "provider", "model", "per-file-ignores")},
        origins={n: Origin(path, f"/{n}") for n in ("provider", "model") if _is_in_file(by_name[n], path)},
    )


def _is_in_file(value: Value, path: str) -> bool:
    return bool(path) and value.origin.startswith(path)


def _folder(text: str) -> str:
    return text.removeprefix("./").rstrip("/") or "."


def _check_folders(value: Value) -> None:
    from ctxc.source.paths import fault_of_path

    for folder in value.value:
        fault = "" if _folder(folder) == "." else fault_of_path(_folder(folder))
        if fault:
            raise ConfigError(
                f"{value.origin}: the folder {folder!r} of `{value.name}` {fault}",
                help="name a folder inside the project, relative to its root",
            )


def _check_vocabularies(value: Value) -> None:
    from ctxc.source.paths import fault_of_path

    for name, path in value.value.items():
        fault = fault_of_path(path.removeprefix("./")) if isinstance(path, str) else ""
        if fault:
            raise ConfigError(
                f"{value.origin}: the file {path!r} of `tokenizers`, {name!r}, {fault}",
                help="name a vocabulary file inside the project, relative to its root",
            )


def _from_text(name: str, variable: str, text: str) -> Any:
    default = DEFAULTS[name]
    if isinstance(default, list):
        return [part for part in text.split(os.pathsep) if part]
    allowed = {"tier": ("default", "strict", "audit"), "fail-on": ("error", "warning", "info", "never"),
               "policy-source": ("base", "head")}.get(name)  # fmt: skip
    if allowed and text not in allowed:
        raise ConfigError(f"{variable} is {text!r}", help=f"it may be {', '.join(allowed)}")
    return text


def _unknown_variables(environment: Mapping[str, str]) -> tuple[str, ...]:
    known = {*map(variable_of, _FROM_ENVIRONMENT), *_OTHER_VARIABLES}
    strange = sorted(v for v in environment if v.startswith("CTXC_") and v not in known)
    if not strange:
        return ()
    from difflib import get_close_matches

    notes = []
    for variable in strange:
        near = get_close_matches(variable, sorted(known), n=1, cutoff=0.8)
        if near:
            notes.append(f"{variable} is set and means nothing; did you mean {near[0]}?")
    return tuple(notes)


def _checked(name: str, values: Any, spans: dict[str, tuple[Span, Span | None]]) -> Mapping[str, Any]:
    from ctxc.parse import document
    from ctxc.parse.schemas import schema
    from ctxc.parse.validate import Validator

    problems: list[Problem] = []
    checked = Validator(schema("config")).check(values, problems)
    errors = [p for p in problems if p.is_error]
    if errors:
        _fail(name, errors, lambda p: p.span or document.find(spans, p.pointer, key=p.on_key))
    assert isinstance(checked, dict)
    return checked


def _fail(name: str, problems: list[Problem], span_of: Any) -> None:
    """Raise the first problem; the others are named with it, so that one run is enough to mend them all."""
    first, *others = sorted(problems, key=lambda p: span_of(p) or Span(0, 0, 0, 0))
    more = [f"{Location(name, span_of(p))}: {p.message}" for p in others]
    raise ConfigError(first.message, help="\n".join([first.help, *more]), location=Location(name, span_of(first)))


def read_bytes(path: Path, name: str) -> bytes:
    from ctxc.source.disk import read_named

    try:
        return read_named(path, name, MAX_BYTES, help="write a short file there that may be read, or remove it")
    except UnreadableSource as error:
        raise ConfigError(error.message, help=error.help) from error


def _toml(data: bytes, *, strict: bool = True) -> dict[str, Any] | None:
    """The tables of a TOML file; None where it is broken and ``strict`` is not asked for."""
    import tomllib

    try:
        text = data.decode("utf-8")
        if len(data) > MAX_BYTES or _TOML_DOTTED.search(text):
            raise ValueError(f"a key has more than {_TOML_SEGMENTS} parts, or the file more than {MAX_BYTES:,} bytes")
        return tomllib.loads(text)
    except (ValueError, RecursionError) as error:  # TOMLDecodeError and UnicodeDecodeError are ValueErrors
        if not strict:
            return None
        line = re.search(r"at line (\d+), column (\d+)", str(error))
        span = Span(int(line[1]), int(line[2]), int(line[1]), int(line[2])) if line else None
        raise ConfigError(
            f"not valid TOML: {re.sub(r' [(]at line.*', '', str(error))}",
            help="mend the file; the rest of it decides whether [tool.ctxc] counts",
            location=Location(PYPROJECT, span),
        ) from error
