"""Request shapes, one file each, and provider profiles as data (``profiles/*.yaml``).

A module of this package whose name does not begin with an underscore and is not ``port`` is a request shape: it
defines ``SHAPE``, an object that satisfies ``port.Shape``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fnmatch import fnmatchcase
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ctxc.base import registry

if TYPE_CHECKING:
    from ctxc.model.counting import Count, Tokenizer
    from ctxc.model.provider import ModelRow, ProviderProfile
    from ctxc.providers.port import Shape

_NOT_SHAPES = frozenset({"port"})
_PROFILES = Path(__file__).parent / "profiles"  # as the vocabularies; importlib.resources costs six modules


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
    return tuple(sorted(p.stem for p in _PROFILES.iterdir() if p.suffix == ".yaml"))


def profile_text(profile_id: str) -> str:
    """YAML text of a shipped profile; raises KeyError for one that does not exist."""
    if profile_id not in profile_ids():
        raise KeyError(profile_id)
    return (_PROFILES / f"{profile_id}.yaml").read_text(encoding="utf-8")


def count_raw(request: Mapping[str, Any], shape_id: str, tokenizer: Tokenizer, row: ModelRow) -> Count:
    """Tokens of any request of a shape, also of one that ctxc did not compile."""
    return shape(shape_id).count(request, tokenizer, row)


def find_row(profile: ProviderProfile, model: str) -> ModelRow | None:
    """The first row of a profile whose pattern matches a model's name, or None."""
    return next((row for row in profile.models if fnmatchcase(model, row.pattern)), None)


def who_knows(profiles: Mapping[str, ProviderProfile], model: str) -> tuple[str, ...]:
    """Ids of the profiles with a row for a model, sorted; a row for any model at all does not count."""
    found = []
    for name, profile in sorted(profiles.items()):
        row = find_row(profile, model)
        if row is not None and row.pattern.strip("*"):
            found.append(name)
    return tuple(found)


def scaled_counts(texts: Sequence[str], counts: Sequence[int], tokenizer: Tokenizer, row: ModelRow) -> list[int]:
    """Tokens of texts for a model, from a tokenizer's own counts of them, each text alone: the row's factor and the
    row's estimate for a vocabulary that is not public. ``Shape.count`` does the same with the texts of a request."""
    from ctxc.providers._tally import scaled_counts as scaled

    return scaled(texts, counts, tokenizer, row)


def prices_of(row: ModelRow, model: str) -> Mapping[str, Any] | None:
    """Prices of a model with their source and date, or None: decimal texts in US dollars for a million tokens."""
    from ctxc.providers._prices import prices_of as found

    return found(row, model)


def image_tokens(row: ModelRow, width: int, height: int, detail: str = "auto") -> int:
    """Tokens of an image of this size in pixels by the formula of a row; 0 where the row names none."""
    from ctxc.providers._images import image_tokens as tokens

    return tokens(row.images, width, height, detail)


def count_text(texts: Sequence[tuple[str, str]], tokenizer: Tokenizer, row: ModelRow) -> Count:
    """Tokens of texts alone (each with the pointer that names it), without any framing of a request: the row's factor,
    estimate and band apply. What is only reproduced of a request is its framing: the text itself is exact where the
    vocabulary is."""
    from dataclasses import replace

    from ctxc.providers._tally import Tally

    tally = Tally()
    for pointer, text in texts:
        tally.text(pointer, text)
    count = tally.finish(tokenizer, row)
    if count.method == "reproduced" and tokenizer.method == "exact":
        return replace(count, method="exact")
    return count
