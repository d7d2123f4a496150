"""The files behind a project: their text and, when somebody asks, the exact place of a loaded value."""

from __future__ import annotations

from collections.abc import Mapping

from ctxc.base.canonical import digest_bytes
from ctxc.base.errors import UnreadableSource
from ctxc.base.spans import Location, Origin, Span
from ctxc.parse import cache, document, frontmatter
from ctxc.parse.text import decode, normalised
from ctxc.source.tree import MAX_INPUT_BYTES, MAX_READ_BYTES, Tree

BUILTIN = "ctxc:"
"""Before the path of a file that ships with the package."""


class TreeSources:
    """``ctxc.model.project.Sources`` over a tree, and the shipped files."""

    def __init__(
        self, tree: Tree, *, builtin: Mapping[str, str] | None = None, store: cache.Store | None = None
    ) -> None:
        self.tree = tree
        self._builtin = dict(builtin or {})
        self._store = store
        self._data: dict[str, bytes] = {}
        self._texts: dict[str, str] = {}
        self._bodies: dict[str, str] = {}
        self._digests: dict[str, str] = {}
        self._places: dict[str, dict[str, tuple[Span, Span | None]]] = {}

    def keep(self, path: str, data: bytes) -> None:
        """Remember bytes that were read, so that what was hashed is what is used later."""
        self._data[path] = data

    def keep_text(self, path: str, text: str) -> None:
        """Remember a text that was decoded."""
        self._texts[path] = text

    def read_bytes(self, path: str) -> bytes:
        """Bytes of a file; raises UnreadableSource."""
        found = self._data.get(path)
        if found is None:
            if path.startswith(BUILTIN):
                found = self._builtin[path].encode("utf-8")
            else:
                found = self.tree.read(path, limit=MAX_INPUT_BYTES)
            self._data[path] = found
        return found

    def read_large(self, path: str) -> bytes:
        """Bytes of a file that may be larger than any text, such as a vocabulary; raises UnreadableSource."""
        return self.tree.read(path, limit=MAX_READ_BYTES)

    def read_text(self, path: str) -> str:
        """Text of a file with LF line ends and without byte order mark; raises UnreadableSource."""
        found = self._texts.get(path)
        if found is None:
            decoded = decode(self.read_bytes(path))
            if decoded.text is None:
                problem = decoded.problems[-1]
                raise UnreadableSource(
                    f"'{path}': {problem.message}", help=problem.help, location=Location(path, problem.span)
                )
            found = self._texts[path] = decoded.text
        return found

    def body(self, path: str) -> str:
        """Text of a Markdown file without its front matter; of any other file, its text. Raises UnreadableSource."""
        found = self._bodies.get(path)
        if found is None:
            text = self.read_text(path)
            if document.syntax_of(path) == "markdown":
                split = frontmatter.split(text)
                if split.problem is not None:
                    raise UnreadableSource(
                        f"'{path}': {split.problem.message}",
                        help=split.problem.help,
                        location=Location(path, split.problem.span),
                    )
                text = split.body
            found = self._bodies[path] = text
        return found

    def digest(self, path: str) -> str:
        """Content hash of a file as it is read: without byte order mark, line ends as LF. Raises UnreadableSource."""
        found = self._digests.get(path)
        if found is None:
            found = self._digests[path] = digest_bytes(normalised(self.read_bytes(path)))
        return found

    def locate(self, origin: Origin, *, key: bool = False) -> Location:
        """The span of the value at a JSON pointer (of its key with ``key``), or of the nearest value around it.

        Of a turn of a conversation, what it shares with the others is found where it is shared.
        """
        places = self.places(origin.path)
        pointer = origin.pointer
        if pointer not in places and pointer.startswith("/turns/"):
            shared = "/" + "/".join(pointer.split("/")[3:])
            pointer = shared if shared in places and shared != "/" else pointer
        return Location(origin.path, document.find(places, pointer, key=key), origin.pointer)

    def places(self, path: str) -> dict[str, tuple[Span, Span | None]]:
        """The spans of all values of a file by pointer; empty where it cannot be read or parsed."""
        found = self._places.get(path)
        if found is None:
            found = self._places[path] = self._find_places(path)
        return found

    def _find_places(self, path: str) -> dict[str, tuple[Span, Span | None]]:
        syntax = document.syntax_of(path)
        if (syntax == "text" and not path.endswith(".toml")) or not path:
            return {}
        try:
            data = self.read_bytes(path)
        except (UnreadableSource, KeyError):
            return {}
        if self._store is None:
            return document.places(path, data)
        space, key = cache.namespace("places"), cache.key_of(syntax, data)
        blob = self._store.get_blobs(space, [key]).get(key)
        known = cache.decode_places(blob) if blob is not None else None
        if known is None:
            known = document.places(path, data)
            self._store.put_blobs(space, {key: cache.encode_places(known)})
        return known
