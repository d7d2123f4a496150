"""Collecting fragments: what the route or the fixture names, and what that requires."""

from __future__ import annotations

from collections.abc import Sequence

from ctxc.base.errors import CtxcError
from ctxc.base.spans import Origin
from ctxc.compiler.candidates import Candidates
from ctxc.compiler.faults import did_you_mean, fault
from ctxc.compiler.routing import FragmentIndex, may_match
from ctxc.compiler.stage import Refused
from ctxc.model.finding import Finding
from ctxc.model.fragment import Fragment, LoadMode, LostFragment
from ctxc.model.section import DROP, REFUSE
from ctxc.model.template import SectionSpec


def collect_fragments(
    candidates: Candidates, index: FragmentIndex, routed: Sequence[Fragment], spec: SectionSpec
) -> None:
    """Candidates of a section whose source is ``fragments``; raises Refused where one is missing.

    ``routed`` are the fragments that the route makes candidates.
    """
    fixture = candidates.request.fixture
    candidates.taken.add("fragments")
    lost = [f for f in candidates.request.project.lost_fragments if may_match(f, fixture.route)]
    if lost:
        raise Refused(*(_lost(candidates, f, _why(f)) for f in lost))
    found: dict[str, tuple[Fragment, str]] = {f.id: (f, "route") for f in routed}
    pending: list[str] = list(found)
    for name in fixture.inputs.fragments:
        _refuse_lost(candidates, name, "the fixture names it")
        named = index.named(name)
        if named is None:
            raise Refused(
                fault(
                    candidates.request.project,
                    "unknown-fragment",
                    f"the fixture names fragment {name!r}, which does not exist." + did_you_mean(name, index.newest),
                    at=fixture.origin.child("inputs", "fragments"),
                    fixture=fixture.id,
                    help="name a fragment_id of the project",
                )
            )
        known = found.get(named.id)
        if known is not None and known[0] is not named:
            raise _two_versions(candidates, known, named, "explicit", fixture.origin.child("inputs", "fragments"))
        found[named.id] = (named, "explicit")
        pending.append(named.id)
    for name in found:
        _refuse_lost(candidates, name, "an older version does not stand in for it")
    while pending:
        current, why = found[pending.pop()]
        if not _expands(current, why):
            continue
        for needed in current.requires:
            _refuse_lost(candidates, needed, f"{current.id!r} requires it")
            target = index.named(needed)
            if target is None:
                raise Refused(
                    fault(
                        candidates.request.project,
                        "unknown-fragment",
                        f"fragment {current.id!r} requires {needed!r}, which does not exist."
                        + did_you_mean(needed, index.newest),
                        at=current.origin.child("requires"),
                        fixture=fixture.id,
                        help="define the fragment or remove it from `requires`",
                        data={"chain": [current.id, needed]},
                    )
                )
            # What is required is loaded, also where the route alone would only have made it a candidate.
            known = found.get(target.id)
            cause = f"required by {current.id}"
            if known is not None and known[0] is not target:
                raise _two_versions(candidates, known, target, cause, current.origin.child("requires"))
            if known is None or (known[1] == "route" and target.load_mode is LoadMode.AUTO_CANDIDATE):
                found[target.id] = (target, cause)
                pending.append(target.id)
    for name in sorted(found):
        _add(candidates, spec, *found[name])


def _two_versions(
    candidates: Candidates, known: tuple[Fragment, str], fragment: Fragment, cause: str, at: Origin
) -> Refused:
    """That a request would show two versions of one fragment."""
    return Refused(
        fault(
            candidates.request.project,
            "fragment-conflict",
            f"fragment {fragment.id!r} is needed in two versions: {known[0].version} ({known[1]}) and "
            f"{fragment.version} ({cause})",
            at=at,
            fixture=candidates.request.fixture.id,
            help="name the same version in both places, or leave the version out",
            related=(
                (known[0].origin, f"version {known[0].version}"),
                (fragment.origin, f"version {fragment.version}"),
            ),
        )
    )


def _add(candidates: Candidates, spec: SectionSpec, fragment: Fragment, cause: str) -> None:
    project = candidates.request.project
    candidates.dependencies.update((fragment.origin.path, fragment.text_path))
    made_from = (spec, fragment, cause, candidates.request.profile)
    if candidates.recall(made_from):
        return
    raw = text = ""
    shows_text = fragment.load_mode is not LoadMode.REFERENCE and _expands(fragment, cause)
    if shows_text:
        try:
            raw = project.sources.body(fragment.text_path)
        except CtxcError as error:
            raise Refused(
                fault(
                    project,
                    "missing-file",
                    f"fragment {fragment.id!r}: {error.message}",
                    at=fragment.origin.child("path"),
                    fixture=candidates.request.fixture.id,
                    help=error.help or "a path is relative to the manifest, else to the fragments root",
                )
            ) from None
        text = candidates.fill(raw, Origin(fragment.text_path)).rstrip("\n")
    candidates.add(
        spec,
        suffix=fragment.id,
        text=text,
        uri=f"fragment:{fragment.id}",
        version=fragment.version,
        origin=Origin(fragment.text_path),
        item_id=fragment.id,
        priority=fragment.priority,
        attributes={"cause": cause, "fragment": fragment},
        cacheable=_is_static(candidates, spec, fragment),
        overflow=spec.overflow or (DROP if fragment.load_mode is not LoadMode.REFERENCE else REFUSE),
    )
    if shows_text and not text.strip():
        candidates.set_aside("empty", f"{fragment.text_path} has no text")
    elif candidates.is_fixed(raw):
        candidates.keep(made_from)


def _is_static(candidates: Candidates, spec: SectionSpec, fragment: Fragment) -> bool | None:
    profile = candidates.request.profile
    if profile is not None and (fragment.kind in profile.static or fragment.id in profile.static):
        return True
    return spec.cacheable


def _refuse_lost(candidates: Candidates, name: str, why: str) -> None:
    """Refuse a request that needs a fragment which could not be loaded; an older version does not stand in for it."""
    for lost in candidates.request.project.lost_fragments:
        if lost.id == name.partition("@")[0]:
            raise Refused(_lost(candidates, lost, why))


def _why(lost: LostFragment) -> str:
    known = lost.load_mode is not None and lost.applies_when is not None
    return "the route of this fixture loads it" if known else "nobody can tell which routes load it"


def _lost(candidates: Candidates, lost: LostFragment, why: str) -> Finding:
    path = lost.origin.path
    project = candidates.request.project
    texts = [p for p in dict.fromkeys(lost.text_paths) if p in project.broken]
    return fault(
        project,
        "unknown-fragment",
        f"fragment {lost.id!r} could not be loaded, and {why}"
        if lost.id
        else f"{path} could not be loaded, so the fragments of this request are not known",
        at=lost.origin,
        fixture=candidates.request.fixture.id,
        help=f"mend the findings of {texts[0] if texts else path} first",
        related=[(Origin(p), "its text") for p in texts],
    )


def _expands(fragment: Fragment, cause: str) -> bool:
    """Whether a candidate's text, and with it what it requires, may be loaded at all."""
    if fragment.load_mode is LoadMode.ISOLATED:
        return False
    return fragment.load_mode is not LoadMode.AUTO_CANDIDATE or cause != "route"
