"""From a tree to a project: every definition in the configured folders, indexed by id, with what is wrong."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ctxc.base.canonical import digest_bytes, digest_text
from ctxc.base.errors import UnreadableSource
from ctxc.model.contract import Contract, Policy, RequestProfile, ToolSet
from ctxc.model.finding import Finding, Severity
from ctxc.model.fixture import Conversation, Fixture
from ctxc.model.fragment import Fragment
from ctxc.model.lookup import candidates
from ctxc.model.project import Project, Settings
from ctxc.model.section import Kind
from ctxc.model.template import Template
from ctxc.parse import cache, document, kinds, linking, load_fragment, load_template
from ctxc.parse.builtin import Providers
from ctxc.parse.context import File, Shared, child, text_of, unreadable
from ctxc.parse.load_contract import read_contract, read_profile
from ctxc.parse.load_fixture import read_conversation, read_fixture
from ctxc.parse.load_policy import read_policy
from ctxc.parse.load_tools import read_toolset, toolset_of_file
from ctxc.parse.problems import Problem, finding
from ctxc.parse.sources import TreeSources
from ctxc.parse.text import decode, normalised
from ctxc.parse.validate import too_many
from ctxc.source.paths import collisions
from ctxc.source.tree import MAX_FILE_BYTES, MAX_INPUT_BYTES, Tree

CONFIG_FILES = frozenset(("ctxc.yaml", "ctxc.yml", "pyproject.toml"))
_DEFINITIONS = frozenset(("yaml", "json", "markdown"))


@dataclass(slots=True)
class _Definition:
    """A definition with a coerced value. ``key`` is its cache key; ``cached``: the value came from the cache."""

    path: str
    kind: str
    value: Any
    body_line: int = 1
    cached: bool = False


def load_project(
    tree: Tree,
    settings: Settings,
    *,
    builtin_providers: Mapping[str, str] | None = None,
    store: cache.Store | None = None,
) -> Project:
    """Everything that the configured folders of a tree define.

    ``builtin_providers`` maps the id of each shipped provider profile to its YAML text; ``store`` keeps what was parsed.
    Whatever is wrong with a file is a finding; raises UnreadableSource where a configured folder cannot be listed.
    """
    return _Loader(tree, settings, builtin_providers or {}, store).load()


class _Loader:
    def __init__(self, tree: Tree, settings: Settings, builtin: Mapping[str, str], store: cache.Store | None) -> None:
        self.tree = tree
        self.settings = settings
        self.store = store
        self.shared = Shared(tree)
        self.sources = TreeSources(tree, builtin={Providers.path(k): v for k, v in builtin.items()}, store=store)
        self.providers = Providers(builtin, self.shared, store)
        self.broken: dict[str, tuple[str, str]] = {}  # path -> kind and id, as far as known
        self.broken_ids: dict[str, set[str]] = {}
        self.unknown: dict[str, Any] = {}  # path -> value of files that are none of ours
        self.fragments: list[Fragment] = []
        self.raw_templates: list[load_template.Raw] = []
        self.contracts: list[Contract] = []
        self.toolsets: list[ToolSet] = []
        self.profiles: list[RequestProfile] = []
        self.policies: list[Policy] = []
        self.fixtures: list[Fixture] = []
        self.conversations: list[Conversation] = []

    def load(self) -> Project:
        """The project."""
        paths = self._list()
        data = self._read(paths)
        for definition in self._definitions(data):
            self._build(definition)
        return self._project()

    # --- reading ----------------------------------------------------------------------------------------------------

    def _folders(self) -> tuple[str, ...]:
        s = self.settings
        return tuple(dict.fromkeys((*s.templates, *s.fragments, *s.policies, *s.fixtures)))

    def _list(self) -> list[str]:
        folders = tuple("" if f in (".", "./") else f.rstrip("/") for f in self._folders())
        prefixes = () if "" in folders else folders
        listed = [p for p in self.tree.list_paths(prefixes) if p not in CONFIG_FILES]
        for oddity in self.tree.oddities(prefixes):
            level = Severity.INFO if oddity.kind == "submodule" else Severity.ERROR
            self.shared.report(
                oddity.path, Problem("unreadable-file", f"{oddity.path!r} {oddity.reason}", oddity.help, level=level)
            )
        for group in collisions(listed):
            self.shared.report(
                group[1],
                Problem(
                    "path-collision",
                    f"{' and '.join(group)} are one file where names ignore case or Unicode form",
                    "rename one",
                    data={"paths": list(group)},
                ),
            )
        if not listed and not any(True for _ in self.tree.list_paths(prefixes)):
            self.shared.report(
                self._folders()[0] if self._folders() else ".",
                Problem(
                    "empty-project",
                    f"there is nothing in {', '.join(self._folders()) or 'no folder'}",
                    "run `ctxc init`, or name the folders in ctxc.yaml or [tool.ctxc]",
                ),
            )
        return listed

    def _read(self, paths: list[str]) -> dict[str, bytes]:
        wanted = [p for p in paths if document.syntax_of(p) in _DEFINITIONS]
        found: dict[str, bytes] = {}
        for path, data in self.tree.read_each(wanted, limit=MAX_INPUT_BYTES):
            if isinstance(data, UnreadableSource):
                self.shared.report(path, unreadable(data))
                self._break(path, "", "")
                continue
            found[path] = data
            self.sources.keep(path, data)
        return found

    def _definitions(self, data: Mapping[str, bytes]) -> list[_Definition]:
        keys: dict[str, str] = {}
        for path, content in data.items():
            syntax = document.syntax_of(path)
            if syntax != "markdown" or self._has_front_matter(path, content):
                keys[path] = cache.key_of(syntax, content)
        known = self._cached(keys)
        fresh: dict[str, bytes] = {}
        found = []
        for path, key in keys.items():
            entry = known.get(key)
            if entry is not None:
                definition = self._of_entry(path, entry)
            else:
                definition, entry = self._parse(path, data[path])
                if entry is not None:
                    fresh[key] = cache.encode(entry)
            if definition is not None:
                found.append(definition)
        if fresh and self.store is not None:
            self.store.put_blobs(cache.namespace("parse"), fresh)
        return found

    def _has_front_matter(self, path: str, content: bytes) -> bool:
        """Whether a Markdown file begins with front matter; its text is kept, and what is wrong with it reported."""
        decoded = decode(content)
        if decoded.text is None:
            for problem in decoded.problems:
                self.shared.report(path, problem)
            self._break(path, "fragment", "")
            return False
        self.sources.keep_text(path, decoded.text)
        if decoded.text.startswith("---"):
            return True
        for problem in decoded.problems:
            self.shared.report(path, problem)
        return False

    def _cached(self, keys: Mapping[str, str]) -> dict[str, cache.Entry]:
        if self.store is None or not keys:
            return {}
        blobs = self.store.get_blobs(cache.namespace("parse"), sorted(set(keys.values())))
        decoded = ((k, cache.decode(b)) for k, b in blobs.items())
        return {k: e for k, e in decoded if e is not None}

    def _of_entry(self, path: str, entry: cache.Entry) -> _Definition | None:
        if not entry.kind:
            self.unknown[path] = None
            return None
        return _Definition(path, entry.kind, entry.value, cached=True)

    def _parse(self, path: str, content: bytes) -> tuple[_Definition | None, cache.Entry | None]:
        """The definition in a file, and what of it may be kept; both None where the file is broken."""
        parsed = document.parse(path, content)
        for problem in parsed.problems:
            self.shared.report(path, problem)
        if parsed.is_broken:
            self._break(path, *self._identity(path, parsed.value))
            return None, None
        if not parsed.has_value:
            return None, None
        verdict = kinds.kind_of(parsed.value)
        if verdict.problem is not None or (parsed.syntax == "markdown" and verdict.kind not in ("", "fragment")):
            self.shared.report(path, verdict.problem or _not_in_markdown(verdict.kind))
            self._break(path, *self._identity(path, parsed.value))
            return None, None
        clean = not parsed.problems
        if not verdict.kind:
            self.unknown[path] = parsed.value
            return None, cache.Entry("") if clean and not isinstance(parsed.value, dict) else None
        if len(content) > MAX_FILE_BYTES:
            self.shared.report(
                path,
                Problem(
                    "too-large",
                    f"the file has {len(content):,} bytes; at most {MAX_FILE_BYTES:,} are read of a definition",
                    "move recorded data into a file of its own: `{file: transcripts/x.jsonl}`",
                ),
            )
            self._break(path, *self._identity(path, parsed.value))
            return None, None
        value, problems = self._validate(verdict.kind, parsed.value)
        for problem in too_many(problems):
            self.shared.report(path, problem)
        if any(p.is_error for p in problems) and value is None:
            self._break(path, *self._identity(path, parsed.value))
            return None, None
        definition = _Definition(path, verdict.kind, value)
        return definition, cache.Entry(verdict.kind, value) if clean and not problems else None

    def _validate(self, kind: str, value: Any) -> tuple[Any, list[Problem]]:
        """The coerced value, and what is wrong. Of a manifest, entries with their pointers: one bad entry spoils itself."""
        validator = self.shared.validator(kind)
        problems: list[Problem] = []
        if kind != "fragment":
            checked = validator.check(value, problems)
            return (None if any(p.is_error for p in problems) else checked), problems
        shape, entries = load_fragment.entries(value)
        if shape == "fragments":
            around = {k: v for k, v in value.items() if k != "fragments" or not isinstance(v, list)}
            validator.check({"fragments": [], **around}, problems, ref="#/$defs/fragments")
        good = []
        for pointer, entry in entries:
            mine: list[Problem] = []
            checked = validator.check(entry, mine, ref="#/$defs/fragment")
            problems.extend(p._replace(pointer=pointer + p.pointer) for p in mine)
            if any(p.is_error for p in mine):
                name = entry.get("fragment_id") if isinstance(entry, dict) else ""
                self.broken_ids.setdefault("fragment", set()).add(text_of(name))
            else:
                good.append([pointer, checked])
        return good, problems

    def _break(self, path: str, kind: str, name: str) -> None:
        """Note that a file could not be loaded, and which id it would have defined, as far as that is known."""
        self.broken.setdefault(path, (kind, name))
        if kind:
            self.broken_ids.setdefault(kind, set()).add(name)
        else:
            for other in (*kinds.ID_KEYS, "provider"):
                self.broken_ids.setdefault(other, set()).add("")

    def _identity(self, path: str, value: Any) -> tuple[str, str]:
        if isinstance(value, dict):
            for key, kind in kinds.KEYS.items():
                if key in value:
                    name = value[key]
                    return kind, str(name) if isinstance(name, str) else ""
        try:
            return kinds.guess(self.sources.read_text(path))
        except UnreadableSource:
            return "", ""

    # --- building ---------------------------------------------------------------------------------------------------

    def _build(self, definition: _Definition) -> None:
        """Make the typed objects of a definition; what a poisoned cache gave is parsed again."""
        try:
            self._make(definition)
        except (KeyError, TypeError, ValueError, AttributeError, IndexError):
            if not definition.cached:
                raise
            again, _ = self._parse(definition.path, self.sources.read_bytes(definition.path))
            if again is not None:
                self._make(again)

    def _make(self, definition: _Definition) -> None:
        path, value = definition.path, definition.value
        file = File(path, self.shared)
        before = self._errors(path)
        match definition.kind:
            case "fragment":
                self._make_fragments(definition, file)
                return
            case "template":
                raw = load_template.raw_template(value, file)
                if self._errors(path) == before:
                    self.raw_templates.append(raw)
            case "contract":
                self._keep(self.contracts, read_contract(value, file), before)
            case "toolset":
                self._keep(self.toolsets, read_toolset(value, file), before)
            case "profile":
                self._keep(self.profiles, read_profile(value, file), before)
            case "policy":
                self._keep(self.policies, read_policy(value, file), before)
            case "provider":
                self.providers.add(value, file)
            case "fixture":
                self._keep(self.fixtures, read_fixture(value, file, self._digest(path)), before)
            case "conversation":
                conversation = read_conversation(value, file, self._digest(path))
                if self._errors(path) == before:
                    self.conversations.append(conversation)
                    self.fixtures.extend(conversation.turns)
            case _:
                raise ValueError(definition.kind)
        if self._errors(path) != before:
            self._break(path, definition.kind, text_of(value.get(kinds.ID_KEYS[definition.kind])))

    def _keep(self, items: list[Any], item: Any, before: int) -> None:
        if self._errors(item.origin.path) == before:
            items.append(item)

    def _errors(self, path: str) -> int:
        return sum(1 for p in self.shared.problems.get(path, ()) if p.is_error)

    def _digest(self, path: str) -> str:
        return digest_bytes(normalised(self.sources.read_bytes(path)))

    def _make_fragments(self, definition: _Definition, file: File) -> None:
        markdown = document.syntax_of(definition.path) == "markdown"
        for pointer, entry in definition.value:
            before = self._errors(file.path)
            fragment = self._fragment(entry, file, pointer, markdown)
            if fragment is not None and self._errors(file.path) == before:
                self.fragments.append(fragment)
            else:
                self._break(file.path, "fragment", entry["fragment_id"])
        if any(p.is_error for p in self.shared.problems.get(file.path, ())):
            self.broken.setdefault(file.path, ("fragment", ""))

    def _fragment(self, entry: dict[str, Any], file: File, at: str, markdown: bool) -> Fragment | None:
        if markdown:
            if "path" in entry:
                file.problem(
                    "unknown-key", 'front matter has no key "path": the text is below it', "remove it",
                    at="/path", key=True,
                )  # fmt: skip
            text_path = file.path
        elif "path" not in entry:
            file.problem("missing-key", 'the key "path" is missing', "name the Markdown file of the text", at=at)
            return None
        else:
            roots = tuple("" if f in (".", "./") else f.rstrip("/") for f in self.settings.fragments)
            text_path = file.file_beside(entry["path"], child(at, "path"), roots)
            if not text_path:
                return None
            self.shared.used.add(text_path)
        try:
            body = self.sources.body(text_path)
        except UnreadableSource as error:
            if text_path not in self.shared.problems:
                file.problem("unreadable-file", error.message, error.help, at=child(at, "path"))
            return None
        line = 1
        if document.syntax_of(text_path) == "markdown":
            whole = self.sources.read_text(text_path)
            line = whole.count("\n", 0, len(whole) - len(body)) + 1 if len(body) != len(whole) else 1
        fragment = load_fragment.read_fragment(entry, file, at, text_path, line, digest_text(body))
        return fragment

    # --- linking ----------------------------------------------------------------------------------------------------

    def _project(self) -> Project:
        shared = self.shared
        fragments = linking.index("fragment", self.fragments, shared, id_key="fragment_id")
        contracts = linking.index("contract", self.contracts, shared, id_key="contract_id")
        toolsets = linking.index("toolset", self.toolsets, shared, id_key="toolset_id")
        profiles = linking.index("profile", self.profiles, shared, id_key="profile_id")
        policies = linking.index("policy", self.policies, shared, id_key="policy_id")
        templates = linking.index("template", self._templates(), shared, id_key="template_id")
        fixtures = linking.index("fixture", self.fixtures, shared, single=True, id_key="fixture_id")
        conversations = self._conversations()
        providers = self.providers.link()
        for name, path in self.providers.broken:
            self._break(path, "provider", name)
        self._plain_tools(templates, toolsets)
        indexes: dict[str, Mapping[str, Any]] = {
            "template": templates,
            "fragment": fragments,
            "contract": contracts,
            "toolset": toolsets,
            "profile": profiles,
            "provider": providers.as_index(),
        }
        linking.check_references(
            shared.references, indexes, {k: frozenset(v) for k, v in self.broken_ids.items()}, shared
        )
        linking.check_requires(fragments, shared)
        self._check_unknown()
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
            broken={p: name for p, (_, name) in sorted(self.broken.items())},
            broken_kinds={p: kind for p, (kind, _) in sorted(self.broken.items())},
        )

    def _conversations(self) -> dict[str, Conversation]:
        found: dict[str, Conversation] = {}
        for conversation in self.conversations:
            first = found.setdefault(conversation.id, conversation)
            if first is not conversation:
                File(conversation.origin.path, self.shared).problem(
                    "duplicate-id",
                    f'the conversation "{conversation.id}" is defined twice; first in {first.origin.path}',
                    "give one another id",
                    at="/conversation_id",
                )
        return found

    def _templates(self) -> list[Template]:
        """The templates, each with what it extends merged in."""
        by_id: dict[str, tuple[_RawItem, ...]] = {}
        for raw in self.raw_templates:
            item = _RawItem(raw.value["template_id"], text_of(raw.value.get("version")), raw)
            by_id[item.id] = (*by_id.get(item.id, ()), item)
        found = []
        for raw in self.raw_templates:
            merged = self._merged(raw, by_id, [])
            before = {p: self._errors(p) for p in (merged.paths if merged else (raw.file.path,))}
            template = load_template.read_template(merged) if merged is not None else None
            if template is None or any(self._errors(p) != n for p, n in before.items()):
                self._break(raw.file.path, "template", raw.value["template_id"])
                continue
            found.append(template)
        return found

    def _merged(
        self, raw: load_template.Raw, by_id: Mapping[str, tuple[_RawItem, ...]], chain: list[str]
    ) -> load_template.Raw | None:
        name = text_of(raw.value.get("extends"))
        if not name:
            return raw
        chain = [*chain, raw.file.path]
        found = candidates(by_id, name)
        if not found:
            raw.file.refer("template", name, "/extends")
            return None
        base = found[-1].raw
        if base.file.path in chain:
            told = [r for r in (*chain[chain.index(base.file.path) :], base.file.path)]
            raw.file.problem(
                "extends-cycle",
                f"templates extend each other in a circle: {' -> '.join(told)}",
                "remove one of these `extends`",
                at="/extends",
                data={"chain": told},
            )
            return None
        whole = self._merged(base, by_id, chain)
        return load_template.extend(whole, raw) if whole is not None else None

    def _plain_tools(
        self, templates: Mapping[str, tuple[Template, ...]], toolsets: dict[str, tuple[ToolSet, ...]]
    ) -> None:
        """Tool files that a section names by path are found under that path, beside the ids."""
        by_path = {t.origin.path: t for versions in toolsets.values() for t in versions}
        for template in (t for versions in templates.values() for t in versions):
            for spec in template.sections:
                path = spec.source
                if spec.kind is not Kind.TOOLS or path in load_template.WORDS or path in toolsets or "/" not in path:
                    continue
                known = by_path.get(path)
                if known is None and path not in self.broken:
                    known = toolset_of_file(path, File(path, self.shared))
                    if known is None or self._errors(path):
                        self._break(path, "toolset", "")
                        continue
                if known is not None:
                    toolsets[path] = (known,)

    def _check_unknown(self) -> None:
        for path, value in self.unknown.items():
            if path in self.shared.used:
                continue
            syntax = document.syntax_of(path)
            if syntax == "markdown" and not (isinstance(value, dict) and kinds.unknown(value, data=True).is_error):
                continue  # a text with metadata of somebody else's
            problem = kinds.unknown(value, data=syntax == "json")
            self.shared.report(path, problem)
            if problem.is_error:
                self._break(path, "", "")

    def _findings(self) -> tuple[Finding, ...]:
        found = []
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
        return finding(problem, path, span=span)


@dataclass(frozen=True, slots=True)
class _RawItem:
    id: str
    version: str
    raw: load_template.Raw


def _not_in_markdown(kind: str) -> Problem:
    return Problem(
        "front-matter",
        f"front matter defines a {kind}; only a fragment is written in Markdown",
        "move it into a YAML or JSON file",
        pointer="/" + kinds.ID_KEYS[kind],
        on_key=True,
    )
