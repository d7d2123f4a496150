"""What lint found, kept by content: a warm run loads no project and imports no rule.

The key is made of this version, the options, the settings, and the digest of every file under the configured folders.
A record is used only where every file that a run asked for beside these has the digest that it had, or is still not
there. A record of any other shape than the one that was written counts as absent.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import fields
from hashlib import sha256
from typing import TYPE_CHECKING, Any

from ctxc.app.rows import finding_from, finding_store
from ctxc.app.suppress import Entry
from ctxc.base.canonical import canonical
from ctxc.base.spans import Location, Span
from ctxc.base.values import dataclass
from ctxc.model.finding import Edit, Finding, Fix

if TYPE_CHECKING:
    from ctxc.app.scan import Scan
    from ctxc.tokens import CountStore

_FORMAT = 1
_SPACE = "app.lint"


@dataclass(frozen=True, slots=True, kw_only=True)
class Record:
    """Findings before any suppression, the suppressions there are, the codes that were looked for, files and rules."""

    findings: tuple[Finding, ...]
    entries: tuple[Entry, ...]
    ran: frozenset[str]
    paths: tuple[str, ...]


class LintStore:
    """Records of one set of options and settings in the user's cache."""

    def __init__(self, blobs: CountStore, scope: Any) -> None:
        from ctxc.app.identity import identity

        self._blobs = blobs
        self._scope = canonical([_FORMAT, identity(), scope]).encode("utf-8", "surrogatepass")

    def get(self, scan: Scan) -> Record | None:
        """The record of files that are as they were, or None."""
        key = self._key(scan)
        data = self._blobs.get_blobs(_SPACE, [key]).get(key)
        if data is None:
            return None
        try:
            value = json.loads(data)
            if any(scan.digest(str(path)) != digest for path, digest in value["outside"]):
                return None
            return Record(
                findings=tuple(_finding(f) for f in value["findings"]),
                entries=tuple(_entry(e) for e in value["entries"]),
                ran=frozenset(map(str, value["ran"])),
                paths=tuple(map(str, value["paths"])),
            )
        except (ValueError, KeyError, TypeError):
            return None

    def put(self, scan: Scan, record: Record, outside: Iterable[str]) -> None:
        """Keep a record. ``outside`` are the paths that were asked for; those under the folders are in the key."""
        others = sorted(set(outside) - scan.digests.keys())
        value = {
            "outside": [[path, scan.digest(path)] for path in others],
            "findings": [_store(f) for f in record.findings],
            "entries": [_entry_store(e) for e in record.entries],
            "ran": sorted(record.ran),
            "paths": list(record.paths),
        }
        self._blobs.put_blobs(_SPACE, {self._key(scan): canonical(value).encode("utf-8", "surrogatepass")})

    def _key(self, scan: Scan) -> bytes:
        return sha256(self._scope + scan.everything.encode("ascii")).digest()


def _store(finding: Finding) -> dict[str, Any]:
    value = finding_store(finding)
    if finding.fix is not None:
        edits = [[_place(e.location), e.text] for e in finding.fix.edits]
        value["fix"] = [finding.fix.title, finding.fix.safe, edits]
    return value


def _finding(value: Any) -> Finding:
    finding = finding_from(value)
    if "fix" not in value:
        return finding
    from dataclasses import replace

    title, safe, edits = value["fix"]
    made = tuple(Edit(location=_location(at), text=str(text)) for at, text in edits)
    return replace(finding, fix=Fix(title=str(title), safe=safe is True, edits=made))


def _place(location: Location) -> list[Any]:
    return [location.path, list(location.span) if location.span else None, location.pointer]


def _location(value: Any) -> Location:
    path, span, pointer = value
    return Location(str(path), Span(*(int(n) for n in span)) if span else None, str(pointer))


def _entry_store(entry: Entry) -> dict[str, Any]:
    value = {f.name: getattr(entry, f.name) for f in fields(entry)}
    return {**value, "words": list(entry.words), "location": _place(entry.location)}


def _entry(value: Any) -> Entry:
    texts = {k: str(value[k]) for k in ("kind", "path", "pointer", "until", "reason", "fault")}
    return Entry(
        **texts,
        words=tuple(map(str, value["words"])),
        location=_location(value["location"]),
        line=int(value["line"]),
        whole=value["whole"] is True,
        blanks=int(value["blanks"]),
    )
