"""One result of lint, compile or gate. Nobody should have to parse prose: the numbers are in ``data``."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from enum import IntEnum
from typing import Any

from ctxc.base.canonical import canonical, digest_bytes
from ctxc.base.spans import Location
from ctxc.base.values import dataclass


class Severity(IntEnum):
    """Higher is worse; ``--fail-on`` compares."""

    INFO = 1
    WARNING = 2
    ERROR = 3

    @property
    def label(self) -> str:
        """Lower-case name, as every output format prints it."""
        return self.name.lower()


@dataclass(frozen=True, slots=True, kw_only=True)
class Edit:
    """Replace the text of a span (an empty span inserts) by ``text``."""

    location: Location
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Fix:
    """A mend that can be applied; ``safe`` means that it cannot change what a model sees."""

    title: str
    edits: tuple[Edit, ...]
    safe: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Related:
    """Another place that explains a finding."""

    location: Location
    message: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Suppression:
    """Why a finding does not count: kind is inline, file, config, waiver or baseline."""

    kind: str
    reason: str = ""
    until: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """A finding: where, which rule, how bad, what is wrong, how to mend it."""

    code: str  # CTX201
    name: str  # token-ceiling
    severity: Severity
    message: str
    location: Location
    help: str = ""
    fixture: str = ""
    revision: str = ""
    related: tuple[Related, ...] = ()
    fix: Fix | None = None
    suppressed: Suppression | None = None
    data: Mapping[str, Any] = field(default_factory=dict)

    @property
    def fingerprint(self) -> str:
        """Stable under moved lines: code, path, pointer, fixture, message."""
        key = [self.code, self.location.path, self.location.pointer, self.fixture, self.message]
        # What a finding quotes may hold a lone surrogate.
        return digest_bytes(canonical(key).encode("utf-8", "surrogatepass"))[7:23]

    @property
    def sort_key(self) -> tuple[Any, ...]:
        """Path, line, column, code: the order of every report."""
        span = self.location.span
        place = (span.line, span.column) if span else (0, 0)
        return (self.location.path, *place, self.code, self.fixture, self.location.pointer, self.message)
