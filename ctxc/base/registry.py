"""The directory registry: adding a rule, tokenizer, provider, format or command is adding one file."""

from __future__ import annotations

from functools import cache
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType


@cache
def names(package: str) -> tuple[str, ...]:
    """Public module names in a package's folder, sorted, without importing any of them."""
    spec = find_spec(package)
    if spec is None or not spec.submodule_search_locations:
        return ()
    found: set[str] = set()
    for place in spec.submodule_search_locations:
        for entry in Path(place).iterdir():
            if entry.suffix == ".py" and not entry.name.startswith("_"):
                found.add(entry.stem)
    return tuple(sorted(found))


def load(package: str, name: str) -> ModuleType:
    """Import one module of a package by its file name."""
    return import_module(f"{package}.{name}")
