"""Tools by name, as values. Order and serialization are facts of their own: a model that is sent the same definitions
with their keys in another order has the same tools and another prompt.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence

from ctxc.base.canonical import canonical
from ctxc.compare.descriptions import Telling, brief, described
from ctxc.compare.schemas import schema_changes
from ctxc.compare.sequences import moved
from ctxc.compare.values import shown, value_changes
from ctxc.model.change import FieldChange, SchemaChange, ToolChange, ToolsChange
from ctxc.model.project import Sources
from ctxc.model.section import Tool


def tools_change(
    base: Sequence[Tool], head: Sequence[Tool], *, context: int = 0, sources: Sources | None = None
) -> ToolsChange | None:
    """What differs between two lists of tools, in the order in which a model reads them; None where nothing does."""
    old, new = {t.name: t for t in base}, {t.name: t for t in head}
    renamed = _renamed(old, new)
    wandering = moved(
        [renamed.get(t.name, t.name) for t in base],
        [t.name for t in head],
        {t.name: 1 for t in head if t.name in old and _bytes(old[t.name]) == _bytes(t)},
    )
    telling = Telling(context=context, sources=sources)
    found: list[ToolChange] = []
    places = {t.name: n for n, t in enumerate(base)}
    was = {now: before for before, now in renamed.items()}
    for number, tool in enumerate(head):
        before = old.get(was.get(tool.name, tool.name))
        if before is None:
            found.append(_single(tool, "added", None, number, telling))
            continue
        change = _one(before, tool, (places[before.name], number), tool.name in wandering, telling)
        if change is not None:
            found.append(change)
    for number, tool in enumerate(base):
        if tool.name not in new and tool.name not in renamed:
            found.append(_single(tool, "removed", number, None, Telling()))
    if not found:
        return None
    return ToolsChange(
        base_count=len(base),
        head_count=len(head),
        added=sum(t.status == "added" for t in found),
        removed=sum(t.status == "removed" for t in found),
        changed=sum(t.status == "changed" for t in found),
        moved=sum(t.moved for t in found),
        reserialized=sum(t.reserialized for t in found),
        unseen=sum(bool(t.unseen) for t in found),
        breaking=any(t.breaking for t in found),
        tools=tuple(found),
    )


def told(change: ToolsChange) -> str:
    """The change in one line: ``0 tools changed, 94 re-serialized``."""
    if change.changed == change.added == change.removed == change.reserialized == 0 and change.moved:
        return f"same {change.head_count:,} tool{'' if change.head_count == 1 else 's'}, order changed"
    parts = [f"{change.changed:,} tool{'' if change.changed == 1 else 's'} changed"]
    named = ((change.added, "added"), (change.removed, "removed"), (change.moved, "moved"))
    parts += [f"{count:,} {what}" for count, what in named if count]
    if change.reserialized:
        parts.append(f"{change.reserialized:,} re-serialized")
    if change.unseen:
        parts.append(f"{change.unseen:,} in fields that no provider sees")
    return ", ".join(parts)


def _bytes(tool: Tool) -> str:
    """The definition as it is sent, with its keys in their own order."""
    return json.dumps([tool.name, tool.description, tool.input_schema, tool.strict], ensure_ascii=False)


def _value(tool: Tool) -> str:
    return canonical([tool.description, tool.input_schema, tool.strict])


def _renamed(old: Mapping[str, Tool], new: Mapping[str, Tool]) -> dict[str, str]:
    """Old name to new of tools that have another name and are the same otherwise, where that is certain."""
    gone: dict[str, list[str]] = {}
    for name, tool in old.items():
        if name not in new:
            gone.setdefault(_value(tool), []).append(name)
    come: dict[str, list[str]] = {}
    for name, tool in new.items():
        if name not in old:
            come.setdefault(_value(tool), []).append(name)
    return {names[0]: come[value][0] for value, names in gone.items() if len(names) == len(come.get(value, ())) == 1}


def _single(
    tool: Tool, status: str, base_position: int | None, head_position: int | None, telling: Telling
) -> ToolChange:
    reason = "tool added" if status == "added" else "tool removed: whoever calls it breaks"
    return ToolChange(
        name=tool.name,
        status=status,
        breaking=status == "removed",
        base_position=base_position,
        head_position=head_position,
        changes=(SchemaChange(pointer="", kind="tool", breaking=status == "removed", reason=reason),),
        path=tool.origin.path,
        line=telling.line(tool.origin),
    )


def _one(base: Tool, head: Tool, places: tuple[int, int], is_moved: bool, telling: Telling) -> ToolChange | None:
    changes = [*schema_changes(base.input_schema, head.input_schema, "input")]
    renamed = base.name if base.name != head.name else ""
    if base.description != head.description:
        changes.insert(
            0,
            SchemaChange(
                pointer="/description",
                kind="description",
                breaking=False,
                reason="description only",
                base=base.description,
                head=head.description,
            ),
        )
    if renamed:
        reason = f'renamed from "{renamed}": whoever calls it by that name breaks'
        changes.insert(0, SchemaChange(pointer="", kind="tool", breaking=True, reason=reason))
    if base.strict != head.strict:
        changes.append(
            SchemaChange(
                pointer="/strict",
                kind="strict",
                breaking=False,
                reason="strict mode changed",
                base=shown(base.strict),
                head=shown(head.strict),
            )
        )
    unseen = tuple(
        FieldChange(name="/".join(map(str, c.path)) or "extra", facet="meta", base=shown(c.base), head=shown(c.head))
        for c in value_changes(dict(base.extra), dict(head.extra))
    )
    reserialized = not changes and _bytes(base) != _bytes(head)
    status = "changed" if changes else "moved" if is_moved else "reserialized" if reserialized else "unseen"
    if status == "unseen" and not unseen:
        return None
    return ToolChange(
        name=head.name,
        status=status,
        breaking=any(c.breaking for c in changes),
        renamed_from=renamed,
        base_position=places[0],
        head_position=places[1],
        moved=is_moved,
        reserialized=reserialized,
        changes=brief(changes),
        hunks=described(changes, head.origin, telling),
        unseen=unseen,
        path=head.origin.path,
        line=telling.line(head.origin),
    )
