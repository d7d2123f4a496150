"""One side of a gate: the fixtures of a tree, measured, compiled only where nothing is kept of what they are made from.

A measured fixture is kept under a key of everything that can change it: this version of ctxc, the settings, the
structure of the project and the digest of every file that its compile read, as stored packages are. A project with
errors is never kept, and neither is a fixture that cannot be compiled.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import fields
from hashlib import sha256
from typing import TYPE_CHECKING

from ctxc.app.asked import AskedTree
from ctxc.app.clean import CleanFiles
from ctxc.app.gates._codec import plain, shipped_from, store_text, stored
from ctxc.app.scan import ABSENT, Scan
from ctxc.app.store import identity
from ctxc.base.canonical import canonical
from ctxc.model.finding import Finding, Severity
from ctxc.model.measured import Measured

if TYPE_CHECKING:
    from ctxc.compiler.pipeline import Compiler
    from ctxc.model.counting import Tokenizer
    from ctxc.model.package import Package
    from ctxc.model.project import Project, Settings
    from ctxc.model.provider import TokenizerRef
    from ctxc.model.release import Shipped
    from ctxc.source.tree import Tree
    from ctxc.tokens import CountStore

_FORMAT = 3
_BUILTIN = "ctxc:"  # as ctxc.parse.sources.BUILTIN
_ROOTS, _RECORDS, _MEASURED, _RESULTS = "gate.root", "gate.record", "gate.measured", "gate.result"


class GateSide:
    """The fixtures of one tree. ``kept`` says whether the store may be read and written.

    ``tree`` remembers which files were asked for; ``decoded`` may be shared with another side, of which most fixtures
    are compiled from the same files.
    """

    def __init__(self, tree: Tree, settings: Settings, store: CountStore, *, kept: bool) -> None:
        self.tree = AskedTree(tree)
        self._raw = tree
        self.settings = settings
        self.store = store
        self.compiled = 0
        self.decoded: dict[bytes, tuple[Measured, tuple[Finding, ...]]] = {}
        self._kept = kept
        self._scope = sha256(
            canonical([_FORMAT, identity(), {f.name: getattr(settings, f.name) for f in fields(settings)}]).encode(
                "utf-8", "surrogatepass"
            )
        ).digest()
        self.root_id = str(getattr(tree, "root_id", ""))  # git's name for the tree, if it is one of git's
        known = self.root_id if kept else ""
        self._root_key = sha256(self._scope + known.encode("ascii")).digest() if known else b""
        self._bundle = ""
        self._shipped: tuple[Shipped, ...] | None = None
        self._scan: Scan | None = None
        self._clean: CleanFiles | None = None
        self._project: Project | None = None
        self._loaded: frozenset[str] = frozenset()
        self._compiler: Compiler | None = None
        self._packages: dict[str, Package] = {}
        self._keys: dict[str, bytes] = {}
        self._measured: dict[str, Measured] | None = None
        self._findings: dict[str, tuple[Finding, ...]] = {}
        self._dependencies: dict[str, list[str]] = {}

    @classmethod
    def of(cls, project: Project, store: CountStore) -> GateSide:
        """The side of a project that is loaded already."""
        from ctxc.app.diff_compare import tree_of

        side = cls(tree_of(project), project.settings, store, kept=False)
        side._project = project
        side._loaded = frozenset(side.scan.digests)  # whoever loaded it knows what it found
        return side

    @property
    def scan(self) -> Scan:
        """Digests of the files."""
        if self._scan is None:
            self._scan = Scan(self._raw, self.settings)
        return self._scan

    @property
    def clean(self) -> CleanFiles | None:
        """What searches of earlier runs found nothing in; None where no cache may be used."""
        if self._clean is None and self._kept:
            self._clean = CleanFiles(self.store, self.scan.digests)
        return self._clean

    @property
    def project(self) -> Project:
        """Everything loaded from the tree."""
        if self._project is None:
            from ctxc.app.workspace import load

            tree = AskedTree(self.tree)
            self._project = load(tree, self.settings, self.store)
            self._loaded = frozenset(tree.asked)
        return self._project

    @property
    def checked_project(self) -> Project:
        """The same, with what is wrong in those files of its folders that loading has no need to read."""
        from ctxc.app.lint import with_unread

        return with_unread(self.project, self.tree, self._loaded, self.scan)

    @property
    def tokenizers(self) -> Callable[[TokenizerRef], Tokenizer]:
        """Who counts, through the store."""
        from ctxc.app.tokenizers import tokenizers

        return tokenizers(self.project.sources, self.store)

    @property
    def measured(self) -> Mapping[str, Measured]:
        """Every fixture, measured; sorted by id."""
        if self._measured is None:
            self._measured = dict(sorted(self._measure().items()))
        return self._measured

    def findings(self) -> tuple[Finding, ...]:
        """What the compiles of all fixtures found."""
        return tuple(f for name in self.measured for f in self._findings.get(name, ()))

    def outside(self) -> frozenset[str]:
        """Files that fixtures are compiled from and that lie in none of the project's folders."""
        assert self.measured is not None  # which is where it is found out what they are
        read = {p for files in self._dependencies.values() for p in files}
        return frozenset(p for p in read - self.scan.digests.keys() if not p.startswith(_BUILTIN))

    def shipped_files(self) -> dict[str, str]:
        """Path to SHA-256 of every file that requests are made from, and of the policies; no file of a fixture."""
        paths = (self.scan.digests.keys() - self.scan.fixture_files) | self.outside()
        return {path: digest for path, digest in self.scan.digests_of(paths) if digest != "absent"}

    @property
    def shipped(self) -> tuple[Shipped, ...]:
        """The versioned objects, providers and tokenizers that ship."""
        if self._shipped is None:
            from ctxc.app.gates._shipped import shipped

            self._shipped = shipped(self)
        return self._shipped

    def bundle(self) -> str:
        """The name of everything that ships; where git has a name for the tree, kept under that name."""
        if not self._bundle:
            from ctxc.app.gates._shipped import bundle_id

            self._bundle = bundle_id(self, self.shipped)
            if self._root_key and self._measured is not None and len(self._keys) == len(self._measured):
                keys = {n: k.hex() for n, k in self._keys.items()}
                value = {"bundle": self._bundle, "keys": keys, "shipped": plain(self.shipped)}
                self.store.put_blobs(_ROOTS, {self._root_key: canonical(value).encode("utf-8", "surrogatepass")})
        return self._bundle

    def package(self, fixture_id: str) -> Package:
        """The package of a fixture, compiled when it is first asked for."""
        found = self._packages.get(fixture_id)
        if found is None:
            found = self._packages[fixture_id] = self._compile(fixture_id)
        return found

    def _compile(self, fixture_id: str) -> Package:
        if self._compiler is None:
            from ctxc.app.workspace import compiler_for
            from ctxc.compiler.stage import Options

            self._compiler = compiler_for(self.project, Options(), self.store)
        self.compiled += 1
        return self._compiler.compile(self.project.fixtures[fixture_id])

    # --- measuring ------------------------------------------------------------------------------------------------

    def _measure(self) -> dict[str, Measured]:
        if self._is_known_root():
            found = self._stored()
            if len(found) == len(self._keys):
                return found
            self._bundle = ""
        record, outside, exact = self._record()
        found = {}
        if record:
            self._keys = {name: self._key(name, files) for name, files in record.items()}
            self._dependencies = record
            found = self._stored()
            if exact and len(found) == len(record):
                return found
        project = self.project
        if not self.scan.is_sound(project):
            # What is wrong may keep a fixture from being compiled that was compiled before.
            record, found, self._findings, self._keys = {}, {}, {}, {}
        for name in [n for n in found if n in project.fixtures and project.fixtures[n].origin.path not in record[n]]:
            del found[name]  # the id is that of another fixture now
        fresh: dict[bytes, bytes] = {}
        files: dict[str, list[str]] = {}
        from ctxc.rules._measuring import measure

        for name, fixture in project.fixtures.items():
            if name in found:
                continue
            package = self.package(name)
            found[name] = measure(package, fixture, project, self.tokenizers)
            self._findings[name] = package.findings
            if package.outcome.value == "invalid":
                continue
            files[name] = list(package.dependencies)
            self._keys[name] = self._key(name, files[name])
            fresh[self._keys[name]] = store_text(found[name], package.findings)
        for name in found.keys() - project.fixtures.keys():
            del found[name]
            self._keys.pop(name, None)
        self._dependencies = {n: f for n, f in record.items() if n in found} | files
        broken = any(f.severity is Severity.ERROR for f in project.findings)
        if self._kept and not broken:
            self.store.put_blobs(_MEASURED, fresh)
            # A record without the fixtures that could not be compiled would be taken for one of all fixtures.
            whole = self._dependencies.keys() == found.keys()
            if whole and (not exact or self._dependencies != record or outside.keys() != self._asked_outside()):
                self._keep(self._dependencies)
        return found

    def _is_known_root(self) -> bool:
        """Whether a tree of git was measured before: then none of its files has to be read."""
        if not self._root_key:
            return False
        data = self.store.get_blobs(_ROOTS, [self._root_key]).get(self._root_key)
        if data is None:
            return False
        try:
            value = json.loads(data)
            self._keys = {str(name): bytes.fromhex(key) for name, key in value["keys"].items()}
            self._bundle = str(value["bundle"])
            self._shipped = shipped_from(value["shipped"])
        except (ValueError, KeyError, TypeError, AttributeError):
            return False
        return bool(self._keys)

    def _asked_outside(self) -> frozenset[str]:
        """What loading asked for beside the project's folders."""
        return self._loaded - self.scan.digests.keys()

    def _record(self) -> tuple[dict[str, list[str]], dict[str, str], bool]:
        """Fixtures and the files that each was compiled from; what loading them asked for beside the folders; and
        whether all of it is exactly as it was.

        Otherwise they are those of the last project of this structure: a fixture of it whose files are as they were
        then need not be compiled again, but only loading says which fixtures there are.
        """
        if not self._kept:
            return {}, {}, False
        keys = self._record_keys()
        blobs = self.store.get_blobs(_RECORDS, list(keys))
        for number, key in enumerate(keys):
            try:
                value = json.loads(blobs[key])
                paths = [str(p) for p in value["paths"]]
                found = {str(name): [paths[n] for n in numbers] for name, numbers in value["fixtures"].items()}
                outside = {str(k): str(v) for k, v in value["outside"].items()}
                now = {path: self.scan.digest(path) for path in outside}
                if any((digest == ABSENT) != (outside[path] == ABSENT) for path, digest in now.items()):
                    continue  # a name may mean another file than it did
                return found, outside, number == 0 and now == outside
            except (ValueError, KeyError, TypeError, IndexError):
                continue
        return {}, {}, False

    def _record_keys(self) -> tuple[bytes, bytes]:
        own = [[p, self.scan.digests[p]] for p in sorted(self.scan.fixture_files)]
        values = ([self.scan.structure, own], [self.scan.structure])
        exact, loose = (sha256(self._scope + canonical(v).encode("utf-8", "surrogatepass")).digest() for v in values)
        return exact, loose

    def _key(self, fixture_id: str, files: list[str]) -> bytes:
        # A path cannot hold a zero byte, and a fixture's id stands at a fixed place.
        parts = [self.scan.structure, fixture_id, *(f"{path}\0{self.scan.digest(path)}" for path in files)]
        return sha256(self._scope + "\0".join(parts).encode("utf-8", "surrogatepass")).digest()

    def _stored(self) -> dict[str, Measured]:
        blobs = self.store.get_blobs(_MEASURED, [k for k in self._keys.values() if k not in self.decoded])
        found: dict[str, Measured] = {}
        for name, key in self._keys.items():
            if key in blobs:
                try:
                    self.decoded[key] = stored(blobs[key])
                except (ValueError, KeyError, TypeError):
                    continue
            known = self.decoded.get(key)
            if known is None:
                continue
            measured, findings = known
            if measured.fixture == name:
                found[name] = measured
                self._findings[name] = findings
        return found

    def _keep(self, known: Mapping[str, list[str]]) -> None:
        paths: dict[str, int] = {}
        fixtures = {n: [paths.setdefault(p, len(paths)) for p in files] for n, files in known.items()}
        outside = dict(self.scan.digests_of(self._asked_outside()))
        text = canonical({"paths": list(paths), "fixtures": fixtures, "outside": outside}).encode(
            "utf-8", "surrogatepass"
        )
        self.store.put_blobs(_RECORDS, dict.fromkeys(self._record_keys(), text))

    # --- results that depend on a fixture's package only (ctxc.rules._ground.Kept) -----------------------------------

    def get(self, space: str, fixtures: Iterable[str], more: str) -> dict[str, str]:
        """What was kept for fixtures as they are now, where something was."""
        keys = {name: key for name in fixtures if (key := self._result_key(space, name, more)) is not None}
        blobs = self.store.get_blobs(_RESULTS, list(keys.values())) if keys else {}
        return {name: blobs[key].decode("utf-8", "replace") for name, key in keys.items() if key in blobs}

    def put(self, space: str, fixture: str, more: str, text: str) -> None:
        """Keep a result."""
        key = self._result_key(space, fixture, more)
        if key is not None:
            self.store.put_blobs(_RESULTS, {key: text.encode("utf-8", "surrogatepass")})

    def _result_key(self, space: str, fixture: str, more: str) -> bytes | None:
        key = self._keys.get(fixture) if self._kept else None
        if key is None:
            return None
        return sha256(key + f"{space}\0{more}".encode("utf-8", "surrogatepass")).digest()
