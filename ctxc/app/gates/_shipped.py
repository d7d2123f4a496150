"""What ships together: versioned objects, providers, tokenizers and prefixes, and the one name for all of it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from ctxc.base.canonical import digest_json
from ctxc.compare.versions import KINDS, objects
from ctxc.model.measured import Measured
from ctxc.model.release import PrefixLine, Shipped

if TYPE_CHECKING:
    from ctxc.app.gates._side import GateSide
    from ctxc.model.project import Project

_ORDER = (*KINDS, "provider", "tokenizer")
_SHORT = 16  # hex digits


def shipped(side: GateSide) -> tuple[Shipped, ...]:
    """Every versioned object of a project, and the provider profiles and tokenizers that its requests are made with."""
    project = side.project
    found = [
        Shipped(
            kind=kind,
            id=name,
            version=one.version,
            digest=_digest(kind, one, project),
            path=one.origin.path,
        )
        for (kind, name), versions in objects(project).items()
        for one in versions
    ]
    measured = side.measured.values()
    for name in sorted({m.provider for m in measured if m.provider}):
        profile = project.providers.get(name)
        if profile is not None:
            path = profile.origin.path
            found.append(
                Shipped(
                    kind="provider",
                    id=name,
                    version=profile.version,
                    digest=profile.content_hash,
                    path="" if path.startswith("ctxc:") else path,
                )
            )
    found += [
        Shipped(kind="tokenizer", id=name, version=method, digest=digest, path="")
        for name, method, digest in sorted({(m.tokenizer, m.method, m.vocabulary) for m in measured if m.tokenizer})
    ]
    return tuple(sorted(found, key=lambda s: (_ORDER.index(s.kind), s.id, s.version)))


def _digest(kind: str, one: Any, project: Project) -> str:
    known = getattr(one, "content_hash", "")
    if known and kind != "policy":
        return str(known)
    if kind == "fragment":
        from ctxc.base.errors import CtxcError

        try:
            body = project.sources.body(one.text_path)
        except CtxcError:
            body = ""
        shape = [one.id, one.version, str(one.kind), str(one.load_mode), one.priority, one.max_tokens]
        return digest_json([*shape, {k: list(v) for k, v in one.applies_when.items()}, list(one.requires), body])
    return digest_json([one.id, one.version, _plain(one.where), _plain(one.gates), _plain(one.rules)])


def _plain(value: Any) -> Any:
    """Parameters of a policy as text where they are numbers: digests hold no floats."""
    if isinstance(value, Mapping):
        return {str(k): _plain(v) for k, v in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(v) for v in value]
    return value if isinstance(value, (str, bool)) or value is None else str(value)


def prefixes(measured: Iterable[Measured]) -> tuple[PrefixLine, ...]:
    """The static prefixes of requests, by what has to be common to share one."""
    groups: dict[tuple[str, str, str, str], list[Measured]] = {}
    for one in measured:
        if one.has_request:
            groups.setdefault((one.template, one.profile, one.provider, one.model), []).append(one)
    found = []
    for (template, profile, provider, model), members in sorted(groups.items()):
        stretches = {tuple((s.id, s.digest) for s in m.stretches) for m in members}
        found.append(
            PrefixLine(
                template=template,
                profile=profile,
                provider=provider,
                model=model,
                tokens=min(m.prefix for m in members),
                digest=digest_json([list(s) for s in stretches.pop()]) if len(stretches) == 1 else "",
                fixtures=len(members),
            )
        )
    return tuple(found)


def bundle_id(side: GateSide, ships: Iterable[Shipped]) -> str:
    """``bnd_`` and 16 hex digits that name everything that ships: no commit, no fixture, no version of ctxc."""
    things = [[s.kind, s.id, s.version, s.digest] for s in ships]
    files = sorted(side.shipped_files().items())
    return "bnd_" + digest_json({"objects": things, "files": files}).removeprefix("sha256:")[:_SHORT]


def compared(head: Iterable[Shipped], base: Iterable[Shipped]) -> tuple[Shipped, ...]:
    """The head's objects with their status against the base, and what only the base has."""
    before: dict[tuple[str, str], dict[str, Shipped]] = {}
    for one in base:
        before.setdefault((one.kind, one.id), {})[one.version] = one
    found = []
    there: set[tuple[str, str]] = set()
    for one in head:
        key = (one.kind, one.id)
        there.add(key)
        versions = before.get(key, {})
        same = versions.get(one.version)
        status = "added" if not versions else "same" if same and same.digest == one.digest else "changed"
        earlier = same or next(reversed(versions.values()), None)
        found.append(replace(one, status=status, base_version=earlier.version if earlier else ""))
    gone = [replace(o, status="removed", base_version=o.version) for k in before for o in before[k].values()
            if k not in there]  # fmt: skip
    return tuple(sorted([*found, *gone], key=lambda s: (_ORDER.index(s.kind), s.id, s.version)))


def compared_prefixes(head: Iterable[PrefixLine], base: Iterable[PrefixLine]) -> tuple[PrefixLine, ...]:
    """The head's prefixes with their status against the base."""
    before = {(p.template, p.profile, p.provider, p.model): p for p in base}
    found = []
    for one in head:
        earlier = before.get((one.template, one.profile, one.provider, one.model))
        status = "added" if earlier is None else "same" if earlier.digest == one.digest else "changed"
        found.append(replace(one, status=status))
    return tuple(found)
