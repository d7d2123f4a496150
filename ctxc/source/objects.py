"""Reading git's objects through one long-lived ``git cat-file --batch``.

Objects are asked for by id, which no file name or revision can forge; only names that ctxc itself writes (``HEAD``,
references) are looked up as names. Trees are parsed here, so that listing a folder at a revision, comparing two of
them and reading their files are one process and no checkout.
"""

from __future__ import annotations

import contextlib
import re
import subprocess
import threading
import weakref
from collections.abc import Iterable, Sequence
from typing import IO, NamedTuple

from ctxc.base.errors import InternalFault, RevisionError
from ctxc.base.values import dataclass
from ctxc.source.links import Entry, Fault, Folder, Kind, oversize
from ctxc.source.paths import MAX_PATH_BYTES, fault_of_name
from ctxc.source.process import TIMEOUT_SECONDS, Git
from ctxc.source.tree import KEPT_BYTES, MAX_INPUT_BYTES, MAX_TREE_BYTES

_OID = re.compile(r"(?:[0-9a-f]{40}|[0-9a-f]{64})\Z")
_DRAIN_BYTES = 64 << 20  # an object above its limit is read to its end up to here; beyond, git is started anew
_PIPE_BYTES = 4096  # the smallest pipe of the platforms (Windows): so much can be written before anything is read
_CHUNK = 1 << 18
_LOOKS = 20  # how often the watch looks before it gives up

_TREE_ENTRY = {size: re.compile(rb"([0-7]+) ([^\0]*)\0(.{%d})" % size, re.DOTALL) for size in (20, 32)}
# Modes of tree entries: git-fast-import(1) and git's object.h; 100664 was written by very old versions.
_KINDS: dict[bytes, Kind] = {
    b"100644": "file",
    b"100755": "file",
    b"100664": "file",
    b"40000": "folder",
    b"120000": "link",
    b"160000": "submodule",
}


class ObjectMissing(Exception):
    """An object is not in the repository; whoever asked knows what it was for.

    ``answered``: git said so itself and can go on answering.
    """

    def __init__(self, oid: str, *, answered: bool = False) -> None:
        super().__init__(oid)
        self.oid = oid
        self.answered = answered


class _TooLong(Exception):
    """An object so large that starting git anew is cheaper than reading past it."""

    def __init__(self, oid: str, kind: str, size: int) -> None:
        super().__init__(oid)
        self.oid, self.kind, self.size = oid, kind, size


class Found(NamedTuple):
    """An object: id, type (blob, tree, commit, tag) and bytes."""

    oid: str
    type: str
    data: bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class Commit:
    """What a commit object says itself, also where its parents are not in the clone."""

    oid: str
    tree: str
    parents: tuple[str, ...]
    subject: str


def is_oid(text: str) -> bool:
    """Whether the text is a whole object id, of SHA-1 or SHA-256."""
    return _OID.match(text) is not None


