"""A project opened for work: its tree, its settings, its caches, and what is loaded from it when it is needed."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import field
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ctxc.app import config as configuration
from ctxc.app.places import cache_folder
from ctxc.base.canonical import canonical
from ctxc.base.values import dataclass
from ctxc.tokens import CountStore, open_store

if TYPE_CHECKING:
    from ctxc.app.masking import Sources
    from ctxc.compiler.pipeline import Compiler
    from ctxc.compiler.stage import Options
    from ctxc.model.counting import Tokenizer
    from ctxc.model.project import Project, Settings
    from ctxc.model.provider import TokenizerRef
    from ctxc.source.tree import Tree

_CONFIGS = "app.config"
_FRAME_BYTES = 16 << 20  # as ctxc.source.tree.MAX_INPUT_BYTES


@dataclass(slots=True, kw_only=True)
class Workspace:
    """One opened project. ``cache`` is None where there is none; ``store`` then lives in memory only."""

    root: Path
    config: configuration.Config
    cache: Path | None
    store: CountStore
    notes: list[str] = field(default_factory=list)
    environment: Mapping[str, str] = field(default_factory=dict)
    _tree: Tree | None = None
    _project: Project | None = None
    _tokenizers: Callable[[TokenizerRef], Tokenizer] | None = None

    @property
    def settings(self) -> Settings:
        """The settings that apply."""
        return self.config.settings

    @property
    def tree(self) -> Tree:
        """The work tree, read once: what git ignores is left out where git can say so."""
        if self._tree is None:
            self._tree = _open_tree(self.root, self.environment, self.notes, _folders(self.settings))
        return self._tree

    @property
    def project(self) -> Project:
        """Everything loaded from the tree."""
        if self._project is None:
            self._project = load(self.tree, self.settings, self.store)
        return self._project

    def load(self, tree: Tree, *, hidden: Collection[str] = ()) -> Project:
        """The project from its tree as somebody else holds it, or a part of it: see ``load`` of this module."""
        project = load(tree, self.settings, self.store, hidden=hidden)
        if not hidden:
            self._project = project
        return project

    def sources(self) -> Sources:
        """Texts of project files for code frames, without the secrets in them."""
        from ctxc.app.masking import Sources
        from ctxc.base.errors import CtxcError

        def read(path: str) -> str | None:
            try:
                return self.tree.read(path, limit=_FRAME_BYTES).decode("utf-8", "replace")
            except CtxcError:
                return None

        return Sources(read)

    def tokenizer(self, ref: TokenizerRef) -> Tokenizer:
        """The tokenizer of a reference, counting through the store; raises MissingTokenizer."""
        from ctxc.app.tokenizers import tokenizers

        if self._tokenizers is None:
            self._tokenizers = tokenizers(self.project.sources, self.store)
        return self._tokenizers(ref)

    def compiler(self, options: Options, *, project: Project | None = None) -> Compiler:
        """A compiler of the project (or of a part of it), counting through the store."""
        return compiler_for(project or self.project, options, self.store)

    def close(self) -> None:
        """Write what the caches learned."""
        self.store.close()
        if self.store.note:
            self.notes.append(self.store.note)


def open_workspace(
    start: Path,
    *,
    flags: Mapping[str, Any],
    environment: Mapping[str, str],
    cache_dir: str | None = None,
    no_cache: bool = False,
) -> Workspace:
    """Open the project that ``start`` lies in; raises ConfigError where its configuration cannot be used."""
    root, name = configuration.find_root(start)
    cache = None if no_cache or environment.get("CTXC_NO_CACHE") else cache_folder(environment, cache_dir)
    store = open_store(cache)
    source = _source(root, name, store)
    resolved = configuration.resolve(source, flags=flags, environment=environment)
    return Workspace(
        root=root,
        config=resolved,
        cache=cache,
        store=store,
        notes=list(resolved.notes),
        environment=environment,
    )


def _source(root: Path, name: str, store: CountStore) -> configuration.Source:
    """The configuration file, from the cache where these very bytes were read before: parsing YAML costs an import."""
    if not name:
        return configuration.read_source(root, name)
    from ctxc.app.identity import identity

    data = configuration.read_bytes(root / name, name)
    key = sha256(canonical(identity()).encode() + b"\0" + data).digest()
    stored = store.get_blobs(_CONFIGS, [key]).get(key)
    if stored is not None:
        try:
            value = json.loads(stored)
            values, places = value["values"], value["places"]
            if all(_fits(name, item) for name, item in values.items()) and all(map(_is_text, places.values())):
                return configuration.Source(root=root, path=name, values=values, places=places)
        except (ValueError, KeyError, TypeError, AttributeError):
            pass
    source = configuration.read_source(root, name)
    store.put_blobs(_CONFIGS, {key: canonical({"values": source.values, "places": source.places}).encode()})
    return source


def _fits(name: str, value: Any) -> bool:
    """Whether a cached value has the type of its setting; a cache is not believed blindly."""
    default = configuration.DEFAULTS[name]
    if isinstance(default, list):
        return _is_text(value) or (isinstance(value, list) and all(map(_is_text, value)))
    return isinstance(value, type(default))


def _is_text(value: Any) -> bool:
    return isinstance(value, str)


def _folders(settings: Settings) -> tuple[str, ...]:
    return (*settings.templates, *settings.fragments, *settings.policies, *settings.fixtures)


def _open_tree(root: Path, environment: Mapping[str, str], notes: list[str], folders: tuple[str, ...]) -> Tree:
    from ctxc.base.errors import RevisionError
    from ctxc.source.opening import open_tree

    repository = None
    if any(os.path.lexists(folder / ".git") for folder in (root, *root.parents)):
        from ctxc.source.git import Repository

        try:
            repository = Repository.discover(root, environ=environment)
        except RevisionError as error:
            # Compiling needs no git: a missing or mistrusted one only means that ignored files are not left out.
            notes.append(f"files that git ignores are not left out: {error.message}")
    tree = open_tree(root, repository=repository)
    if repository is None and os.path.lexists(root / "HEAD") and not tree.list_paths(folders):
        from ctxc.source.gitdir import bare_repository, looks_like_git_dir

        if looks_like_git_dir(root):
            raise bare_repository(root)
    return tree


def load_tree(tree: Tree) -> Project:
    """Load a project from a tree; its configuration is ``ctxc.yaml`` in it, or the defaults."""
    source = configuration.source_in_tree(tree)
    settings = configuration.resolve(source, flags={}, environment={}).settings
    return load(tree, settings, open_store(None))


def load(tree: Tree, settings: Settings, store: CountStore, *, hidden: Collection[str] = ()) -> Project:
    """Load a project from a tree, with the tokenizers that its settings ask for; what was parsed before comes from the
    store. Files that are ``hidden`` count as if they defined nothing; others can still refer to them.

    Raises ConfigError where the settings ask for a tokenizer that cannot be meant.
    """
    from ctxc import providers
    from ctxc.parse.load import load_project

    shipped = {name: providers.profile_text(name) for name in providers.profile_ids()}
    project = load_project(
        tree,
        settings,
        builtin_providers=shipped,
        shapes=providers.shape_ids(),
        store=_ParseStore(store),
        hidden=hidden,
    )
    if settings.extra.get("tokenizers"):
        from ctxc.app.tokenizers import with_choice

        return with_choice(project)
    return project


class _ParseStore:
    """The store as the parser wants it: keys are text."""

    def __init__(self, store: CountStore) -> None:
        self._store = store

    def get_blobs(self, namespace: str, keys: Iterable[str]) -> dict[str, bytes]:
        """The blobs of those keys that are there."""
        found = self._store.get_blobs(namespace, [key.encode() for key in keys])
        return {key.decode(): value for key, value in found.items()}

    def put_blobs(self, namespace: str, blobs: Mapping[str, bytes]) -> None:
        """Keep blobs."""
        self._store.put_blobs(namespace, {key.encode(): value for key, value in blobs.items()})


def compiler_for(project: Project, options: Options, store: CountStore | None = None) -> Compiler:
    """A compiler of a project; without a store it counts through one of its own, in memory."""
    from ctxc import providers
    from ctxc.app.tokenizers import tokenizers
    from ctxc.compiler.pipeline import Compiler

    counts = tokenizers(project.sources, store if store is not None else _memory())
    return Compiler(project, tokenizers=counts, shapes=providers.shape, options=options)


@cache
def _memory() -> CountStore:
    """One memory of counts a process: a service that compiles again and again counts each text once."""
    return open_store(None)
