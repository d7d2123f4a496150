"""From a tree to a project: every definition in the configured folders, indexed by id, with what is wrong."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Mapping
from contextlib import suppress
from dataclasses import replace
from functools import partial
from typing import Any

from ctxc.base.canonical import digest_bytes, digest_text
from ctxc.base.errors import UnreadableSource
from ctxc.base.spans import Location, Origin
from ctxc.model.contract import Contract, Policy, RequestProfile, ToolSet
from ctxc.model.finding import Finding, Related
from ctxc.model.fixture import Conversation, Fixture, Inputs
from ctxc.model.fragment import Fragment, LostFragment
from ctxc.model.project import Project, Settings
from ctxc.model.section import Kind
from ctxc.model.template import Template
from ctxc.parse import cache, document, kinds, linking, load_fragment, load_template
from ctxc.parse.builtin import Providers
from ctxc.parse.context import File, Shared, child, text_of
from ctxc.parse.extending import templates_of
from ctxc.parse.lazy_inputs import LazyInputs
from ctxc.parse.load_contract import read_contract, read_profile
from ctxc.parse.load_fixture import read_conversation, read_fixture, read_inputs
from ctxc.parse.load_policy import read_policy
from ctxc.parse.load_tools import read_toolset, toolset_of_file
from ctxc.parse.problems import Problem, finding, shown
from ctxc.parse.reading import Definition, Reader, folder
from ctxc.parse.sources import TreeSources
from ctxc.parse.text import normalised
from ctxc.source.tree import Tree


def load_project(
    tree: Tree,
    settings: Settings,
    *,
    builtin_providers: Mapping[str, str] | None = None,
    shapes: Collection[str] = (),
    store: cache.Store | None = None,
    hidden: Collection[str] = (),
) -> Project:
    """Everything that the configured folders of a tree define.

    ``builtin_providers`` maps the id of each shipped provider profile to its YAML text; ``shapes`` are the request
    shapes that a profile may have (none: any); ``store`` keeps parses.
    ``hidden`` are files that count as if they defined nothing; others can still refer to them.
    Whatever is wrong with a file is a finding; raises UnreadableSource where a configured folder cannot be listed.
    """
    builtin = builtin_providers or {}
    loader = _Loader(tree, settings, builtin, shapes, store, hidden)
    try:
        return loader.load()
    except (_DamagedCache, KeyError, TypeError, ValueError, AttributeError, IndexError):
        if store is None or not loader.cached:
            raise
    return _Loader(tree, settings, builtin, shapes, cache.WriteOnly(store), hidden).load()


def _is_inside(pointer: str, places: Iterable[str]) -> bool:
    """Whether a value is one of those at some pointers, or in one of them."""
    return any(pointer == place or pointer.startswith(f"{place}/") for place in places)


class _DamagedCache(Exception):
    """The cache holds something that no file gave."""


class _Loader:
    def __init__(
        self,
        tree: Tree,
        settings: Settings,
        builtin: Mapping[str, str],
        shapes: Collection[str],
        store: cache.Store | None,
        hidden: Collection[str],
    ) -> None:
        self.settings = settings
        self.shared = Shared(tree)
        shipped = {Providers.path(k): v for k, v in builtin.items()}
        self.sources = TreeSources(tree, builtin=shipped, store=store)
        self.reader = Reader(tree, settings, self.shared, self.sources, store, hidden)
        self.providers = Providers(builtin, self.shared, store, shapes)
        self.fragment_roots = tuple(folder(f) for f in settings.fragments)
        self.cached: dict[str, Definition] = {}
        self.raw_templates: list[load_template.Raw] = []
        self.fragments: list[Fragment] = []
        self.contracts: list[Contract] = []
        self.toolsets: list[ToolSet] = []
        self.profiles: list[RequestProfile] = []
        self.policies: list[Policy] = []
        self.fixtures: list[Fixture] = []
        self.conversations: list[Conversation] = []

    def load(self) -> Project:
        """The project."""
        for definition in self.reader.read():
            if definition.cached:
                self.cached[definition.path] = definition
            self._make(definition)
        return self._project()

    # --- one definition ---------------------------------------------------------------------------------------------

    def _check_cached(self) -> None:
        """Compare with its file what came from the cache and gave a finding: it was kept because it gave none."""
        for path in self.shared.problems:
            definition = self.cached.get(path)
            if definition is not None and not self._is_of_file(definition):
                raise _DamagedCache(path)

    def _is_of_file(self, definition: Definition) -> bool:
        """Whether the value is what the file gives."""
        scratch = Reader(self.shared.tree, self.settings, self.shared.apart(), self.sources, None)
        found, _ = scratch.parse(definition.path, self.sources.read_bytes(definition.path))
        if found is None or found.kind != definition.kind:
            return False
        if definition.inputs is None:
            return bool(found.value == definition.value)
        return bool({**found.value, "inputs": None} == {**definition.value, "inputs": None})

    def _make(self, definition: Definition) -> None:
        path, value = definition.path, definition.value
        file = File(path, self.shared)
        if definition.kind == "fragment":
            self._make_fragments(value, file)
            return
        if definition.odd:
            self._look_further(definition, file)
            return
        before = self.shared.error_count  # of all files: what a fixture names is part of it
        if definition.inputs is not None:
            lazy = LazyInputs(partial(self._later, path, definition.inputs), definition.inputs)
            made: Any = read_fixture(value, file, self._digest(path), lazy)
        else:
            made = self._typed(definition.kind, value, file)
        # A list of tools that cannot be read is reported once, where it stands, whatever number of sets names it.
        unread = made is None and definition.kind == "toolset"
        if unread or self.shared.error_count != before:
            self.shared.lose(path, definition.kind, text_of(value.get(kinds.ID_KEYS[definition.kind])))
        elif isinstance(made, Conversation):
            self.conversations.append(made)
            self.fixtures.extend(made.turns)
        elif made is not None:
            self._list_of(made).append(made)

    def _look_further(self, definition: Definition, file: File) -> None:
        """Report the errors beside the unknown keys of a definition, and nothing of the mappings that have them: such a
        key may be the one that is missing there."""
        if definition.kind == "provider":
            return
        known = len(self.shared.problems[file.path])
        made = self._typed(definition.kind, definition.value, file)
        if isinstance(made, load_template.Raw) and not made.value.get("extends"):
            load_template.read_template(made)
        problems = self.shared.problems[file.path]
        inside = tuple(filter(None, definition.odd))
        problems[known:] = [
            p
            for p in problems[known:]
            if p.is_error and p.pointer not in definition.odd and not _is_inside(p.pointer, inside)
        ]

    def _typed(self, kind: str, value: dict[str, Any], file: File) -> Any:
        match kind:
            case "template":
                return load_template.raw_template(value, file)
            case "contract":
                return read_contract(value, file)
            case "toolset":
                return read_toolset(value, file)
            case "profile":
                return read_profile(value, file)
            case "policy":
                return read_policy(value, file)
            case "fixture":
                return read_fixture(value, file, self._digest(file.path))
            case "conversation":
                return read_conversation(value, file, self._digest(file.path))
            case "provider":
                self.providers.add(value, file)
                return None
            case _:
                raise ValueError(kind)

    def _later(self, path: str, data: bytes) -> Inputs:
        """Inputs that were set apart; what a damaged cache gave is read again from the file."""
        file = File(path, self.shared.apart())
        with suppress(KeyError, TypeError, ValueError, AttributeError, IndexError):
            inputs = read_inputs(json.loads(data), file, "/inputs")
            if not file.shared.problems:
                return inputs
        again = Reader(file.shared.tree, self.settings, file.shared, self.sources, None)
        definition, _ = again.parse(path, self.sources.read_bytes(path))
        return read_inputs(definition.value.get("inputs") if definition else None, file, "/inputs")

    def _list_of(self, made: Any) -> list[Any]:
        lists: dict[type, list[Any]] = {
            load_template.Raw: self.raw_templates,
            Contract: self.contracts,
            ToolSet: self.toolsets,
            RequestProfile: self.profiles,
            Policy: self.policies,
            Fixture: self.fixtures,
        }
        return lists[type(made)]

    def _digest(self, path: str) -> str:
        return digest_bytes(normalised(self.sources.read_bytes(path)))

    def _make_fragments(self, entries: list[Any], file: File) -> None:
        markdown = document.syntax_of(file.path) == "markdown"
        for pointer, entry in entries:
            before = self.shared.error_count
            fragment = self._fragment(entry, file, pointer, markdown)
            if fragment is not None and self.shared.error_count == before:
                self.fragments.append(fragment)
            else:
                roots = self.fragment_roots
                self.shared.lose_fragment(load_fragment.lost_fragment(entry, (), file.path, pointer, roots))
        places = [pointer for pointer, _ in entries]
        places += [f.origin.pointer for f in self.shared.lost_fragments if f.origin.path == file.path]
        problems = self.shared.problems.get(file.path, ())
        if any(p.is_error and not _is_inside(p.pointer, places) for p in problems):
            # What is wrong with the manifest itself may be one more entry that nobody can see.
            self.shared.lose_fragment(LostFragment(origin=Origin(file.path)))

    def _fragment(self, entry: dict[str, Any], file: File, at: str, markdown: bool) -> Fragment | None:
        if markdown:
            if "path" in entry:
                message = 'front matter has no key "path": the text is below it'
                file.problem("unknown-key", message, "remove it", at="/path", key=True)
            text_path = file.path
        elif "path" not in entry:
            file.problem("missing-key", 'the key "path" is missing', "name the Markdown file of the text", at=at)
            return None
        else:
            text_path = file.file_beside(entry["path"], child(at, "path"), self.fragment_roots)
            if not text_path:
                return None
            self.shared.used.add(text_path)
        try:
            body = self.sources.body(text_path)
            whole = self.sources.read_text(text_path)
        except UnreadableSource as error:
            if text_path not in self.shared.problems:
                file.problem("unreadable-file", error.message, error.help, at=child(at, "path"))
            return None
        line = whole.count("\n", 0, len(whole) - len(body)) + 1 if len(body) != len(whole) else 1
        return load_fragment.read_fragment(entry, file, at, text_path, line, digest_text(body))

    # --- the whole --------------------------------------------------------------------------------------------------

    def _project(self) -> Project:
        shared = self.shared
        templates = linking.index("template", templates_of(self.raw_templates, shared), shared)
        fragments = linking.index("fragment", self.fragments, shared)
        contracts = linking.index("contract", self.contracts, shared)
        toolsets = linking.index("toolset", self.toolsets, shared)
        profiles = linking.index("profile", self.profiles, shared)
        policies = linking.index("policy", self.policies, shared)
        fixtures = linking.index("fixture", self.fixtures, shared, single=True)
        conversations = self._conversations()
        providers = self.providers.link()
        for name, path in self.providers.broken:
            shared.lose(path, "provider", name)
        self._plain_tools(templates, toolsets)
        indexes: dict[str, Mapping[str, Any]] = {
            "template": templates,
            "fragment": fragments,
            "contract": contracts,
            "toolset": toolsets,
            "profile": profiles,
            "provider": providers.as_index(),
        }
        configured = self.settings.origins.get("provider")
        if configured is not None:
            File(configured.path, shared).refer("provider", self.settings.provider, configured.pointer)
        linking.check_references(shared.references, indexes, shared)
        linking.check_versions(fragments, shared)
        linking.check_requires(fragments, shared)
        linking.check_static(profiles, templates, fragments, shared)
        self.reader.check_unknown()
        shared.lose_unread()
        self._check_cached()
        return Project(
            settings=self.settings,
            sources=self.sources,
            templates=templates,
            fragments=fragments,
            contracts=contracts,
            toolsets=toolsets,
            profiles=profiles,
            policies=policies,
            providers=providers,
            fixtures={k: v[0] for k, v in fixtures.items()},
            conversations=conversations,
            findings=self._findings(),
            broken={p: name for p, (_, name) in sorted(shared.broken.items())},
            lost={kind: frozenset(names) for kind, names in sorted(shared.lost.items())},
            lost_fragments=tuple(shared.lost_fragments),
            broken_with={p: m for p, m in sorted(shared.read_with.items()) if p in shared.broken},
            broken_kinds={p: kind for p, (kind, _) in sorted(shared.broken.items())},
        )

    def _conversations(self) -> dict[str, Conversation]:
        found: dict[str, Conversation] = {}
        for conversation in self.conversations:
            first = found.setdefault(conversation.id, conversation)
            if first is not conversation:
                message = f"the conversation {shown(conversation.id)} is defined twice; first in {first.origin.path}"
                file = File(conversation.origin.path, self.shared)
                data = {"first": first.origin.path, "first_pointer": first.origin.pointer}
                file.problem("duplicate-id", message, "give one another id", at="/conversation_id", data=data)
        return found

    def _plain_tools(
        self, templates: Mapping[str, tuple[Template, ...]], toolsets: dict[str, tuple[ToolSet, ...]]
    ) -> None:
        """Tool files that a section names by path are found under that path, beside the ids."""
        by_path = {t.origin.path: t for versions in toolsets.values() for t in versions}
        specs = [s for versions in templates.values() for t in versions for s in t.sections if s.kind is Kind.TOOLS]
        for path in sorted({s.source for s in specs} - set(load_template.WORDS)):
            if path.startswith("runtime.") or path in self.shared.broken:
                continue
            found = by_path.get(path) or toolset_of_file(path, self.shared)
            if found is None or self.shared.errors(path):
                self.shared.lose(path, "toolset", "")
            else:
                toolsets[path] = (found,)

    def _findings(self) -> tuple[Finding, ...]:
        found: list[Finding] = []
        for path, problems in self.shared.problems.items():
            # A base that several templates extend is judged with each of them; what is wrong there is said once.
            single = {(p.name, p.message, p.pointer, p.span): p for p in problems}
            found.extend(self._finding(path, p) for p in single.values())
        return tuple(sorted(found, key=lambda f: f.sort_key))

    def _finding(self, path: str, problem: Problem) -> Finding:
        span = problem.span
        if span is None:
            span = document.find(self.sources.places(path), problem.pointer, key=problem.on_key)
            if span is not None and problem.name == "missing-key":
                span = document.start_of(span)
        made = finding(problem, path, span=span)
        first = problem.data.get("first") if problem.name == "duplicate-id" else None
        if first is None:
            return made
        pointer = problem.data["first_pointer"]
        there = document.find(self.sources.places(first), pointer, key=False)
        place = Location(first, document.start_of(there) if there is not None else None, pointer)
        return replace(made, related=(*made.related, Related(location=place, message="the first")))
