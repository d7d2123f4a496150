"""The files of a project, and whose text stands in them."""

from __future__ import annotations

from collections.abc import Iterable

from ctxc.base.errors import UnreadableSource
from ctxc.rules._texts import is_file, templates
from ctxc.rules.engine import Context
from ctxc.source.tree import MAX_INPUT_BYTES


def listed(context: Context, folders: Iterable[str]) -> tuple[str, ...]:
    """Sorted paths of the files under some folders."""
    prefixes = tuple(dict.fromkeys("" if f in (".", "./") else f.rstrip("/") for f in folders))
    try:
        return context.tree.list_paths(() if "" in prefixes else prefixes)
    except UnreadableSource:
        return ()  # loading raised it before any rule could


def data_files(context: Context) -> frozenset[str]:
    """Files that hold recorded requests: fixtures, conversations, and what they read."""
    return context.shared(_data_files)


def _data_files(context: Context) -> frozenset[str]:
    found: set[str] = set()
    for fixture in context.project.fixtures.values():
        found.add(fixture.origin.path)
        found.update(fixture.inputs.files)
    for path in listed(context, context.project.settings.fixtures):
        found.add(path)
    return frozenset(found)


def project_files(context: Context) -> tuple[str, ...]:
    """Every file of the configured folders and every file that something in them names; sorted."""
    return context.shared(_project_files)


def _project_files(context: Context) -> tuple[str, ...]:
    project = context.project
    settings = project.settings
    folders = (*settings.templates, *settings.fragments, *settings.policies, *settings.fixtures)
    found = set(listed(context, folders))
    found.update(s.source for t in templates(context) for s in t.sections if is_file(s))
    found.update(f.text_path for versions in project.fragments.values() for f in versions)
    for versions in project.toolsets.values():
        for toolset in versions:
            found.update(p for p in (toolset.origin.path, toolset.mcp) if p)
    found.update(data_files(context))
    return tuple(sorted(p for p in found if p and not p.startswith("ctxc:") and context.tree.exists(p)))


def raw(context: Context, path: str) -> bytes:
    """The bytes of a file; none where it cannot be read (which loading reports)."""
    try:
        return context.tree.read(path, limit=MAX_INPUT_BYTES)
    except UnreadableSource:
        return b""
