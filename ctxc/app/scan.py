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
from ctxc.model.finding import Severity

if TYPE_CHECKING:
    from ctxc.model.project import Project, Settings
    from ctxc.source.tree import Tree

_MAX_INPUT_BYTES = 16 << 20  # as ctxc.source.tree.MAX_INPUT_BYTES: what a fixture may read
_MAX_READ_BYTES = 64 << 20  # as ctxc.source.tree.MAX_READ_BYTES: a vocabulary
# As ctxc.parse.kinds.KEYS, without what only a fixture's file says. Begins with what all of them end in: that is found
# eight times as fast as seven words one after the other.
_DEFINING = re.compile(
    b"_id(?:"
    + b"|".join(
        b"(?<=%s_id)" % kind
        for kind in (b"template", b"fragment", b"profile", b"contract", b"toolset", b"policy", b"provider")
    )
    + b")"
)
_LISTING = b"fragments"
_ESCAPED = re.compile(
    rb"\\(?:x|u00|U000000)(?:5[fF]|[67][0-9a-fA-F])|\\\r?\n"
)  # a letter or "_", or a line that goes on
_AT_MARGIN = re.compile(rb"(?:[ \t]*(?:#[^\n]*)?\n|---[ \t]*\n)*[A-Za-z_]")
_LISTS = re.compile(rb"\n(?:[\"']?fragments[\"']?[ \t]*:|[?!&*])")  # begins with a byte, unlike ^: ten times as fast
_MARKDOWN = frozenset(("md", "markdown"))
_DEFINITIONS = frozenset(("yaml", "yml", "json"))
_FRONT_MATTER = re.compile(rb"(?:\xef\xbb\xbf)?---[ \t]*\r?\n(?:.*?\r?\n)??(?:---|\.\.\.)[ \t]*(?:\r?\n|\Z)", re.DOTALL)
_UNREADABLE = "unreadable:"
ABSENT = "absent"
"""What stands for the digest of a file that cannot be read."""

SHORT = 16  # hex digits


class Scan:
    """Digests of the files under the configured folders, and of what else a package was made from.

    ``structure`` identifies everything that decides *which* files a fixture is compiled from: every file outside the
    fixtures' folders and every one in them that may define something else than fixtures; of a Markdown file only its
    front matter, because its body reaches no other fixture than those that load it, and these have it among their
    dependencies. ``everything`` identifies all of them with their content. ``fixture_files`` lie in the fixtures'
    folders, ``own_files`` are those of them that are not part of the structure.
    """

    def __init__(self, tree: Tree, settings: Settings) -> None:
        self._tree = tree
        own = tuple(f.strip("/") for f in settings.fixtures)
        folders = dict.fromkeys((*settings.templates, *settings.fragments, *settings.policies, *settings.fixtures))
        self.digests: dict[str, str] = {}
        self._outside: dict[str, str] = {}
        self.fixture_files: set[str] = set()
        self.own_files: set[str] = set()
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
                if isinstance(data, bytes) and not _may_define(path, data):
                    self.own_files.add(path)
                    continue
            outline.append([path, mark])
        oddities = tree.oddities(folders)
        self.odd = len(oddities)  # entries that are no files that can be used
        outline.append(["", digest_json([[o.path, o.kind, o.reason] for o in oddities])])
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

    def is_sound(self, project: Project) -> bool:
        """Whether loading found no error but in the fixtures' own files, and in policies, which nothing is compiled
        from. Any other may keep fixtures from being compiled that do not read the file it is in."""
        return all(
            f.severity is not Severity.ERROR
            or is_policy(project, f.location.path)
            or (f.location.path in self.own_files and _suffix(f.location.path) not in _MARKDOWN)
            for f in project.findings
        )

    def digests_of(self, paths: Iterable[str]) -> list[list[str]]:
        """Paths with their digests, sorted."""
        return [[path, self.digest(path)] for path in sorted(paths)]

    def _read(self, path: str) -> str:
        from ctxc.base.errors import CtxcError

        try:
            return sha256(self._tree.read(path, limit=_MAX_READ_BYTES)).hexdigest()
        except CtxcError:
            return ABSENT


def is_policy(project: Project, path: str) -> bool:
    """Whether a broken file would define a policy and nothing else."""
    return project.broken_kinds.get(path) == "policy"


def _may_define(path: str, data: bytes) -> bool:
    """Whether a file in a fixtures' folder may define something that other fixtures are compiled from.

    Without parsing it: a file that holds none of the keys, in whichever way they could be written, defines nothing.
    """
    if _suffix(path) in _MARKDOWN:
        return data.startswith((b"---", b"\xef\xbb\xbf"))
    if _suffix(path) not in _DEFINITIONS:
        return False
    if _DEFINING.search(data):
        return True
    if b"\\" in data and _ESCAPED.search(data):
        return True
    # A fixture names the fragments that it asks for with the word that makes a file a manifest where it is a key of
    # the whole file: in a mapping that begins at the margin, a key of the whole begins there too.
    if _LISTING not in data:
        return False
    lines = data.removeprefix(b"\xef\xbb\xbf").replace(b"\r", b"\n")
    return not _AT_MARGIN.match(lines) or _LISTS.search(b"\n" + lines) is not None


def _suffix(path: str) -> str:
    return path.rpartition(".")[2].lower()


def _outline(path: str, data: bytes, digest: str) -> str:
    """What of a file may change which files others are compiled from."""
    if not path.endswith((".md", ".txt")):
        return digest
    head = data[:4]
    if not head.startswith((b"---", b"\xef\xbb\xbf")):
        return "text"
    match = _FRONT_MATTER.match(data)
    return sha256(match.group()).hexdigest() if match else digest