class Objects:
    """The objects of one repository. Safe to use from several threads; one request is served at a time."""

    def __init__(self, git: Git) -> None:
        self._git = git
        self._lock = threading.RLock()
        self._process: _Running | None = None
        self._finalizer: weakref.finalize[[], Objects] | None = None
        self._folders: dict[str, Folder] = {}
        self._kept: dict[str, bytes] = {}
        self._room = KEPT_BYTES

    def start(self) -> None:
        """Start git, which then gets ready beside whatever is done until the first request."""
        with self._lock:
            self._running()

    def look_up(self, name: str) -> Found | None:
        """The object that a name of ours (``HEAD^{commit}``, an id) stands for; None where there is none."""
        with self._lock:
            try:
                for oid, kind, data in self._ask([name], MAX_INPUT_BYTES):
                    return None if isinstance(data, Fault) else Found(oid, kind, data)
            except ObjectMissing:
                pass
            return None

    def commit(self, name: str) -> Commit | None:
        """The commit that a name or id stands for; None where there is none."""
        found = self.look_up(f"{name}^{{commit}}")
        return parse_commit(found.oid, found.data) if found is not None and found.type == "commit" else None

    def read_blobs(self, oids: Iterable[str], limit: int) -> dict[str, bytes | Fault]:
        """Each blob, or that it is above the limit of bytes. Raises ObjectMissing, RevisionError."""
        answers: dict[str, bytes | Fault] = {}
        wanted: list[str] = []
        for oid in dict.fromkeys(oids):
            kept = self._kept.get(oid)
            if kept is None:
                wanted.append(oid)
            else:
                answers[oid] = kept if len(kept) <= limit else oversize(len(kept), limit)
        with self._lock:
            for oid, _, data in self._ask(wanted, limit):
                answers[oid] = data
                if not isinstance(data, Fault) and len(data) <= self._room:
                    self._kept[oid] = data
                    self._room -= len(data)
        return answers

    def folder(self, oid: str) -> Folder:
        """A tree object as a folder. Raises ObjectMissing, RevisionError."""
        if oid not in self._folders:
            self.read_folders([oid])
        return self._folders[oid]

    def read_folders(self, oids: Iterable[str]) -> list[Folder]:
        """Tree objects as folders, those that are not known yet in one request. Raises as ``folder``."""
        wanted = tuple(dict.fromkeys(oids))
        with self._lock:
            for oid, kind, data in self._ask([oid for oid in wanted if oid not in self._folders], MAX_INPUT_BYTES):
                if isinstance(data, Fault) or kind != "tree":
                    reason = data.reason if isinstance(data, Fault) else f"is a {kind}, not a tree"
                    raise RevisionError(f"git object {oid} {reason}", help="see whether `git fsck` agrees")
                self._folders[oid] = parse_tree(data, len(oid) // 2)
        return [self._folders[oid] for oid in wanted]

    def close(self) -> None:
        """End the process; the next request starts another."""
        with self._lock:
            if self._finalizer is not None:
                self._finalizer()
            self._process = self._finalizer = None

    def _ask(self, names: Sequence[str], limit: int) -> list[tuple[str, str, bytes | Fault]]:
        """Id, type and bytes of each name, in order."""
        if not names:
            return []
        running = self._running()
        stdin, stdout = running.stdin, running.stdout
        request = "".join(f"{name}\n" for name in names).encode()
        writer = threading.Thread(target=_write, args=(stdin, request), daemon=True)
        answers: list[tuple[str, str, bytes | Fault]] = []
        try:
            running.expect_answer()
            if len(request) <= _PIPE_BYTES:
                _write(stdin, request)
            else:  # git answers while it reads: writing all of it first would fill both pipes
                writer.start()
            total = 0
            for name in names:
                answer = _read_answer(stdout, name, limit)
                answers.append(answer)
                total += 0 if isinstance(answer[2], Fault) else len(answer[2])
                if total > MAX_TREE_BYTES:
                    help = "name narrower folders in the configuration"
                    raise RevisionError(f"the files have more than {MAX_TREE_BYTES:,} bytes together", help=help)
        except _TooLong as error:
            self.close()
            answers.append((error.oid, error.kind, oversize(error.size, limit)))
            answers.extend(self._ask(names[len(answers) :], limit))
        except BaseException as error:
            if not (isinstance(error, ObjectMissing) and error.answered and error.oid == names[-1]):
                self.close()  # what is left in the pipes answers nobody any more
            if running.late:
                help = "see whether `git fsck` ends"
                raise RevisionError(f"git did not answer within {TIMEOUT_SECONDS:g} seconds", help=help) from None
            raise
        finally:
            running.expect_nothing()
            if writer.ident is not None:
                writer.join()
        return answers

    def _running(self) -> _Running:
        if self._process is None or self._process.ended():
            self.close()
            self._process = _Running(self._git.start("cat-file", "--batch"))
            self._finalizer = weakref.finalize(self, self._process.stop)
        return self._process


class _Running:
    """The git process, and one thread that ends it where an answer does not come in time."""

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        assert process.stdin is not None and process.stdout is not None
        self._process = process
        self.stdin, self.stdout = process.stdin, process.stdout
        self.late = False
        self._requests = 0
        self._awaited = 0  # the number of the request whose answers are awaited; 0 for none
        self._stopped = threading.Event()
        threading.Thread(target=self._watch, daemon=True).start()

    def ended(self) -> bool:
        """Whether the process is gone."""
        return self._process.poll() is not None

    def stop(self) -> None:
        """End the process and close its pipes."""
        self._stopped.set()
        self._process.kill()
        for stream in (self.stdin, self.stdout):
            with contextlib.suppress(OSError):
                stream.close()
        self._process.wait()

    def expect_answer(self) -> None:
        """A request is about to be sent."""
        self._requests += 1
        self._awaited = self._requests

    def expect_nothing(self) -> None:
        """The answers are read, or are not wanted any more."""
        self._awaited = 0

    def _watch(self) -> None:
        # A look from time to time: a timer for each of many small requests would cost more than the requests.
        waited, looks = 0, 0
        while not self._stopped.wait(TIMEOUT_SECONDS / _LOOKS):
            awaited = self._awaited
            looks = looks + 1 if awaited and awaited == waited else 0
            waited = awaited
            if looks >= _LOOKS:
                self.late = True
                self._process.kill()
                return


def parse_commit(oid: str, data: bytes) -> Commit:
    """The headers of a commit object and the first line of its message."""
    head, _, message = data.partition(b"\n\n")
    lines = head.split(b"\n")
    trees = [line[5:].decode("ascii", "replace") for line in lines if line.startswith(b"tree ")]
    parents = [line[7:].decode("ascii", "replace") for line in lines if line.startswith(b"parent ")]
    if len(trees) != 1 or not all(map(is_oid, (*trees, *parents))):
        raise RevisionError(f"commit {oid} is damaged", help="see whether `git fsck` agrees")
    subject = message.partition(b"\n")[0].decode("utf-8", "replace")
    return Commit(oid=oid, tree=trees[0], parents=tuple(parents), subject=subject)


def parse_tree(data: bytes, oid_bytes: int) -> Folder:
    """The entries of a raw tree object: mode, space, name, NUL, binary id, again and again."""
    entries: dict[str, Entry] = {}
    refused: list[tuple[str, str]] = []
    end = 0
    for match in _TREE_ENTRY[oid_bytes].finditer(data):
        if match.start() != end:
            break
        end = match.end()
        mode, raw, oid = match.groups()
        if len(raw) > MAX_PATH_BYTES:  # not worth keeping whole
            raw = raw[:MAX_PATH_BYTES]
        name = raw.decode("utf-8", "surrogateescape")
        fault = fault_of_name(name) or ("has a slash in its name" if "/" in name else "")
        if fault or name in entries:
            refused.append((name.replace("/", "\\x2f"), fault or "stands twice in its folder"))
        else:
            entries[name] = Entry(_KINDS.get(mode, "special"), oid.hex())
    if end != len(data):
        raise RevisionError("a tree object is damaged", help="see whether `git fsck` agrees")
    return Folder(entries=entries, refused=tuple(refused))


def _read_answer(stream: IO[bytes], name: str, limit: int) -> tuple[str, str, bytes | Fault]:
    header = stream.readline()
    blob = f"{name} blob ".encode()
    if header.startswith(blob) and header.endswith(b"\n"):  # nearly always
        oid, kind, size = name, "blob", int(header[len(blob) :])
    else:
        oid, kind, size = _parse_header(header, name)
    if size > limit:
        if size > _DRAIN_BYTES:
            raise _TooLong(oid, kind, size)
        _skip(stream, size + 1)
        return oid, kind, oversize(size, limit)
    data = stream.read(size)
    if len(data) != size or stream.read(1) != b"\n":
        raise ObjectMissing(name)
    return oid, kind, data


def _parse_header(header: bytes, name: str) -> tuple[str, str, int]:
    words = header.split()
    if len(words) != 3 or not words[2].isdigit() or not header.endswith(b"\n"):
        # "NAME missing" or "NAME ambiguous"; or the end: git dies of a missing object in a partial clone.
        raise ObjectMissing(name, answered=header.endswith((b" missing\n", b" ambiguous\n")))
    oid = words[0].decode("ascii")
    if oid != name and is_oid(name):
        raise InternalFault(f"git answered {oid} to a request for {name}")
    return oid, words[1].decode("ascii"), int(words[2])


def _skip(stream: IO[bytes], count: int) -> None:
    while count > 0 and (chunk := stream.read(min(count, _CHUNK))):
        count -= len(chunk)


def _write(stream: IO[bytes], data: bytes) -> None:
    try:
        stream.write(data)
        stream.flush()
    except (OSError, ValueError):  # git ended; its silence is what the reader sees
        return
