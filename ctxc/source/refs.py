"""Names of branches and tags, for a suggestion when a revision does not resolve.

GitPython reads the reference files itself and runs nothing that the repository configures (a test with a hostile
configuration and a trace of started programs holds this); importing it starts one ``git version``. It costs 0.1 s, so
it is used here only, when the error is certain.
"""

from __future__ import annotations

from itertools import islice

from ctxc.source.gitdir import GitPlace
from ctxc.source.paths import shown

_MAX_REFERENCES = 10_000
_MAX_NAMES = 3


def similar_names(place: GitPlace, revision: str) -> tuple[str, ...]:
    """Up to three branches or tags whose names are near the revision's; none where the references cannot be read."""
    from difflib import get_close_matches

    names = _names(place)
    stem = revision.split("^", maxsplit=1)[0].split("~", maxsplit=1)[0].split("@{", maxsplit=1)[0]
    return tuple(f"'{shown(name)}'" for name in get_close_matches(stem, sorted(names), n=_MAX_NAMES))


def _names(place: GitPlace) -> set[str]:
    try:
        from git import Repo

        with Repo(str(place.work_tree or place.git_dir), search_parent_directories=False, expand_vars=False) as repo:
            return {str(reference.name) for reference in islice(repo.references, _MAX_REFERENCES)}
    except Exception:  # whatever a strange repository makes the library raise: the suggestion is a courtesy
        return set()
