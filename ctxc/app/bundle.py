"""Release bundles: made of a project, written, and read back. What is read is untrusted."""

from __future__ import annotations

import base64
import json
from collections.abc import Mapping, Sequence
from dataclasses import fields, replace
from hashlib import sha1, sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ctxc.app.gates._files import read_or_nothing
from ctxc.app.gates._shipped import prefixes
from ctxc.app.gates._side import GateSide
from ctxc.base.errors import NothingMatched, UnreadableSource
from ctxc.base.escaping import inert_json
from ctxc.base.spans import Location
from ctxc.model.bundle import SCHEMA, Bundle, BundledFile, BundledFixture
from ctxc.model.release import PrefixLine, Shipped
from ctxc.rules._locks import BUDGETS, TOOLS

if TYPE_CHECKING:
    from ctxc.app.workspace import Workspace
    from ctxc.source.git import Repository

DEFAULT = "ctxc.bundle.json"
MAX_BYTES = 256 << 20
_FOLDERS = ("templates", "fragments", "policies", "fixtures")
_OBJECT = ("kind", "id", "version", "digest", "path")
_PREFIX = ("template", "profile", "provider", "model", "tokens", "digest", "fixtures")


def make_bundle(workspace: Workspace, *, with_content: bool = False) -> tuple[Bundle, tuple[str, ...]]:
    """The bundle of the work tree, and the paths of files that git does not hold yet.

    Raises NothingMatched for a project without fixtures: nothing would show what ships.
    """
    side = GateSide(workspace.tree, workspace.settings, workspace.store, kept=workspace.cache is not None)
    if not side.measured:
        raise NothingMatched(
            "the project has no fixtures: nothing shows what ships",
            help=f"add one under {workspace.settings.fixtures[0]}/ (`ctxc init` writes an example)",
        )
    repository = _repository(workspace)
    try:
        files = tuple(_file(workspace, path, repository) for path in _paths(workspace, side))
        missing = _unknown(files, repository)
        commit = _commit(workspace, files, repository) if not missing else ""
    finally:
        if repository is not None:
            repository.close()
    from ctxc import __version__

    settings = workspace.settings
    bundle = Bundle(
        id=side.bundle(),
        version=__version__,
        commit=commit,
        config=workspace.config.path,
        folders={name: tuple(getattr(settings, name)) for name in _FOLDERS},
        objects=side.shipped,
        prefixes=prefixes(side.measured.values()),
        fixtures=fixtures_of(side),
        files=files if with_content else tuple(replace(f, content=None) for f in files),
    )
    workspace.close()
    return bundle, missing


def fixtures_of(side: GateSide) -> tuple[BundledFixture, ...]:
    """What the fixtures of a side compile to."""
    return tuple(
        BundledFixture(
            fixture=m.fixture,
            snapshot=m.snapshot,
            request=m.request,
            tokens=m.tokens,
            tokenizer=m.tokenizer,
            method=m.method,
        )
        for m in side.measured.values()
    )


def _paths(workspace: Workspace, side: GateSide) -> list[str]:
    """Every file that the project is: its folders, what its fixtures read elsewhere, configuration, locks, baseline."""
    paths = {p for p in (*side.scan.digests, *side.outside()) if workspace.tree.exists(p)}
    named = (workspace.config.path, BUDGETS, TOOLS, str(workspace.settings.extra.get("baseline") or ""))
    paths |= {p for p in named if p and workspace.tree.exists(p)}
    for versions in side.project.policies.values():
        injection = versions[-1].gates.get("injection")
        paths |= set(injection.get("payloads", ())) if isinstance(injection, Mapping) else set()
    return sorted(paths)


def _file(workspace: Workspace, path: str, repository: Repository | None) -> BundledFile:
    data = workspace.tree.read(path, limit=64 << 20)
    return BundledFile(
        path=path, sha256=sha256(data).hexdigest(), size=len(data), blob=blob_of(data, repository), content=data
    )


def blob_of(data: bytes, repository: Repository | None = None) -> str:
    """The id that git gives these bytes, in the form of the repository (SHA-1 without one)."""
    return _blob(data, 64 if repository is not None and repository.object_format() == "sha256" else 40)


def _blob(data: bytes, digits: int) -> str:
    """The same by the number of hex digits that it has."""
    make = sha256 if digits == 64 else sha1
    return make(b"blob %d\0" % len(data) + data).hexdigest()


def _repository(workspace: Workspace) -> Repository | None:
    from ctxc.source.git import Repository

    return Repository.discover(workspace.root, environ=workspace.environment)


def _unknown(files: Sequence[BundledFile], repository: Repository | None) -> tuple[str, ...]:
    if repository is None:
        return tuple(f.path for f in files)
    return tuple(f.path for f in files if repository.objects.look_up(f.blob) is None)


def _commit(workspace: Workspace, files: Sequence[BundledFile], repository: Repository | None) -> str:
    """HEAD, where every file is in it as it is here."""
    head = repository.head() if repository is not None else None
    if repository is None or head is None:
        return ""
    from ctxc.source.commits import CommitTree

    tree = CommitTree(repository, head, prefix=repository.prefix_of(workspace.root), revision="HEAD")
    same = all(sha256(read_or_nothing(tree, f.path)).hexdigest() == f.sha256 for f in files)
    return head if same else ""


# --- as text ---------------------------------------------------------------------------------------------------------


