"""The cache that survives a run: token counts, and blobs of whoever else wants to keep something.

It is content-addressed and untrusted. A file that is corrupt, of another schema, or holds a value that cannot be true
is ignored and what it should have held is worked out again; nothing here ever raises for the state of a cache. Values
carry a seal, which finds damage, not forgery: whoever may write the file may also write a seal, and a run that must not
believe the machine it runs on goes without a cache.

One sqlite file in a folder that is passed in (nothing is read from the environment). Writers of other processes are
waited for briefly and then gone without. Everything is written in one transaction, at ``flush`` or ``close``.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from hashlib import sha256
from pathlib import Path
from threading import RLock
from typing import TYPE_CHECKING, Any, TypeVar
from zlib import crc32

if TYPE_CHECKING:
    import sqlite3

FILE_NAME = "ctxc-1.sqlite3"
LIMIT_BYTES = 256 * 1024 * 1024
"""Size over which the oldest entries leave, in bytes of the file."""
MAX_BLOB_BYTES = 64 * 1024 * 1024
"""Blobs over this size are neither kept nor read back."""

_APPLICATION_ID = 0x63747863  # "ctxc"
_VERSION = 1
_BATCH = 500  # keys of one IN (...): older sqlite takes 999 variables
_BUSY_SECONDS = 2.0
_MEMO_ENTRIES = 250_000  # about 50 MB
_SWEEP = 5  # rows that are read on in the time in which one is looked up (measured: 5 of 10,000 rows, 6 of 100,000)
_PENDING_BYTES = 32 * 1024 * 1024
_ROW_BYTES = 72  # of a count on disk, measured at 1 million rows

_SCHEMA = {
    "blobs": "CREATE TABLE blobs (seq INTEGER PRIMARY KEY, space TEXT NOT NULL, key BLOB NOT NULL,"
    " value BLOB NOT NULL, seal BLOB NOT NULL, UNIQUE (space, key))",
    "counts": "CREATE TABLE counts (key BLOB PRIMARY KEY, value INTEGER NOT NULL, seal INTEGER NOT NULL,"
    " seq INTEGER NOT NULL) WITHOUT ROWID",
    "meta": "CREATE TABLE meta (name TEXT PRIMARY KEY, value INTEGER NOT NULL) WITHOUT ROWID",
}
_TAG = (
    "Signature: 8a477f597d28d172789f06886806bc55\n"
    "# This folder is a cache of ctxc and may be removed at any time. See https://bford.info/cachedir/\n"
)

_T = TypeVar("_T")


def open_store(folder: Path | None, *, limit_bytes: int = LIMIT_BYTES) -> CountStore:
    """A store whose file lies in ``folder`` (made when missing); None: in memory only. Opens nothing until asked."""
    return CountStore(folder, limit_bytes=limit_bytes)


def clear(folder: Path) -> int:
    """Remove the cache file and its companions from a folder; the bytes that became free. Other files stay."""
    freed = 0
    for path in _files(folder):
        try:
            size = path.lstat().st_size
            path.unlink()
        except OSError:
            continue
        freed += size
    return freed


class CountStore:
    """Counts by (owner, text), blobs by (namespace, key); in memory, and in a file when there is one.

    ``hits`` and ``misses`` number the counts that were asked for and found, or not. ``note`` says why there is no
    file behind the store though one was asked for; empty when there is, or none was asked for.
    """

    def __init__(self, folder: Path | None, *, limit_bytes: int = LIMIT_BYTES) -> None:
        self.hits = 0
        self.misses = 0
        self.blob_hits = 0
        self.blob_misses = 0
        self.note = ""
        self._folder = folder
        self._limit = limit_bytes
        self._db: sqlite3.Connection | None = None
        self._opened = folder is None
        self._writable = False
        self._memo: dict[bytes, int] = {}
        self._asked = 0  # keys that were looked up in the file
        self._swept = False  # whether all that the file held is in the memo
        self._new_counts: dict[bytes, int] = {}
        self._new_blobs: dict[tuple[str, bytes], bytes] = {}
        self._pending_bytes = 0
        self._lock = RLock()

    def __enter__(self) -> CountStore:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def get_many(self, owner: bytes, texts: Sequence[bytes]) -> list[int | None]:
        """The stored number of each UTF-8 text under an owner (a tokenizer's digest), None where there is none.

        A number that is not between 1 and the text's bytes cannot be a count and is not returned.
        """
        keys = [sha256(owner + text).digest() for text in texts]
        with self._lock:
            unknown = list(dict.fromkeys(key for key in keys if key not in self._memo))
            if unknown and not self._swept:
                self._remember(self._read_counts(unknown))
            found = map(self._memo.get, keys)
            values = [n if n is not None and 1 <= n <= len(t) else None for n, t in zip(found, texts, strict=True)]
            missing = values.count(None)
            self.misses += missing
            self.hits += len(values) - missing
        return values

    def put_many(self, owner: bytes, numbers: Iterable[tuple[bytes, int]]) -> None:
        """Keep numbers (text, number); numbers outside 1 to the text's bytes are refused with ``ValueError``."""
        fresh: dict[bytes, int] = {}
        for text, number in numbers:
            if not 1 <= number <= len(text):
                raise ValueError(f"{number} is no count of a text of {len(text)} bytes")
            fresh[sha256(owner + text).digest()] = number
        with self._lock:
            self._remember(fresh)
            if self._folder is not None:
                self._new_counts.update(fresh)

    def get_blobs(self, namespace: str, keys: Sequence[bytes]) -> dict[bytes, bytes]:
        """What is stored under the keys of a namespace and is whole; keys without an entry are left out."""
        with self._lock:
            found = {key: blob for key in keys if (blob := self._new_blobs.get((namespace, key))) is not None}
            if wanted := [key for key in dict.fromkeys(keys) if key not in found]:
                found.update(self._read_blobs(namespace, wanted))
            self.blob_hits += len(found)
            self.blob_misses += len(set(keys)) - len(found)
        return found

    def put_blobs(self, namespace: str, blobs: Mapping[bytes, bytes]) -> None:
        """Keep blobs; those over ``MAX_BLOB_BYTES`` are not kept."""
        with self._lock:
            for key, value in blobs.items():
                if len(value) <= MAX_BLOB_BYTES and self._folder is not None:
                    self._new_blobs[namespace, key] = value
                    self._pending_bytes += len(value)
            if self._pending_bytes > _PENDING_BYTES:
                self.flush()

    def flush(self) -> None:
        """Write what is new, in one transaction, then let the oldest entries go when the file is over its limit."""
        with self._lock:
            counts, blobs = self._new_counts, self._new_blobs
            self._new_counts, self._new_blobs, self._pending_bytes = {}, {}, 0
            if (counts or blobs) and self._ready() and self._writable:
                self._guarded(lambda db: self._write(db, counts, blobs), None)
                self._guarded(self._prune, None)

    def close(self) -> None:
        """Flush and let go of the file. The store still works afterwards, from memory."""
        with self._lock:
            self.flush()
            self._drop_connection()
            self._opened = True

    # -- reading ---------------------------------------------------------------------------------------------------

    def _read_counts(self, keys: list[bytes]) -> dict[bytes, int]:
        """The stored counts of some keys, or all there are, once so many were asked for that reading on is cheaper."""
        self._asked += len(keys)

        def read(db: sqlite3.Connection) -> dict[bytes, int]:
            if _next_seq(db) <= min(_SWEEP * self._asked, _MEMO_ENTRIES - len(self._memo)):
                found = _whole(db.execute("SELECT key, value, seal FROM counts"))
                self._swept = True
                return found
            found = {}
            for batch, marks in _batches(keys):
                found |= _whole(db.execute(f"SELECT key, value, seal FROM counts WHERE key IN ({marks})", batch))
            return found

        return self._guarded(read, {}) if self._ready() else {}

    def _read_blobs(self, namespace: str, keys: list[bytes]) -> dict[bytes, bytes]:
        def read(db: sqlite3.Connection) -> dict[bytes, bytes]:
            found: dict[bytes, bytes] = {}
            for batch, marks in _batches(keys):
                rows = db.execute(
                    f"SELECT key, value, seal FROM blobs WHERE space = ? AND key IN ({marks}) AND length(value) <= ?",
                    [namespace, *batch, MAX_BLOB_BYTES],
                )
                for key, value, seal in rows:
                    if isinstance(value, bytes) and seal == _blob_seal(namespace, key, value):
                        found[key] = value
            return found

        return self._guarded(read, {}) if self._ready() else {}

    def _remember(self, found: Mapping[bytes, int]) -> None:
        if len(self._memo) + len(found) > _MEMO_ENTRIES:
            self._memo.clear()
            self._swept = False
        self._memo.update(found)

    # -- writing ---------------------------------------------------------------------------------------------------

    @staticmethod
    def _write(db: sqlite3.Connection, counts: Mapping[bytes, int], blobs: Mapping[tuple[str, bytes], bytes]) -> None:
        db.execute("BEGIN IMMEDIATE")
        start = _next_seq(db)
        rows = sorted(counts.items())
        db.executemany(
            "INSERT OR REPLACE INTO counts (key, value, seal, seq) VALUES (?, ?, ?, ?)",
            ((key, value, _count_seal(key, value), start + at) for at, (key, value) in enumerate(rows)),
        )
        db.execute("INSERT OR REPLACE INTO meta (name, value) VALUES ('next', ?)", (start + len(rows),))
        db.executemany(
            "INSERT OR REPLACE INTO blobs (space, key, value, seal) VALUES (?, ?, ?, ?)",
            ((space, key, value, _blob_seal(space, key, value)) for (space, key), value in blobs.items()),
        )
        db.execute("COMMIT")

    def _prune(self, db: sqlite3.Connection) -> None:
        """Oldest first by insertion, down to three quarters of the limit: one for counts, two for blobs."""
        if (_pragma(db, "page_count") - _pragma(db, "freelist_count")) * _pragma(db, "page_size") <= self._limit:
            return
        quarter = self._limit // 4
        db.execute("BEGIN IMMEDIATE")
        db.execute("DELETE FROM counts WHERE seq < ?", (_next_seq(db) - quarter // _ROW_BYTES,))
        total = 0
        for seq, size in db.execute("SELECT seq, length(value) + length(key) FROM blobs ORDER BY seq DESC").fetchall():
            total += size + _ROW_BYTES
            if total > 2 * quarter:
                db.execute("DELETE FROM blobs WHERE seq <= ?", (seq,))
                break
        db.execute("COMMIT")
        db.executescript("PRAGMA incremental_vacuum")  # execute() would give back a single page
        db.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()

    # -- the file --------------------------------------------------------------------------------------------------

    def _ready(self) -> bool:
        """Open the file the first time that it is needed; whether there is one."""
        if not self._opened:
            self._opened = True
            self._open()
        return self._db is not None

    def _open(self) -> None:
        import sqlite3

        folder = self._folder
        assert folder is not None
        path = folder / FILE_NAME
        try:
            _make_folder(folder)
            if path.is_symlink() or (path.exists() and not path.is_file()):
                self.note = "the cache file is not a regular file; counting without it"
                return
            # Write access is asked for beforehand: sqlite in WAL mode fails late and oddly in a folder without it.
            self._writable = os.access(folder, os.W_OK) and (not path.exists() or os.access(path, os.W_OK))
        except OSError as error:
            self.note = f"no cache: {error.strerror or error}"
            return
        for fresh in (False, True):
            try:
                if fresh:
                    clear(folder)
                self._db = self._connect(path)
                return
            except sqlite3.OperationalError as error:  # locked, no space, no permission: not a broken file
                self._drop_connection()
                self.note = f"no cache: {error}"
                return
            except (sqlite3.DatabaseError, _WrongSchema) as error:
                self._drop_connection()
                self.note = f"no cache: {error}"
                if not self._writable:
                    return
        return

    def _connect(self, path: Path) -> sqlite3.Connection:
        import sqlite3

        # immutable: a read-only folder has no place for the shared-memory file that WAL would want.
        options = "mode=rwc" if self._writable else "mode=ro&immutable=1"
        uri = f"{path.absolute().as_uri()}?{options}"
        db = sqlite3.connect(uri, uri=True, timeout=_BUSY_SECONDS, isolation_level=None, check_same_thread=False)
        self._db = db
        db.execute("PRAGMA trusted_schema = OFF")
        if self._writable:
            if _pragma(db, "page_count") == 0:
                db.execute("PRAGMA auto_vacuum = INCREMENTAL")
            db.execute("PRAGMA journal_mode = WAL").fetchall()
            db.execute("PRAGMA synchronous = NORMAL")
            if not _objects(db):
                _create(db)
        found = (_pragma(db, "application_id"), _pragma(db, "user_version"), _objects(db))
        if found != (_APPLICATION_ID, _VERSION, _SCHEMA):
            raise _WrongSchema("the cache file has another schema")
        self.note = ""
        return db

    def _guarded(self, action: Callable[[sqlite3.Connection], _T], otherwise: _T) -> _T:
        """Run an action on the file; when the file fails it, go on without (and without the file, if it is broken)."""
        import sqlite3

        if self._db is None:
            return otherwise
        try:
            return action(self._db)
        except sqlite3.OperationalError as error:
            self.note = f"the cache was not used: {error}"
            if self._db.in_transaction:
                self._db.rollback()
        except (sqlite3.Error, OverflowError, _WrongSchema) as error:
            self.note = f"the cache was not used: {error}"
            self._drop_connection()
            if self._writable and self._folder is not None:
                clear(self._folder)
        return otherwise

    def _drop_connection(self) -> None:
        if self._db is not None:
            self._db.close()
            self._db = None


class _WrongSchema(Exception):
    """The file is a database, but not one of ours."""


def _create(db: sqlite3.Connection) -> None:
    db.execute("BEGIN IMMEDIATE")  # another process may be doing the same: then there are tables by now
    if not _objects(db):
        for statement in _SCHEMA.values():
            db.execute(statement)
        db.execute(f"PRAGMA application_id = {_APPLICATION_ID}")
        db.execute(f"PRAGMA user_version = {_VERSION}")
    db.execute("COMMIT")


def _objects(db: sqlite3.Connection) -> dict[str, str]:
    """Every object of the schema that has a definition: a view or trigger of somebody else's shows here."""
    rows = db.execute("SELECT name, sql FROM sqlite_master WHERE sql IS NOT NULL ORDER BY name").fetchall()
    return {str(name): str(sql) for name, sql in rows}


def _pragma(db: sqlite3.Connection, name: str) -> int:
    return int(db.execute(f"PRAGMA {name}").fetchone()[0])


def _next_seq(db: sqlite3.Connection) -> int:
    row = db.execute("SELECT value FROM meta WHERE name = 'next'").fetchone()
    if row is None:
        return 0
    if not isinstance(row[0], int) or not 0 <= row[0] < 2**62:
        raise _WrongSchema("the cache file counts its entries wrongly")
    return row[0]


def _whole(rows: Iterable[tuple[Any, Any, Any]]) -> dict[bytes, int]:
    """The counts in some rows, without those that are damaged."""
    return {
        key: value
        for key, value, seal in rows
        if isinstance(key, bytes) and isinstance(value, int) and value >= 0 and seal == _count_seal(key, value)
    }


def _count_seal(key: bytes, value: int) -> int:
    return crc32(value.to_bytes(8, "big"), crc32(key))


def _blob_seal(namespace: str, key: bytes, value: bytes) -> bytes:
    head = f"{namespace}\0{len(key)}\0".encode()
    return sha256(head + key + value).digest()


def _batches(keys: Sequence[bytes]) -> Iterator[tuple[list[bytes], str]]:
    for start in range(0, len(keys), _BATCH):
        batch = list(keys[start : start + _BATCH])
        yield batch, ",".join("?" * len(batch))


def _files(folder: Path) -> tuple[Path, ...]:
    return tuple(folder / f"{FILE_NAME}{tail}" for tail in ("", "-wal", "-shm", "-journal"))


def _make_folder(folder: Path) -> None:
    """The folder, marked as a cache for backup tools and for git. Raises OSError when it is not there and cannot be."""
    if not folder.is_dir():
        folder.mkdir(parents=True, exist_ok=True)
    for name, content in (("CACHEDIR.TAG", _TAG), (".gitignore", "*\n")):
        path = folder / name
        if not path.exists() and os.access(folder, os.W_OK):
            path.write_text(content, encoding="utf-8", newline="\n")
