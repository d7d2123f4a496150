"""Every JSON Schema by name: of the files that users write, and of what ctxc prints."""

from __future__ import annotations

from importlib.resources import files

from ctxc.app.naming import advice
from ctxc.base.errors import UsageError


def kinds() -> tuple[str, ...]:
    """Names of the file kinds, then of the output formats, each sorted."""
    from ctxc.parse import schemas

    return (*sorted(schemas.kinds()), *output_kinds())


def output_kinds() -> tuple[str, ...]:
    """Names of the output formats that have a schema, sorted."""
    folder = files("ctxc.report").joinpath("schemas")
    tail = ".schema.json"
    return tuple(sorted(p.name.removesuffix(tail) for p in folder.iterdir() if p.name.endswith(tail)))


def schema_text(kind: str) -> str:
    """The schema of a kind as it is committed; raises UsageError for a kind that does not exist."""
    from ctxc.parse import schemas

    if kind in schemas.kinds():
        return schemas.schema_text(kind)
    if kind in output_kinds():
        return files("ctxc.report").joinpath("schemas", f"{kind}.schema.json").read_text(encoding="utf-8")
    raise UsageError(f"there is no schema {kind!r}", help=advice(kind, kinds()))
