"""Which fragments a route makes candidates. An inverted index, so that a thousand fragments cost no more than ten."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping

from ctxc.base.canonical import digest_json
from ctxc.base.globs import matches_glob
from ctxc.model.fragment import GROUPS, Fragment, LoadMode, LostFragment
from ctxc.model.lookup import candidates
from ctxc.model.project import Project

Route = Mapping[str, tuple[str, ...]]

FILES = "files"
"""The key of a route that holds paths."""


def matches(conditions: Mapping[str, tuple[str, ...]], route: Route) -> bool:
    """Whether every key of the conditions matches, any of its values; a key that the route lacks does not match.

    ``files`` holds globs that are compared with the route's file paths.
    """
    for key, wanted in conditions.items():
        have = route.get(key)
        if not have:
            return False
        if key == FILES:
            if not any(matches_glob(path, pattern) for pattern in wanted for path in have):
                return False
        elif not any(value in wanted for value in have):
            return False
    return True


def prompt_order(fragment: Fragment) -> tuple[int, int, str]:
    """Core, family, task, capability; inside a group by priority, highest first, then id."""
    return (GROUPS.index(fragment.kind), -fragment.priority, fragment.id)


class FragmentIndex:
    """Fragments by the condition of theirs that the fewest others share."""

    def __init__(self, project: Project) -> None:
        self._all = project.fragments
        self.newest: dict[str, Fragment] = {k: v[-1] for k, v in project.fragments.items() if v}
        self._open: list[Fragment] = []
        self._keyed: dict[tuple[str, str], list[Fragment]] = {}
        routed = [f for f in self.newest.values() if _is_routed(f)]
        shared = Counter((key, value) for f in routed for key, values in f.applies_when.items() for value in values)
        for fragment in self.newest.values():
            if fragment.load_mode is LoadMode.EXPLICIT:
                continue
            keys = [k for k in fragment.applies_when if k != FILES]
            if not _is_routed(fragment) or not keys:
                # A route-matched fragment without conditions matches nothing: it names no route.
                if fragment.applies_when or fragment.load_mode is not LoadMode.ROUTE_MATCH:
                    self._open.append(fragment)
                continue
            key = min(keys, key=lambda k: (sum(shared[k, v] for v in fragment.applies_when[k]), k))
            for value in fragment.applies_when[key]:
                self._keyed.setdefault((key, value), []).append(fragment)

    def named(self, name: str) -> Fragment | None:
        """The fragment that a reference means: ``id`` or ``id@version``."""
        found = self.newest.get(name)
        if found is None:
            pinned = candidates(self._all, name)
            found = pinned[-1] if pinned else None
        return found

    def candidates(self, route: Route) -> tuple[Fragment, ...]:
        """Fragments that the route itself makes candidates (not those that are only required by another), by id."""
        found: dict[str, Fragment] = {}
        for fragment in self._open:
            if fragment.load_mode is LoadMode.ALWAYS or matches(fragment.applies_when, route):
                found[fragment.id] = fragment
        for key, values in route.items():
            for value in values:
                for fragment in self._keyed.get((key, value), ()):
                    if fragment.id not in found and matches(fragment.applies_when, route):
                        found[fragment.id] = fragment
        return tuple(found[k] for k in sorted(found))


def may_match(lost: LostFragment, route: Route) -> bool:
    """Whether a route might make a fragment a candidate that could not be loaded: yes, where nobody can know."""
    if lost.id and lost.load_mode is LoadMode.EXPLICIT:
        return False
    if not lost.id or lost.load_mode in (None, LoadMode.ALWAYS) or lost.applies_when is None:
        return True
    return matches(lost.applies_when, route)


def _is_routed(fragment: Fragment) -> bool:
    """Whether only some routes make a fragment a candidate."""
    return fragment.load_mode not in (LoadMode.EXPLICIT, LoadMode.ALWAYS) and bool(fragment.applies_when)


def route_key(candidates: Iterable[Fragment]) -> str:
    """Identity of a set of candidates: changes when a fragment newly matches or no longer does."""
    return digest_json([[f.id, f.version, f.origin.path, f.origin.pointer] for f in candidates])[7:]
