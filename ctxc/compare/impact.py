"""Blast radius: from a file that differs to what it defines, the templates that use it, and the fixtures it reaches."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import field

from ctxc.base.values import dataclass
from ctxc.model.change import SourceChange
from ctxc.source.changes import PathChange


@dataclass(frozen=True, slots=True, kw_only=True)
class Reach:
    """What is known of files on both sides.

    ``objects``: ``kind id`` of what a path defines or is the text of; ``fixtures``: those that are compiled from it;
    ``template``: the template of each fixture; ``uses``: templates that name a path themselves.
    """

    objects: Mapping[str, Collection[str]] = field(default_factory=dict)
    fixtures: Mapping[str, Collection[str]] = field(default_factory=dict)
    template: Mapping[str, str] = field(default_factory=dict)
    uses: Mapping[str, Collection[str]] = field(default_factory=dict)


def source_changes(changed: Iterable[PathChange], reach: Reach, differing: Collection[str]) -> tuple[SourceChange, ...]:
    """Each file that differs with its blast radius; ``differing`` are the fixtures that a model sees differently."""
    found = []
    for change in changed:
        paths = dict.fromkeys(p for p in (change.path, change.old_path) if p)
        objects = sorted({o for p in paths for o in reach.objects.get(p, ())})
        affects = [] if change.line_endings else sorted({f for p in paths for f in reach.fixtures.get(p, ())})
        templates = {reach.template[f] for f in affects if reach.template.get(f)}
        templates |= {t for p in paths for t in reach.uses.get(p, ())}
        found.append(
            SourceChange(
                path=change.path,
                status=change.status.value,
                old_path=change.old_path if change.old_path != change.path else "",
                line_endings=change.line_endings,
                objects=tuple(objects),
                templates=tuple(sorted(templates)),
                affects=tuple(affects),
                differs=tuple(f for f in affects if f in differing),
            )
        )
    return tuple(found)
