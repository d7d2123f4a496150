"""From the configured folders to definitions: list, read, parse, check against the schema, keep what is clean."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from contextlib import suppress
from typing import Any

from ctxc.base.errors import UnreadableSource
from ctxc.base.values import dataclass
from ctxc.model.finding import Severity
from ctxc.model.project import Settings
from ctxc.parse import cache, document, kinds, load_fragment
from ctxc.parse.context import Shared, unreadable
from ctxc.parse.load_fixture import LISTS
from ctxc.parse.mismatch import too_many
from ctxc.parse.problems import Problem
from ctxc.parse.sources import TreeSources
from ctxc.parse.text import decode
from ctxc.source.paths import collisions
from ctxc.source.tree import MAX_FILE_BYTES, MAX_INPUT_BYTES, Tree

CONFIG_FILES = frozenset(("ctxc.yaml", "ctxc.yml", "pyproject.toml"))
_DEFINITIONS = frozenset(("yaml", "json", "markdown"))


@dataclass(frozen=True, slots=True)
class Definition:
    """A definition with its coerced value; ``cached``: it came from the cache and may be anything.

    ``odd`` are the pointers of mappings of a broken one, which have a key that nobody knows. Nothing else is wrong with
    its value: it defines nothing, and what else is wrong with it can be told.
    """

    path: str
    kind: str
    value: Any
    cached: bool = False
    inputs: bytes | None = None  # of a clean fixture from the cache: see cache.Entry
    odd: tuple[str, ...] = ()


class Reader:
    """Reads the definitions of a project's folders. What is wrong goes to ``shared``."""

    def __init__(
        self,
        tree: Tree,
        settings: Settings,
        shared: Shared,
        sources: TreeSources,
        store: cache.Store | None,
        hidden: Collection[str] = (),
    ) -> None:
        self.tree = tree
        self.hidden = hidden  # files that are there, and that define nothing
        self.shared = shared
        self.sources = sources
        self.store = store
        listed = (*settings.templates, *settings.fragments, *settings.policies, *settings.fixtures)
        self.fragment_roots = tuple(folder(f) for f in settings.fragments)
        self.folders = tuple(dict.fromkeys(folder(f) for f in listed))
        usual = Settings()  # folders that a project need not have
        usually = (*usual.templates, *usual.fragments, *usual.policies, *usual.fixtures)
        self.named = tuple(f for f in self.folders if f and f not in usually)
        self.undecoded: list[str] = []  # Markdown files that are no text: they may define a fragment, or be one's text
        self.unknown: dict[str, Any] = {}  # files that are none of ours, with their values

    def read(self) -> Iterator[Definition]:
        """The definitions, in the order of their paths."""
        data = self._bytes(self._paths())
        keys: dict[str, str] = {}
        for path, content in data.items():
            syntax = document.syntax_of(path)
            if syntax != "markdown" or self._opens_front_matter(path, content):
                keys[path] = cache.key_of(syntax, content)
        known = self._cached(keys)
        fresh: dict[str, bytes] = {}
        for path, key in keys.items():
            entry = known.get(key)
            kept: cache.Entry | None = None
            if entry is None:
                definition, kept = self.parse(path, data[path])
            elif entry.kind:
                definition = Definition(path, entry.kind, entry.value, True, entry.inputs)
            else:
                self.unknown[path] = entry.value
                definition = None
            if definition is not None:
                yield definition
            if kept is not None and self.store is not None:
                fresh[key] = cache.encode(self._lightened(path, kept))
        if fresh and self.store is not None:
            self.store.put_blobs(cache.namespace("parse"), fresh)

    def _lightened(self, path: str, entry: cache.Entry) -> cache.Entry:
        """The entry of a fixture, once it has been built without a finding, with its inputs set apart."""
        if entry.kind != "fixture" or path in self.shared.problems or "inputs" not in entry.value:
            return entry
        inputs = entry.value["inputs"]
        if any(isinstance(v, dict) and "file" in v for k, v in inputs.items() if k in LISTS):
            return entry
        head = {**entry.value, "inputs": {k: v for k, v in inputs.items() if k == "fragments"}}
        return cache.Entry(entry.kind, head, cache.to_json(inputs))

    def _paths(self) -> list[str]:
        prefixes = () if "" in self.folders else self.folders
        everything = self.tree.list_paths(prefixes)
        self.shared.listed = frozenset(everything)
        for oddity in self.tree.oddities(prefixes):
            level = Severity.INFO if oddity.kind == "submodule" else Severity.ERROR
            message = f"'{oddity.path}' {oddity.reason}"
            self.shared.report(oddity.path, Problem("unreadable-file", message, oddity.help, level=level))
            if level is Severity.ERROR and (document.syntax_of(oddity.path) in _DEFINITIONS or oddity.kind == "folder"):
                self.shared.lose(oddity.path, "", "")  # what it would have defined is not known to be absent
        for group in collisions(everything):
            self.shared.report(
                group[1],
                Problem(
                    "path-collision",
                    f"{' and '.join(group)} are one file where names ignore case or Unicode form",
                    "rename one",
                    data={"paths": list(group)},
                ),
            )
        if not everything:
            told = ", ".join(f or "." for f in self.folders) or "no folder"
            self.shared.report(
                self.folders[0] if self.folders else ".",
                Problem(
                    "empty-project",
                    f"there is nothing in {told}",
                    "run `ctxc init`, or name the folders in ctxc.yaml or [tool.ctxc]",
                ),
            )
        for name in self.named if everything else ():
            if not any(p == name or p.startswith(f"{name}/") for p in everything):
                problem = "there is nothing in this folder, and the configuration names it"
                help = "correct its name, or take it out"
                self.shared.report(name, Problem("empty-project", problem, help, level=Severity.WARNING))
        left_out = self.hidden
        return [
            p
            for p in everything
            if p not in CONFIG_FILES and p not in left_out and document.syntax_of(p) in _DEFINITIONS
        ]

    def _bytes(self, paths: list[str]) -> dict[str, bytes]:
        found: dict[str, bytes] = {}
        for path, data in self.tree.read_each(paths, limit=MAX_INPUT_BYTES):
            if isinstance(data, UnreadableSource):
                self.shared.report(path, unreadable(data))
                self.shared.lose(path, "", "")
            else:
                found[path] = data
                self.sources.keep(path, data)
        return found

    def _opens_front_matter(self, path: str, content: bytes) -> bool:
        """Whether a Markdown file begins with front matter; its text is kept, and what is wrong with it reported."""
        decoded = decode(content)
        if decoded.text is not None:
            self.sources.keep_text(path, decoded.text)
            if decoded.text.startswith("---"):
                return True
        for problem in decoded.problems:
            self.shared.report(path, problem)
        if decoded.text is None:
            self.undecoded.append(path)
        return False

    def _cached(self, keys: Mapping[str, str]) -> dict[str, cache.Entry]:
        if self.store is None or not keys:
            return {}
        blobs = self.store.get_blobs(cache.namespace("parse"), sorted(set(keys.values())))
        decoded = ((k, cache.decode(b)) for k, b in blobs.items())
        return {k: e for k, e in decoded if e is not None}

    def parse(self, path: str, content: bytes) -> tuple[Definition | None, cache.Entry | None]:
        """The definition in a file, and what of it may be kept; both None where the file is broken."""
        parsed = document.parse(path, content)
        for found in parsed.problems:
            self.shared.report(path, found)
        if parsed.is_broken:
            return self._lose(path, parsed.value)
        if not parsed.has_value:
            return None, None
        verdict = kinds.kind_of(parsed.value)
        problem = verdict.problem
        if parsed.syntax == "markdown" and verdict.kind not in ("", "fragment"):
            problem = kinds.not_in_markdown(verdict.kind)
        if verdict.kind and len(content) > MAX_FILE_BYTES:
            problem = _too_large(len(content))
        if problem is not None:
            self.shared.report(path, problem)
            return self._lose(path, parsed.value)
        clean = not parsed.problems
        if not verdict.kind:
            self.unknown[path] = parsed.value
            return None, cache.Entry("", kinds.outline(parsed.value)) if clean else None
        value, problems = self._validate(path, verdict.kind, parsed.value)
        for found in too_many(problems):
            self.shared.report(path, found)
        errors = [p for p in problems if p.is_error]
        if errors and verdict.kind != "fragment":
            self._lose(path, parsed.value)
            if any(p.name != "unknown-key" for p in errors):
                return None, None
            return Definition(path, verdict.kind, value, odd=tuple(p.pointer.rpartition("/")[0] for p in errors)), None
        kept = cache.Entry(verdict.kind, value) if clean and not problems else None
        return Definition(path, verdict.kind, value), kept

    def _validate(self, path: str, kind: str, value: Any) -> tuple[Any, list[Problem]]:
        """The coerced value, which cannot be used where something is wrong, and what is; of a manifest, its good
        entries."""
        validator = self.shared.validator(kind)
        problems: list[Problem] = []
        if kind != "fragment":
            return validator.check(value, problems), problems
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
                self.shared.lose_fragment(load_fragment.lost_fragment(entry, mine, path, pointer, self.fragment_roots))
            else:
                good.append([pointer, checked])
        return good, problems

    def _lose(self, path: str, value: Any) -> tuple[None, None]:
        """Note that the file is broken, with the kind and id that it would have had, as far as they are known."""
        kind, name = "", ""
        if isinstance(value, dict):
            key = next((k for k in kinds.KEYS if k in value), "")
            if key:
                kind = kinds.KEYS[key]
                name = str(value[key]) if isinstance(value[key], str) else ""
        if not kind:
            with suppress(UnreadableSource):
                text = self.sources.read_text(path)
                kind, name = kinds.guess(text)
                if not kind and not kinds.mentions(text):
                    self.shared.keyless.add(path)
        self.shared.lose(path, kind, name)
        if kind == "fragment":
            self.shared.lose_id(kind, "")  # the id is the first of how many nobody knows
        return None, None

    def check_unknown(self) -> None:
        """Report files that are none of ours and that nothing names."""
        for path in self.undecoded:
            if path in self.shared.used:
                self.shared.broken.setdefault(path, ("fragment", ""))  # a text, of a fragment that is lost already
            else:
                self.shared.lose(path, "fragment", "")
        for path, value in self.unknown.items():
            syntax = document.syntax_of(path)
            if path in self.shared.used:
                continue
            problem = kinds.unknown(value, data=syntax == "json")
            if syntax == "markdown" and not problem.is_error:
                continue  # a text with metadata of somebody else's
            self.shared.report(path, problem)
            if problem.is_error:
                self.shared.lose(path, kinds.meant(value), "")


def folder(written: str) -> str:
    """A configured folder as a prefix of paths; the root is empty."""
    bare = written.removeprefix("./").rstrip("/")
    return "" if bare == "." else bare


def _too_large(size: int) -> Problem:
    return Problem(
        "too-large",
        f"the file has {size:,} bytes; at most {MAX_FILE_BYTES:,} are read of a definition",
        "move recorded data into a file of its own: `{file: transcripts/x.jsonl}`",
    )