def bundle_text(bundle: Bundle) -> str:
    """The bundle as JSON: sorted keys, a value a line, so that two bundles can be compared line by line."""
    value = {
        "schema": SCHEMA,
        "bundle": bundle.id,
        "ctxc": bundle.version,
        "commit": bundle.commit,
        "config": bundle.config,
        "folders": {name: list(paths) for name, paths in bundle.folders.items()},
        "objects": [{n: getattr(o, n) for n in _OBJECT} for o in bundle.objects],
        "prefixes": [{n: getattr(p, n) for n in _PREFIX} for p in bundle.prefixes],
        "fixtures": [{f.name: getattr(b, f.name) for f in fields(b)} for b in bundle.fixtures],
        "files": [_file_value(f) for f in bundle.files],
    }
    return inert_json(json.dumps(value, ensure_ascii=False, indent=1, sort_keys=True)) + "\n"


def _file_value(file: BundledFile) -> dict[str, Any]:
    value: dict[str, Any] = {"path": file.path, "sha256": file.sha256, "bytes": file.size, "blob": file.blob}
    if file.content is None:
        return value
    try:
        return {**value, "text": file.content.decode("utf-8")}
    except UnicodeDecodeError:
        return {**value, "base64": base64.b64encode(file.content).decode("ascii")}


def read_bundle(path: Path, name: str) -> Bundle:
    """The bundle in a file; ``name`` is what messages call it. Raises UnreadableSource for anything else."""
    from ctxc.source.disk import read_named

    value = _json(read_named(path, name, MAX_BYTES, help="name a file that `ctxc snapshot bundle` wrote"), name)
    told = value.get("schema") if isinstance(value, dict) else None
    if told != SCHEMA:
        raise UnreadableSource(
            f"{name} is no release bundle (its schema is {str(told)[:40]!r}, not {SCHEMA})",
            help="`ctxc snapshot bundle FILE` writes one",
        )
    try:
        return _bundle(value)
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        why = f"{error.args[0]!r} is missing" if isinstance(error, KeyError) else str(error)
        raise UnreadableSource(f"{name} is not as a bundle is: {why}", help="write it again") from error


def _json(data: bytes, name: str) -> Any:
    """The value of a file; raises UnreadableSource with the place where it is no JSON, ends, or says a thing twice."""
    from ctxc.parse.json_text import parse_json
    from ctxc.parse.text import decode

    decoded = decode(data)
    problems = decoded.problems
    if decoded.text is not None:
        parsed = parse_json(decoded.text)
        problems = (*problems, *parsed.problems)
    found = next((p for p in problems if p.is_error), None)
    if found is not None:
        raise UnreadableSource(
            f"{name} cannot be read: {found.message}",
            help="`ctxc snapshot bundle` writes one",
            location=Location(name, found.span),
        )
    return parsed.value


def _bundle(value: Mapping[str, Any]) -> Bundle:
    return Bundle(
        id=_text(value["bundle"]),
        version=_text(value["ctxc"]),
        commit=_text(value["commit"]),
        config=_text(value["config"]),
        folders={name: tuple(map(_text, _list(value["folders"][name]))) for name in _FOLDERS},
        objects=tuple(Shipped(**{n: _text(o[n]) for n in _OBJECT}) for o in _list(value["objects"])),
        prefixes=tuple(_prefix(p) for p in _list(value["prefixes"])),
        fixtures=tuple(_fixture(f) for f in _list(value["fixtures"])),
        files=_files(value["files"]),
    )


def _files(value: Any) -> tuple[BundledFile, ...]:
    from ctxc.source.paths import collisions

    files = tuple(map(_bundled, _list(value)))
    paths = [f.path for f in files]
    if len(set(paths)) != len(paths):
        twice = next(p for n, p in enumerate(paths) if p in paths[:n])
        raise ValueError(f"the path {twice[:80]!r} stands twice")
    same = collisions(paths)
    if same:
        raise ValueError(f"the paths {' and '.join(repr(p[:80]) for p in same[0])} are one file on some machines")
    return files


def _prefix(value: Mapping[str, Any]) -> PrefixLine:
    texts = {n: _text(value[n]) for n in _PREFIX if n not in ("tokens", "fixtures")}
    return PrefixLine(**texts, tokens=_number(value["tokens"]), fixtures=_number(value["fixtures"]))


def _fixture(value: Mapping[str, Any]) -> BundledFixture:
    texts = {n: _text(value[n]) for n in ("fixture", "snapshot", "request", "tokenizer", "method")}
    return BundledFixture(**texts, tokens=None if value["tokens"] is None else _number(value["tokens"]))


def _bundled(value: Mapping[str, Any]) -> BundledFile:
    from ctxc.source.paths import fault_of_path

    path = _text(value["path"])
    fault = fault_of_path(path)
    if fault:
        raise ValueError(f"the path {path[:80]!r} {fault}")
    content: bytes | None = None
    if "text" in value:
        content = _text(value["text"]).encode("utf-8")
    elif "base64" in value:
        content = base64.b64decode(_text(value["base64"]), validate=True)
    digest = _text(value["sha256"])
    if content is not None and sha256(content).hexdigest() != digest:
        raise ValueError(f"the content of {path!r} is not what its hash says")
    size, blob = _number(value["bytes"]), _text(value["blob"])
    if content is not None and (size, blob) != (len(content), _blob(content, len(blob))):
        raise ValueError(f"the content of {path!r} has not the size or the blob id that it says")
    return BundledFile(path=path, sha256=digest, size=size, blob=blob, content=content)


def _list(value: Any) -> list[Any]:
    if not isinstance(value, list):
        raise ValueError("a list was expected")
    return value


def _text(value: Any) -> str:
    if type(value) is not str:
        raise ValueError("a text was expected")
    return value


def _number(value: Any) -> int:
    if type(value) is not int or value < 0:
        raise ValueError("a number was expected")
    return value
