"""What a gate said, kept by everything that it rests on: asking again compiles, searches and loads nothing.

The key is made of this version, the request, the date, both sides (every file under the configured folders of the head,
git's own id of the base's folder), their settings and what git says of them. A record is used only where every file
that the run asked for beside these has the digest that it had, or is still not there. A record of any other shape than
the one that was written counts as absent.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, fields, replace
from hashlib import sha256
from typing import TYPE_CHECKING, Any

from ctxc.app.gates._codec import plain, read_fields
from ctxc.app.rows import finding_from, finding_store
from ctxc.app.store import identity
from ctxc.base.canonical import canonical
from ctxc.model.finding import Finding, Suppression
from ctxc.model.release import Release
from ctxc.model.report import GateResult, Report, RuleText

if TYPE_CHECKING:
    from ctxc.app.diff_sides import Side
    from ctxc.app.gates._request import GateRequest
    from ctxc.app.gates._side import GateSide
    from ctxc.app.gates._sides import GateSides
    from ctxc.model.project import Settings
    from ctxc.tokens import CountStore

_FORMAT = 1
_SPACE = "app.gate"
_KEPT_BYTES = 8 << 20
_RELEASE = tuple(f.name for f in fields(Release) if f.name != "report")


class _LazyRules(Mapping[str, RuleText]):
    """Texts of rules, for the formats that print them; what reads them is imported when one does."""

    def __getitem__(self, code: str) -> RuleText:
        return self._texts()[code]

    def __iter__(self) -> Iterator[str]:
        return iter(self._texts())

    def __len__(self) -> int:
        return len(self._texts())

    @staticmethod
    def _texts() -> Mapping[str, RuleText]:
        from ctxc.app.lint import RuleTexts

        return RuleTexts()


class GateStore:
    """Records of one request over two sides."""

    def __init__(
        self, blobs: CountStore, sides: GateSides, request: GateRequest, *, in_ci: bool, config: str, now: str
    ) -> None:
        self._blobs = blobs
        base = sides.base
        value = [
            _FORMAT,
            identity(),
            _asked(request),
            [in_ci, config, now, sides.why, sides.same, sides.changed_at],
            _side(sides.head),
            [base.root_id, _side(base)] if base is not None else None,
        ]
        self._scope = canonical(value).encode("utf-8", "surrogatepass")

    @staticmethod
    def takes(sides: GateSides) -> bool:
        """Whether the base is something that git has a name for; a bundle is read every time."""
        return sides.base is None or bool(sides.base.root_id)

    def get(self, head: GateSide) -> tuple[Release, tuple[str, ...]] | None:
        """The release and the notes of a run over the same, or None."""
        key = self._key(head)
        data = self._blobs.get_blobs(_SPACE, [key]).get(key)
        if data is None:
            return None
        try:
            value = json.loads(data)
            if any(head.scan.digest(str(path)) != digest for path, digest in value["outside"]):
                return None
            return _release(value), tuple(map(str, value["notes"]))
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
            return None

    def put(self, head: GateSide, release: Release, notes: Iterable[str]) -> None:
        """Keep a run. Of the files that it asked for, those under the folders are in the key, or all of a commit."""
        others = [] if head.root_id else sorted(head.tree.asked - head.scan.digests.keys())
        report = release.report
        value = {
            "outside": [[path, head.scan.digest(path)] for path in others],
            "notes": list(notes),
            "release": {name: plain(getattr(release, name)) for name in _RELEASE},
            "findings": [_store(f) for f in report.findings],
            "suppressed": [_store(f) for f in report.suppressed],
            "gates": [asdict(g) for g in report.gates],
            "sides": [_plain(report.base), _plain(report.head), _plain(report.policy), dict(report.checked)],
            "now": report.now,
            "fail_on": report.fail_on,
        }
        data = canonical(value).encode("utf-8", "surrogatepass")
        if len(data) <= _KEPT_BYTES:
            self._blobs.put_blobs(_SPACE, {self._key(head): data})

    def _key(self, head: GateSide) -> bytes:
        return sha256(self._scope + (head.root_id or head.scan.everything).encode("ascii")).digest()


def _asked(request: GateRequest) -> list[Any]:
    given = {f.name: getattr(request, f.name) for f in fields(request) if f.name != "payloads"}
    return [given, [asdict(p) for p in request.payloads]]


def _side(side: Side) -> list[Any]:
    settings: Settings | None = side.settings
    known = {f.name: getattr(settings, f.name) for f in fields(settings)} if settings is not None else {}
    revision = side.revision
    return [known, revision.rev, revision.kind, revision.commit, revision.label, revision.how]


def _plain(value: Mapping[str, Any] | None) -> dict[str, Any] | None:
    return dict(value) if value is not None else None


def _store(finding: Finding) -> dict[str, Any]:
    value = finding_store(finding)
    if finding.suppressed is not None:
        value["suppressed"] = [finding.suppressed.kind, finding.suppressed.reason, finding.suppressed.until]
    return value


def _finding(value: Any) -> Finding:
    found = finding_from(value)
    if "suppressed" not in value:
        return found
    kind, reason, until = map(str, value["suppressed"])
    return replace(found, suppressed=Suppression(kind=kind, reason=reason, until=until))


def _release(value: Any) -> Release:
    from ctxc import __version__

    base, head, policy, checked = value["sides"]
    report = Report(
        command="gate",
        version=__version__,
        now=str(value["now"]),
        findings=tuple(_finding(f) for f in value["findings"]),
        suppressed=tuple(_finding(f) for f in value["suppressed"]),
        gates=tuple(_gate(g) for g in value["gates"]),
        base=_texts(base) if base is not None else None,
        head=_texts(head),
        policy=_texts(policy),
        checked={str(k): int(v) for k, v in checked.items()},
        rules=_LazyRules(),
        fail_on=str(value["fail_on"]),
    )
    return Release(report=report, **read_fields(Release, value["release"], _RELEASE))


def _gate(value: Any) -> GateResult:
    texts = {name: str(value[name]) for name in ("id", "status", "message")}
    return GateResult(**texts, checked=int(value["checked"]))


def _texts(value: Any) -> dict[str, str]:
    return {str(k): str(v) for k, v in value.items()}
