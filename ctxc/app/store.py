"""Stored packages: what a warm run returns instead of compiling.

A record says for one structure of a project (``Scan.structure``) which fixtures there are and from which files each
was compiled; a row and a package are stored under a key that is made from everything that can change them: this
version of ctxc, the options, the structure, and the digest of every file that the compile read. A record or a row that
is damaged, or does not have the shape that was written, counts as absent.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from hashlib import sha256
from typing import TYPE_CHECKING, Any

from ctxc.app.identity import identity
from ctxc.app.rows import finding_from, finding_store, row_from, row_value
from ctxc.base.canonical import canonical
from ctxc.base.values import dataclass
from ctxc.model.finding import Finding
from ctxc.model.report import Row

if TYPE_CHECKING:
    from ctxc.app.scan import Scan
    from ctxc.tokens import CountStore

__all__ = ["Known", "PackageStore", "Record", "StoredRow", "identity"]

_FORMAT = 4
_RECORDS, _ROWS, _PACKAGES = "app.record", "app.row", "app.package"


@dataclass(frozen=True, slots=True, kw_only=True)
class Known:
    """A fixture that a record knows. ``files`` is None where it was not compiled yet."""

    fixture_id: str
    template: str
    path: str
    conversation: str = ""
    files: tuple[str, ...] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Record:
    """What was found when a project of this structure was last loaded.

    ``everything`` identifies all files then (``Scan.everything``), ``digests`` has the beginning of each one's digest;
    ``known`` stands in the order of the project; ``findings`` are those of loading. ``outside`` are the files in none
    of the folders that loading asked for, found or not, with their digests (``Scan.digest``).
    """

    everything: str
    digests: Mapping[str, str]
    known: tuple[Known, ...]
    findings: tuple[Finding, ...]
    outside: Mapping[str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredRow:
    """A row with the findings of its package."""

    row: Row
    findings: tuple[Finding, ...]


class PackageStore:
    """Records, rows and packages of one set of options in the user's cache."""

    def __init__(self, blobs: CountStore, scope: Sequence[Any]) -> None:
        self._blobs = blobs
        self._scope = sha256(canonical([_FORMAT, identity(), *scope]).encode("utf-8", "surrogatepass")).digest()

    def record(self, scan: Scan) -> Record | None:
        """What is known of a project of this structure, or None."""
        key = self._record_key(scan)
        data = self._blobs.get_blobs(_RECORDS, [key]).get(key)
        if data is None:
            return None
        try:
            return _record_from(json.loads(data))
        except (ValueError, KeyError, TypeError):
            return None

    def put_record(self, scan: Scan, record: Record) -> None:
        """Keep what is known."""
        self._blobs.put_blobs(_RECORDS, {self._record_key(scan): _record_text(record).encode("utf-8", "surrogatepass")})

    def key(self, scan: Scan, known: Known) -> bytes:
        """The key of a fixture's package, from the files it was compiled from as they are now."""
        assert known.files is not None
        names = canonical([known.fixture_id, known.path])
        # No path holds the separator, so that these are told apart without being quoted.
        files = "\0".join([part for pair in scan.digests_of(known.files) for part in pair])
        return sha256(self._scope + f"{scan.structure}\0{names}\0{files}".encode("utf-8", "surrogatepass")).digest()

    def rows(self, keys: Iterable[bytes]) -> dict[bytes, StoredRow]:
        """The stored rows of some keys."""
        found: dict[bytes, StoredRow] = {}
        for key, data in self._blobs.get_blobs(_ROWS, list(keys)).items():
            try:
                value = json.loads(data)
                findings = tuple(finding_from(f) for f in value["findings"])
                found[key] = StoredRow(row=row_from(value["row"]), findings=findings)
            except (ValueError, KeyError, TypeError):
                continue
        return found

    def put_rows(self, rows: Mapping[bytes, StoredRow]) -> None:
        """Keep rows."""
        self._blobs.put_blobs(
            _ROWS, {key: _row_text(row).encode("utf-8", "surrogatepass") for key, row in rows.items()}
        )

    def packages(self, keys: Iterable[bytes]) -> dict[bytes, str]:
        """The stored JSON texts of some keys."""
        found = self._blobs.get_blobs(_PACKAGES, list(keys))
        return {key: data.decode("utf-8", "surrogatepass") for key, data in found.items()}

    def put_packages(self, packages: Mapping[bytes, str]) -> None:
        """Keep JSON texts."""
        self._blobs.put_blobs(_PACKAGES, {k: text.encode("utf-8", "surrogatepass") for k, text in packages.items()})

    def _record_key(self, scan: Scan) -> bytes:
        return sha256(self._scope + scan.structure.encode("ascii")).digest()


def _row_text(stored: StoredRow) -> str:
    return canonical({"row": row_value(stored.row), "findings": [finding_store(f) for f in stored.findings]})


def _record_text(record: Record) -> str:
    # Paths occur in many fixtures: they are written once and numbered.
    paths: dict[str, int] = {}
    known = []
    for entry in record.known:
        files = None if entry.files is None else [paths.setdefault(p, len(paths)) for p in entry.files]
        known.append([entry.fixture_id, entry.template, entry.path, entry.conversation, files])
    value = {
        "everything": record.everything,
        "digests": dict(record.digests),
        "paths": list(paths),
        "known": known,
        "findings": [finding_store(f) for f in record.findings],
        "outside": dict(record.outside),
    }
    return canonical(value)


def _record_from(value: Any) -> Record:
    paths = value["paths"]
    if not all(isinstance(p, str) for p in paths):
        raise ValueError("paths are texts")
    known = []
    for *texts, files in value["known"]:
        fixture_id, template, path, conversation = texts
        if not all(isinstance(t, str) for t in texts):
            raise ValueError("a known fixture has texts")
        numbers = None if files is None else tuple(paths[_index(n)] for n in files)
        known.append(
            Known(fixture_id=fixture_id, template=template, path=path, conversation=conversation, files=numbers)
        )
    return Record(
        everything=str(value["everything"]),
        digests={str(k): str(v) for k, v in value["digests"].items()},
        known=tuple(known),
        findings=tuple(finding_from(f) for f in value["findings"]),
        outside={str(k): str(v) for k, v in value["outside"].items()},
    )


def _index(number: Any) -> int:
    if type(number) is not int or number < 0:
        raise ValueError("a path's number is a number")
    return number
