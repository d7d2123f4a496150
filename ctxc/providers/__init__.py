"""Request shapes, one file each, and provider profiles as data (``profiles/*.yaml``).

A module of this package whose name does not begin with an underscore and is not ``port`` is a request shape: it
defines ``SHAPE``, an object that satisfies ``port.Shape``.
"""

from __future__ import annotations

from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING

from ctxc.base import registry

if TYPE_CHECKING:
    from ctxc.providers.port import Shape

_NOT_SHAPES = frozenset({"port"})


def shape_ids() -> tuple[str, ...]:
    """Names of all request shapes, sorted."""
    return tuple(n for n in registry.names(__name__) if n not in _NOT_SHAPES)


@cache
def shape(name: str) -> Shape:
    """The request shape of a name; raises KeyError for one that does not exist."""
    if name not in shape_ids():
        raise KeyError(name)
    found: Shape = registry.load(__name__, name).SHAPE
    return found


def profile_ids() -> tuple[str, ...]:
    """Ids of the provider profiles that ship with the package, sorted."""
    folder = files(__name__).joinpath("profiles")
    return tuple(sorted(p.name[:-5] for p in folder.iterdir() if p.name.endswith(".yaml")))


def profile_text(profile_id: str) -> str:
    """YAML text of a shipped profile; raises KeyError for one that does not exist."""
    if profile_id not in profile_ids():
        raise KeyError(profile_id)
    return files(__name__).joinpath("profiles", profile_id + ".yaml").read_text(encoding="utf-8")
