"""Files in which a search found nothing, kept by the digest of their content from run to run.

What finds something is searched again each time: findings have places, and there are few.
"""

from __future__ import annotations

from collections.abc import Mapping
from hashlib import sha256
from typing import TYPE_CHECKING

from ctxc.app.store import identity
from ctxc.base.canonical import canonical

if TYPE_CHECKING:
    from ctxc.tokens import CountStore

_SPACE = "app.clean"
_SHORT = 12  # bytes of a digest: of a hundred thousand files two have the same with a chance of 1 in 10^19
_MOST = 200_000


class CleanFiles:
    """See ``ctxc.rules.engine.Clean``. ``digests`` are those of the files (64 hex digits); other paths are never known.

    ``write`` keeps what this run learned: only what the files of this run are, so that it never grows.
    """

    def __init__(self, store: CountStore, digests: Mapping[str, str]) -> None:
        self._store = store
        self._digests = {path: bytes.fromhex(d)[:_SHORT] for path, d in digests.items() if len(d) == 64}
        self._known: dict[str, frozenset[bytes]] = {}
        self._now: dict[str, set[bytes]] = {}

    def has(self, about: str, path: str) -> bool:
        """Whether the file as it is now is known to hold nothing."""
        digest = self._digests.get(path)
        if digest is None or digest not in self._of(about):
            return False
        self._now.setdefault(about, set()).add(digest)
        return True

    def note(self, about: str, path: str) -> None:
        """Remember that it holds nothing."""
        digest = self._digests.get(path)
        if digest is not None:
            self._now.setdefault(about, set()).add(digest)

    def write(self) -> None:
        """Keep what was learned, where it is more or other than what was known."""
        blobs = {}
        for about, found in self._now.items():
            if found != self._of(about) and len(found) <= _MOST:
                blobs[self._key(about)] = b"".join(sorted(found))
        self._store.put_blobs(_SPACE, blobs)

    def _of(self, about: str) -> frozenset[bytes]:
        if about not in self._known:
            key = self._key(about)
            data = self._store.get_blobs(_SPACE, [key]).get(key, b"")
            self._known[about] = frozenset(data[n : n + _SHORT] for n in range(0, len(data), _SHORT))
        return self._known[about]

    @staticmethod
    def _key(about: str) -> bytes:
        return sha256(canonical([identity(), about]).encode("utf-8", "surrogatepass")).digest()
