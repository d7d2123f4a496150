"""Versions: what changed without a bump, and the bump that a change needs.

What changed is judged on what is compiled: a comment, another order of keys, line ends or a blank line at a file's end
change nothing. A template answers for the texts that its sections name by path, which have no version of their own; a
fragment, a contract and a tool set answer for themselves. ``N`` and ``vN``: any bump is major; three numbers: semantic
versioning.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import fields, replace
from typing import Any, TypeVar, cast

from ctxc.base.canonical import canonical
from ctxc.base.errors import CtxcError
from ctxc.base.spans import Origin
from ctxc.base.values import dataclass
from ctxc.compare.bumps import bump_of, suffices
from ctxc.compare.contracts import contract_change
from ctxc.compare.schemas import is_text_only
from ctxc.compare.tools import told, tools_change
from ctxc.compare.words import is_space_apart
from ctxc.model.change import VersionChange
from ctxc.model.contract import Contract, Policy, RequestProfile, ToolSet
from ctxc.model.fragment import Fragment
from ctxc.model.lookup import Defined
from ctxc.model.project import Project
from ctxc.model.section import Tool
from ctxc.model.template import SectionSpec, Template

KINDS = ("template", "fragment", "contract", "toolset", "profile", "policy")
"""Kinds of objects that have versions, in the order in which they are told."""

_WORDS = ("fragments", "runtime", "retrieval", "literal", "toolset", "contract")  # sources that are no paths


V = TypeVar("V", bound=Defined)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Verdict:
    """How much a content differs: the least bump, whether somebody breaks, and the reason."""

    needed: str
    reason: str
    breaking: bool = False


_SAME = _Verdict(needed="none", reason="")


def objects(project: Project) -> dict[tuple[str, str], tuple[Defined, ...]]:
    """Every versioned object of a project by kind and id. Tools that a section names by path have no version."""
    found: dict[tuple[str, str], tuple[Defined, ...]] = {}
    indexes: tuple[tuple[str, Mapping[str, Sequence[Defined]]], ...] = (
        ("template", project.templates),
        ("fragment", project.fragments),
        ("contract", project.contracts),
        ("toolset", project.toolsets),
        ("profile", project.profiles),
        ("policy", project.policies),
    )
    for kind, index in indexes:
        for name, versions in index.items():
            if kind != "toolset" or any(v.origin.path != name for v in versions):
                found[kind, name] = tuple(versions)
    return found


def version_changes(
    base: Project,
    head: Project,
    *,
    wanted: Callable[[str, str], bool] = lambda kind, name: True,
    moved_prefixes: Mapping[str, Sequence[str]] | None = None,
) -> tuple[VersionChange, ...]:
    """What is new, gone, or has another content or version, by kind and id.

    ``wanted`` leaves out objects that nothing can have changed. ``moved_prefixes`` names, for each request profile,
    the fixtures whose cached prefix is not what it was: a profile is byte-stable for each of its versions.
    """
    old, new = objects(base), objects(head)
    found: list[VersionChange] = []
    for kind, name in sorted({*old, *new}, key=lambda k: (KINDS.index(k[0]), k[1])):
        sides = ((base, old), (head, new))
        if wanted(kind, name) and not any(_is_lost(kind, name, side, there) for side, there in sides):
            found.extend(_one(kind, old.get((kind, name), ()), new.get((kind, name), ()), base, head))
    for name, fixtures in sorted((moved_prefixes or {}).items()):
        found = _with_prefix(found, name, fixtures, base, head)
    return tuple(found)


def _is_lost(kind: str, name: str, project: Project, there: Collection[tuple[str, str]]) -> bool:
    """Whether a broken file may define an object: then it is not known to be gone, nor what it says."""
    lost = project.lost.get(kind, frozenset())
    if name in lost:
        return True
    return "" in lost and (kind, name) not in there


def _one(
    kind: str, old: Sequence[Defined], new: Sequence[Defined], base: Project, head: Project
) -> Iterable[VersionChange]:
    before, after = {o.version: o for o in old}, {o.version: o for o in new}
    same = [v for v in before if v in after]
    for version in same:
        change = _pair(kind, before[version], after[version], base, head)
        if change is not None:
            yield change
    gone, come = [o for v, o in before.items() if v not in after], [o for v, o in after.items() if v not in before]
    while gone and come:
        change = _pair(kind, gone.pop(), come.pop(), base, head)
        if change is not None:
            yield change
    for there in gone:
        reason = "removed" if not new else "this version was removed; others are left"
        yield VersionChange(
            id=there.id, kind=kind, status="removed", base=there.version, content_changed=True, reason=reason,
            path=there.origin.path, line=_line(base, there.origin), base_path=there.origin.path,
        )  # fmt: skip
    for there in come:
        reason = "new" if not old else "another version beside those that were there"
        yield VersionChange(
            id=there.id, kind=kind, status="added", head=there.version, content_changed=True, reason=reason,
            path=there.origin.path, line=_line(head, there.origin),
        )  # fmt: skip


def _pair(kind: str, old: Defined, new: Defined, base: Project, head: Project) -> VersionChange | None:
    verdict = _compare(kind, old, new, base, head)
    bump = bump_of(old.version, new.version)
    is_moved = old.origin.path != new.origin.path
    changed = verdict is not _SAME and verdict.needed != "none"
    if not changed and old.version == new.version and not is_moved and not verdict.reason:
        return None
    reason = verdict.reason
    if not changed and old.version != new.version:
        reason = "nothing that is compiled changed"
    elif is_moved and not reason:
        reason = f"moved from {old.origin.path}"
    return VersionChange(
        id=new.id,
        kind=kind,
        status="changed" if changed or old.version != new.version else "moved" if is_moved else "unchanged",
        base=old.version,
        head=new.version,
        content_changed=changed,
        bump=bump,
        needed=verdict.needed,
        missing=changed and bool(new.version or old.version) and not suffices(bump, verdict.needed, new.version),
        breaking=verdict.breaking,
        reason=reason,
        path=new.origin.path,
        line=_line(head, new.origin),
        base_path=old.origin.path if is_moved else "",
    )


def _line(project: Project, origin: Origin) -> int | None:
    span = project.sources.locate(origin.child("version")).span
    return span.line if span is not None else None


# --- contents -----------------------------------------------------------------------------------------------------


def _compare(kind: str, old: Defined, new: Defined, base: Project, head: Project) -> _Verdict:
    match kind:
        case "template":
            return _templates(cast(Template, old), cast(Template, new), base, head)
        case "fragment":
            return _fragments(cast(Fragment, old), cast(Fragment, new), base, head)
        case "contract":
            return _contracts(cast(Contract, old), cast(Contract, new))
        case "toolset":
            return _toolsets(cast(ToolSet, old), cast(ToolSet, new))
        case "profile":
            return _profiles(cast(RequestProfile, old), cast(RequestProfile, new))
        case _:
            return _policies(cast(Policy, old), cast(Policy, new))


def _templates(old: Template, new: Template, base: Project, head: Project) -> _Verdict:
    breaks: list[str] = []
    notes: list[str] = []
    for name in ("provider", "model", "renderer", "output_contract", "request_profile", "route"):
        one, other = getattr(old, name), getattr(new, name)
        if one != other:
            breaks.append(f"{name} {_short(one)} → {_short(other)}")
    before, after = {s.id: s for s in old.sections}, {s.id: s for s in new.sections}
    breaks += [f"section {s} removed" for s in before if s not in after]
    for name, spec in after.items():
        if name not in before:
            demanded = bool(spec.required) and spec.source.startswith("runtime")
            (breaks if demanded else notes).append(f"section {name} added" + (", which callers must fill" * demanded))
    spaces = True
    for name in before.keys() & after.keys():
        one, other = _spec(before[name]), _spec(after[name])
        if one != other:
            notes.append(f"section {name}: {', '.join(sorted(k for k in one if one[k] != other.get(k)))}")
            spaces = False
    if [s for s in before if s in after] != [s for s in after if s in before]:
        notes.append("sections reordered")
        spaces = False
    for name in sorted(before.keys() & after.keys()):
        one_text, other_text = _text_of(before[name], base), _text_of(after[name], head)
        if one_text != other_text:
            only = is_space_apart(one_text, other_text)
            notes.append(f"text of {after[name].source}" + (" (white space)" if only else ""))
            spaces = spaces and only
    variables = [k for k in {**old.variables, **new.variables} if old.variables.get(k) != new.variables.get(k)]
    if variables:
        notes.append(f"variable{'s' if len(variables) > 1 else ''} {', '.join(variables)}")
        spaces = False
    for name in ("budget", "checkpoints", "focus", "deterministic"):
        if _plain(getattr(old, name)) != _plain(getattr(new, name)):
            notes.append(name)
            spaces = False
    if breaks:
        return _Verdict(needed="major", reason="; ".join(breaks + sorted(notes)), breaking=True)
    if notes:
        return _Verdict(needed="patch" if spaces else "minor", reason="; ".join(sorted(notes)))
    return _SAME


def _spec(spec: SectionSpec) -> dict[str, str]:
    return {f.name: _plain(getattr(spec, f.name)) for f in fields(spec) if f.name not in ("origin", "id")}


def _text_of(spec: SectionSpec, project: Project) -> str:
    if spec.source in _WORDS or spec.source.startswith("runtime.") or spec.source in project.toolsets:
        return ""
    try:
        return project.sources.body(spec.source).rstrip("\n")
    except CtxcError:
        return f"unreadable:{spec.source}"


def _fragments(old: Fragment, new: Fragment, base: Project, head: Project) -> _Verdict:
    names = ("kind", "load_mode", "applies_when", "requires", "conflicts_with", "priority", "max_tokens", "operations",
             "source_range")  # fmt: skip
    changed = [n for n in names if _plain(getattr(old, n)) != _plain(getattr(new, n))]
    if old.load_mode.value == "reference" and old.summary != new.summary:
        changed.append("summary")
    one, other = _body(old, base), _body(new, head)
    if one == other and not changed:
        return _SAME
    spaces = not changed and is_space_apart(one, other)
    reasons = [*(["text (white space)"] if spaces else ["text"] if one != other else []), *changed]
    new_conflicts = set(new.conflicts_with) - set(old.conflicts_with)
    if new_conflicts:
        told = f"conflicts with {', '.join(sorted(new_conflicts))}: a route that loads both breaks"
        return _Verdict(needed="major", reason="; ".join([*reasons, told]), breaking=True)
    return _Verdict(needed="patch" if spaces else "minor", reason=", ".join(reasons))


def _body(fragment: Fragment, project: Project) -> str:
    try:
        return project.sources.body(fragment.text_path).rstrip("\n")
    except CtxcError:
        return f"unreadable:{fragment.text_path}"


def _contracts(old: Contract, new: Contract) -> _Verdict:
    change = contract_change(old, new)
    if change is None:
        return _SAME
    if change.reserialized:
        return _Verdict(needed="patch", reason="keys in another order: equal as a value, other bytes")
    told_reason = "; ".join(dict.fromkeys(c.reason for c in change.changes))
    if change.breaking:
        return _Verdict(needed="major", reason=told_reason, breaking=True)
    return _Verdict(needed="patch" if is_text_only(change.changes) else "minor", reason=told_reason)


def seen(toolset: ToolSet) -> list[Tool]:
    """The tools in the order in which a model reads them."""
    return list(toolset.tools) if toolset.order == "given" else sorted(toolset.tools, key=lambda t: t.name)


def _toolsets(old: ToolSet, new: ToolSet) -> _Verdict:
    change = tools_change(seen(old), seen(new))
    if change is None:
        if old.namespace != new.namespace:
            return _Verdict(needed="minor", reason=f"namespace {old.namespace} → {new.namespace}")
        if [t.name for t in old.tools] != [t.name for t in new.tools]:
            return _Verdict(
                needed="none",
                reason=f"same {len(new.tools):,} tools, order changed in the file; a model reads them by name",
            )
        return _SAME
    if len(change.tools) == change.unseen and not change.moved and not change.reserialized:
        return _Verdict(needed="none", reason=f"{change.unseen:,} tools differ in fields that no provider sees")
    reasons = [told(change)]
    for tool in change.tools:
        reasons += [f"{tool.name}: {c.reason}" for c in tool.changes if c.breaking]
    if change.breaking:
        return _Verdict(needed="major", reason="; ".join(reasons), breaking=True)
    texts = all(t.status in ("reserialized", "moved", "unseen") or is_text_only(t.changes) for t in change.tools)
    return _Verdict(needed="patch" if texts else "minor", reason="; ".join(reasons))


def _profiles(old: RequestProfile, new: RequestProfile) -> _Verdict:
    names = [n for n in ("toolset", "output_contract", "static") if getattr(old, n) != getattr(new, n)]
    if not names:
        return _SAME
    told_fields = "; ".join(f"{n} {_short(getattr(old, n))} → {_short(getattr(new, n))}" for n in names)
    return _Verdict(needed="minor", reason=told_fields)


def _policies(old: Policy, new: Policy) -> _Verdict:
    parts = ("where", "base", "gates", "rules", "waivers")
    names = [n for n in parts if _plain(getattr(old, n)) != _plain(getattr(new, n))]
    if not names:
        return _SAME
    if names == ["waivers"]:
        return _Verdict(needed="none", reason="waivers changed; no model sees a policy")
    return _Verdict(needed="minor", reason=f"{', '.join(names)} changed; no model sees a policy")


def _with_prefix(
    found: list[VersionChange], name: str, fixtures: Sequence[str], base: Project, head: Project
) -> list[VersionChange]:
    """Demand a bump of a profile whose prefix is not byte for byte what this version of it was."""
    old, new = base.profiles.get(name, ()), head.profiles.get(name, ())
    if not old or not new:
        return found
    what = f"the cached prefix of {len(fixtures):,} fixture{'' if len(fixtures) == 1 else 's'} changed"
    result = []
    known = False
    for change in found:
        if (change.kind, change.id, change.status) == ("profile", name, "changed"):
            known = True
            reason = f"{change.reason}; {what}" if change.content_changed else what
            needed = change.needed if change.needed != "none" else "minor"
            change = replace(
                change,
                content_changed=True,
                needed=needed,
                missing=not suffices(change.bump, needed, change.head),
                reason=reason,
            )
        result.append(change)
    if not known:
        there = new[-1]
        more = VersionChange(
            id=name,
            kind="profile",
            status="changed",
            base=old[-1].version,
            head=there.version,
            content_changed=True,
            needed="minor",
            missing=True,
            reason=what,
            path=there.origin.path,
            line=_line(head, there.origin),
        )
        result.append(more)
        result.sort(key=lambda c: (KINDS.index(c.kind), c.id, c.base, c.head))
    return result


def _plain(value: Any) -> str:
    """A value of the model without its places, as text."""
    return canonical(_bare(value))


def _bare(value: Any) -> Any:
    if isinstance(value, Origin):
        return None
    if hasattr(value, "__dataclass_fields__"):
        return {f.name: _bare(getattr(value, f.name)) for f in fields(value) if f.name != "origin"}
    if isinstance(value, Mapping):
        return {str(k): _bare(v) for k, v in value.items()}
    if isinstance(value, (list, tuple)):
        return [_bare(v) for v in value]
    if isinstance(value, (set, frozenset)):
        return sorted(str(v) for v in value)
    return getattr(value, "value", value)


def _short(value: Any) -> str:
    if isinstance(value, (list, tuple)):
        return ", ".join(map(str, value)) or "none"
    return str(value) or "none"
