"""The head as the base measures it: a change does not bring the scale that it is weighed on.

Provider profiles say how tokens are counted, what they cost and how long they take, and the setting ``tokenizers`` says
who counts. Where a change touches them, the base's policies judge requests that are compiled from the head's sources
with the base's profiles and tokenizers.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from ctxc.app.gates._files import read_or_nothing
from ctxc.app.gates._side import GateSide
from ctxc.parse.builtin import own_profiles
from ctxc.source.overlay import OverlayTree

if TYPE_CHECKING:
    from ctxc.model.project import Settings

_TOKENIZERS = "tokenizers"


def as_base_measures(head: GateSide, base: GateSide) -> GateSide:
    """The head with the measures of the base; the head itself where they are the same.

    A profile with an id that the base does not know stays: there is nothing to put in its place.
    """
    changes = {**_profiles(head, base), **_vocabularies(head, base)}
    wanted = base.settings.extra.get(_TOKENIZERS)
    if not changes and wanted == head.settings.extra.get(_TOKENIZERS):
        return head
    side = GateSide(OverlayTree(head.tree, changes), _counted_by(head.settings, wanted), head.store, kept=False)
    side.decoded = head.decoded
    return side


def _profiles(head: GateSide, base: GateSide) -> dict[str, bytes | str | None]:
    """What to show in the place of each file of a profile that is not the base's; None: nothing."""
    ours = {p.id: p for p in own_profiles(head.project.providers)}
    theirs = {p.id: p for p in own_profiles(base.project.providers)}
    found: dict[str, bytes | str | None] = {}
    for name in sorted(ours.keys() | theirs.keys()):
        own, other = ours.get(name), theirs.get(name)
        if other is None:
            assert own is not None
            if name in base.project.providers:  # it hides one that ships
                found[own.origin.path] = None
        elif own is None or own.content_hash != other.content_hash:
            place = own.origin.path if own is not None else _inside(head.settings, other.origin.path)
            found[place] = base.tree.read(other.origin.path)
    return found


def _inside(settings: Settings, path: str) -> str:
    """A path under which the head's folders show a file of the base."""
    folders = (*settings.templates, *settings.fragments, *settings.policies)
    if any(path.startswith(f"{folder.rstrip('/')}/") for folder in folders):
        return path
    return f"{settings.templates[0].rstrip('/')}/{path.replace('/', '.')}"


def _vocabularies(head: GateSide, base: GateSide) -> dict[str, bytes | str | None]:
    """Vocabulary files that the base's configuration names, where the head's are others."""
    wanted = base.settings.extra.get(_TOKENIZERS)
    paths = [p for p in wanted.values() if isinstance(p, str)] if isinstance(wanted, dict) else []
    found: dict[str, bytes | str | None] = {}
    for path in paths:
        data = read_or_nothing(base.tree, path)
        if data and data != read_or_nothing(head.tree, path):
            found[path] = data
    return found


def _counted_by(settings: Settings, wanted: object) -> Settings:
    extra = {k: v for k, v in settings.extra.items() if k != _TOKENIZERS}
    return replace(settings, extra={**extra, _TOKENIZERS: wanted} if wanted is not None else extra)
