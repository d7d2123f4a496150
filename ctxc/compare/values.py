"""Differences of free-form values: state, metadata, fields of a tool that no provider sees.

DeepDiff compares them, and is imported when two values differ. It is given objects only: an entry of a list goes by
its id, a scalar by itself, so that an insertion is one addition and a reorder is a reorder.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from ctxc.base.canonical import canonical

_NAMES = ("id", "name", "key", "call_id", "topic")
"""Keys by which an entry of a list is known, in this order."""

ABSENT = object()
_ORDER = "\0order"


class ValueChange(NamedTuple):
    """A value that differs at a path of keys and indexes (of base for what is gone). ``kind``: changed, type, added,
    removed or moved; ``base`` and ``head`` are ABSENT where a side has none. ``was`` is its path at base."""

    path: tuple[str | int, ...]
    kind: str
    base: Any
    head: Any
    was: tuple[str | int, ...] = ()


def value_changes(base: Any, head: Any) -> tuple[ValueChange, ...]:
    """What differs between two values of JSON's types, sorted by path."""
    if canonical(base) == canonical(head):
        return ()
    if not isinstance(base, (Mapping, list, tuple)) or type(base) is not type(head):
        return (ValueChange((), "changed" if type(base) is type(head) else "type", base, head),)
    from deepdiff import DeepDiff

    old, new = _keyed(base), _keyed(head)
    found: list[ValueChange] = []
    for report, levels in DeepDiff(old, new, view="tree", verbose_level=2, threshold_to_diff_deeper=0).items():
        for level in levels:
            keys = level.path(output_format="list")
            if report == "dictionary_item_added":
                found.append(ValueChange(_path(head, keys), "added", ABSENT, _at(head, keys)))
            elif report == "dictionary_item_removed":
                gone = _path(base, keys)
                found.append(ValueChange(gone, "removed", _at(base, keys), ABSENT, gone))
            elif keys and keys[-1] == _ORDER:
                inside = keys[:-1]
                if _reordered(_at(base, inside), _at(head, inside)):
                    values = _at(base, inside), _at(head, inside)
                    found.append(ValueChange(_path(head, inside), "moved", *values, _path(base, inside)))
            else:
                kind = "type" if report == "type_changes" else "changed"
                values = _at(base, keys), _at(head, keys)
                found.append(ValueChange(_path(head, keys), kind, *values, _path(base, keys)))
    return tuple(sorted(found, key=lambda c: ([str(k) for k in c.path], c.kind)))


def shown(value: Any) -> str:
    """A value as a person reads it: a text as it is, the rest as JSON; nothing where there is none."""
    if value is ABSENT:
        return ""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


class _List(dict[str, Any]):
    """A list in the keyed form: another type than an object, so that one never passes for the other."""


def _keyed(value: Any) -> Any:
    """The value with every list as an object: entries by their id, scalars by themselves, others by their place."""
    if isinstance(value, Mapping):
        return {str(k): _keyed(v) for k, v in value.items()}
    if isinstance(value, (list, tuple)):
        keys = _keys(value)
        return _List(zip(keys, map(_keyed, value), strict=True), **{_ORDER: canonical(keys)})
    return value


def _keys(items: Sequence[Any]) -> list[str]:
    """A key for each entry of a list, each once."""
    name = next((n for n in _NAMES if items and all(isinstance(i, Mapping) and n in i for i in items)), None)
    seen: dict[str, int] = {}
    keys = []
    for number, item in enumerate(items):
        if name is not None:
            key = f"{name}={canonical(item[name])}"
        elif isinstance(item, (Mapping, list, tuple)):
            key = f"#{number}"
        else:
            key = canonical(item)
        seen[key] = seen.get(key, 0) + 1
        keys.append(key if seen[key] == 1 else f"{key}#{seen[key]}")
    return keys


def _step(value: Any, key: Any) -> tuple[str | int, Any]:
    """The real key or index that a key of the keyed form stands for, and what is there."""
    if isinstance(value, (list, tuple)):
        index = _keys(value).index(key)
        return index, value[index]
    real = next(k for k in value if str(k) == key)
    return str(real), value[real]


def _path(value: Any, keys: Sequence[Any]) -> tuple[str | int, ...]:
    found: list[str | int] = []
    for key in keys:
        real, value = _step(value, key)
        found.append(real)
    return tuple(found)


def _at(value: Any, keys: Sequence[Any]) -> Any:
    for key in keys:
        _, value = _step(value, key)
    return value


def _reordered(base: Any, head: Any) -> bool:
    """Whether entries that both lists hold stand in another order."""
    old, new = _keys(base), _keys(head)
    return [k for k in old if k in set(new)] != [k for k in new if k in set(old)]
