"""After everything is loaded: ids that stand twice, names that mean nothing, circles."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TypeVar

from ctxc.model.contract import RequestProfile
from ctxc.model.fragment import GROUPS, Fragment, LoadMode
from ctxc.model.lookup import Defined, candidates, same_version
from ctxc.model.section import Kind
from ctxc.model.template import Template
from ctxc.parse.context import Reference, Shared, child
from ctxc.parse.problems import Problem, did_you_mean, shown

_WHAT = {
    "template": "template",
    "fragment": "fragment",
    "contract": "output contract",
    "toolset": "tool set",
    "profile": "request profile",
    "provider": "provider profile",
    "fixture": "fixture",
    "conversation": "conversation",
    "policy": "policy",
}


T = TypeVar("T", bound=Defined)


def index(kind: str, items: Iterable[T], shared: Shared, *, single: bool = False) -> dict[str, tuple[T, ...]]:
    """Items by id, in file order. An id that is taken in that version is reported, and the item left out.

    ``single``: whatever the version.
    """
    found: dict[str, tuple[T, ...]] = {}
    for item in items:
        known = found.get(item.id)
        if known is None:
            found[item.id] = (item,)
            continue
        clash = next((k for k in known if single or same_version(k.version, item.version)), None)
        if clash is None:
            found[item.id] = (*known, item)
            continue
        version = f" version {item.version}" if item.version and not single else ""
        shared.report(
            item.origin.path,
            Problem(
                "duplicate-id",
                f"the {_WHAT[kind]} {shown(item.id)}{version} is defined twice; first in {clash.origin.path}",
                "give one another id" + ("" if single else " or another version"),
                pointer=child(item.origin.pointer, f"{kind}_id"),
                data={"first": clash.origin.path, "first_pointer": clash.origin.pointer},
            ),
        )
    return found


def check_references(
    references: Iterable[Reference],
    indexes: Mapping[str, Mapping[str, Sequence[Defined]]],
    shared: Shared,
) -> None:
    """Report each name that means nothing, or several things; what is defined in a broken file is left to that file."""
    seen: set[tuple[str, str]] = set()
    fine: set[tuple[str, str]] = set()
    for reference in references:
        name = (reference.kind, reference.name)
        place = (reference.path, reference.pointer)
        if name in fine or place in seen:
            continue
        seen.add(place)
        known = indexes.get(reference.kind, {})
        found = candidates(known, reference.name)
        what = _WHAT[reference.kind]
        if len(found) == 1:
            fine.add(name)
        elif len(found) > 1:
            told = ", ".join(v.version or "none" for v in found)
            shared.report(
                reference.path,
                Problem(
                    "ambiguous-id",
                    f"{what} {shown(reference.name)} has {len(found)} versions ({told}); the last is used",
                    f"name one: {reference.name}@{found[-1].version}",
                    pointer=reference.pointer,
                ),
            )
        else:
            gone = shared.lost.get(reference.kind, set())
            base = reference.name.rpartition("@")[0] or reference.name
            if base in gone or any(reference.name.startswith(g + "_v") for g in gone) or "" in gone:
                continue
            shared.report(reference.path, _unknown(reference, known, what))


def _unknown(reference: Reference, known: Mapping[str, Sequence[Defined]], what: str) -> Problem:
    base, at, _ = reference.name.rpartition("@")
    if at and base in known:
        told = ", ".join(v.version or "none" for v in known[base])
        message = f"{what} {shown(base)} has no such version; there is {told}"
    else:
        message = f"there is no {what} {shown(reference.name)}{did_you_mean(base if at else reference.name, known)}"
    listed = ", ".join(sorted(known)[:20])
    return Problem(
        "unknown-fragment" if reference.kind == "fragment" else "unknown-reference",
        message,
        f"known: {listed}{' ...' if len(known) > 20 else ''}"
        if known
        else "define it in a file of a configured folder (`ctxc config` lists them)",
        pointer=reference.pointer,
        level=reference.level,
    )


def check_versions(fragments: Mapping[str, tuple[Fragment, ...]], shared: Shared) -> None:
    """Report each fragment that routes load and of which there are several versions: only the last is loaded so."""
    for versions in fragments.values():
        last = versions[-1]
        if len(versions) > 1 and last.load_mode is not LoadMode.EXPLICIT:
            told = ", ".join(v.version or "none" for v in versions)
            shared.report(
                last.origin.path,
                Problem(
                    "ambiguous-id",
                    f"fragment {shown(last.id)} has {len(versions)} versions ({told}); routes load the last, "
                    f"{last.version or 'this one'}",
                    "remove the others, or give it load_mode explicit and name the version where it is needed",
                    pointer=child(last.origin.pointer, "fragment_id"),
                ),
            )


def check_static(
    profiles: Mapping[str, tuple[RequestProfile, ...]],
    templates: Mapping[str, tuple[Template, ...]],
    fragments: Mapping[str, tuple[Fragment, ...]],
    shared: Shared,
) -> None:
    """Report each name under ``static`` that no template and no fragment has, unless a broken file may have it."""
    if shared.lost.get("template") or shared.lost.get("fragment"):
        return
    sections = {s.id for versions in templates.values() for t in versions for s in t.sections}
    known = {*sections, *fragments, *GROUPS, *(kind.value for kind in Kind)}
    for profile in (p for versions in profiles.values() for p in versions):
        for number, name in enumerate(profile.static):
            if name not in known:
                shared.report(
                    profile.origin.path,
                    Problem(
                        "unknown-section",
                        f"no section, kind, group or fragment is called {shown(name)}{did_you_mean(name, known)}",
                        "write the id of a section or of a fragment, a kind of sections, or a group of fragments",
                        pointer=child(profile.origin.pointer, "static", number),
                    ),
                )


def check_requires(fragments: Mapping[str, tuple[Fragment, ...]], shared: Shared) -> None:
    """Report each circle of ``requires`` once, with the chain."""
    state: dict[str, int] = {}  # 1: on the way, 2: done
    for start in fragments:
        if state.get(start):
            continue
        chain: list[Fragment] = [fragments[start][-1]]
        rest = [iter(chain[0].requires)]
        state[start] = 1
        while rest:
            name = next(rest[-1], None)
            if name is None:
                rest.pop()
                state[chain.pop().id] = 2
                continue
            found = candidates(fragments, name)
            if not found:
                continue
            target = found[-1].id
            if state.get(target) == 1:
                ids = [f.id for f in chain]
                _report_circle(chain[-1], [*ids[ids.index(target) :], target], name, shared)
            elif not state.get(target):
                state[target] = 1
                chain.append(found[-1])
                rest.append(iter(found[-1].requires))


def _report_circle(last: Fragment, chain: list[str], name: str, shared: Shared) -> None:
    number = last.requires.index(name)
    shared.report(
        last.origin.path,
        Problem(
            "requires-cycle",
            f"fragments require each other in a circle: {' -> '.join(chain)}",
            "remove one of these `requires`",
            pointer=child(last.origin.pointer, "requires", number),
            data={"chain": chain},
        ),
    )
