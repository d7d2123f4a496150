"""Everything that has an id and should have a version, in one shape."""

from __future__ import annotations

from typing import NamedTuple

from ctxc.base.spans import Origin
from ctxc.rules.engine import Context

_KINDS = (
    ("template", "templates", "template_id"),
    ("fragment", "fragments", "fragment_id"),
    ("contract", "contracts", "contract_id"),
    ("tool set", "toolsets", "toolset_id"),
    ("request profile", "profiles", "profile_id"),
    ("policy", "policies", "policy_id"),
)


class Item(NamedTuple):
    """One version of an object, and under which key its id stands."""

    kind: str
    id: str
    version: str
    origin: Origin
    id_key: str


def objects(context: Context) -> tuple[Item, ...]:
    """Every object by kind and id; tool files that a section names by path have no id of their own and are left out."""
    return context.shared(_objects)


def _objects(context: Context) -> tuple[Item, ...]:
    found = []
    for kind, attribute, id_key in _KINDS:
        for name, versions in getattr(context.project, attribute).items():
            for item in versions:
                if name == item.id and item.id != item.origin.path:
                    found.append(Item(kind, item.id, item.version, item.origin, id_key))
    return tuple(found)
