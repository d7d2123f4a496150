"""What stands in a project, by digest: the ground on which a stored package may be returned instead of compiled again.

Never by modification time: a checkout resets it, and an edit may keep it. Every file of the configured folders is read
and hashed; the tree keeps the bytes, so that what was hashed is what is parsed.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from hashlib import sha256
from typing import TYPE_CHECKING

from ctxc.base.canonical import digest_json

if TYPE_CHECKING:
    from ctxc.model.project import Settings
    from ctxc.source.tree import Tree

_MAX_INPUT_BYTES = 16 << 20  # as ctxc.source.tree.MAX_INPUT_BYTES: what a fixture may read
_MAX_READ_BYTES = 64 << 20  # as ctxc.source.tree.MAX_READ_BYTES: a vocabulary
_FRONT_MATTER = re.compile(rb"(?:\xef\xbb\xbf)?---[ \t]*\r?\n(?:.*?\r?\n)??(?:---|\.\.\.)[ \t]*(?:\r?\n|\Z)", re.DOTALL)
_ABSENT, _UNREADABLE = "absent", "unreadable:"
SHORT = 16  # hex digits


class Scan:
    """Digests of the files under the configured folders, and of what else a package was made from.

    ``structure`` identifies everything that decides *which* files a fixture is compiled from: every file outside the
    fixtures' folders, of a Markdown file only its front matter, because its body reaches no other fixture than those
    that load it, and these have it among their dependencies. ``everything`` identifies all of them with their content.
    """

    def __init__(self, tree: Tree, settings: Settings) -> None:
        self._tree = tree
        own = tuple(f.strip("/") for f in settings.fixtures)
        folders = dict.fromkeys((*settings.templates, *settings.fragments, *settings.policies, *settings.fixtures))
        self.digests: dict[str, str] = {}
        self._outside: dict[str, str] = {}
        self.fixture_files: set[str] = set()
        outline: list[list[str]] = []
        for path, data in tree.read_each(tree.list_paths(folders), limit=_MAX_INPUT_BYTES):
            if isinstance(data, bytes):
                digest = sha256(data).hexdigest()
                mark = _outline(path, data, digest)
            else:
                digest = mark = f"{_UNREADABLE}{data.message}"
            self.digests[path] = digest
            if any(path.startswith(f"{folder}/") for folder in own):
                self.fixture_files.add(path)
                continue
            outline.append([path, mark])
        outline.append(["", digest_json([[o.path, o.kind, o.reason] for o in tree.oddities(folders)])])
        self.structure = digest_json(outline)
        self.everything = digest_json([self.structure, self.digests])

    def shortened(self) -> dict[str, str]:
        """The beginning of each file's digest: enough to say which ones changed."""
        return {path: digest[:SHORT] for path, digest in self.digests.items()}

    def changes(self, before: Mapping[str, str]) -> dict[str, str]:
        """Path to ``changed``, ``added`` or ``removed``, against what ``shortened`` gave before; sorted."""
        now = self.shortened()
        found = dict.fromkeys(before.keys() - now.keys(), "removed")
        for path, digest in now.items():
            if before.get(path) != digest:
                found[path] = "changed" if path in before else "added"
        return dict(sorted(found.items()))

    def digest(self, path: str) -> str:
        """Digest of a file, also of one outside the folders; ``absent`` where it cannot be read."""
        known = self._outside.get(path) or self.digests.get(path)
        if known is None or known.startswith(_UNREADABLE):
            # What is too large for an input may still be a vocabulary.
            known = self._outside[path] = self._read(path)
        return known

    def digests_of(self, paths: Iterable[str]) -> list[list[str]]:
        """Paths with their digests, sorted."""
        return [[path, self.digest(path)] for path in sorted(paths)]

    def _read(self, path: str) -> str:
        from ctxc.base.errors import CtxcError

        try:
            return sha256(self._tree.read(path, limit=_MAX_READ_BYTES)).hexdigest()
        except CtxcError:
            return _ABSENT


def _outline(path: str, data: bytes, digest: str) -> str:
    """What of a file may change which files others are compiled from."""
    if not path.endswith((".md", ".txt")):
        return digest
    head = data[:4]
    if not head.startswith((b"---", b"\xef\xbb\xbf")):
        return "text"
    match = _FRONT_MATTER.match(data)
    return sha256(match.group()).hexdigest() if match else digest
