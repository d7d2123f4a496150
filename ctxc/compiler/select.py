"""Stage select: route, load modes, dependencies, and explainable scores.

Fragments: what the route or the fixture names is selected, with everything it requires; a conflict inside the
selection, a missing or circular requirement, or a fragment over its own ``max_tokens`` is an error that names the
chain. ``auto_candidate`` is listed and never loaded; ``isolated`` is handed over and never inlined; of a ``reference``
only the reference is loaded. Evidence and memory: ``min_score`` and ``top`` of the section.
"""

from __future__ import annotations

from dataclasses import replace

from ctxc.compiler.faults import fault
from ctxc.compiler.routing import prompt_order
from ctxc.compiler.score import score_all
from ctxc.compiler.stage import Refused, Request, Stage, drop
from ctxc.model.fragment import Fragment, LoadMode
from ctxc.model.lookup import candidates as references
from ctxc.model.package import Decision, Dropped, State
from ctxc.model.section import Section

STAGE = "select"


def select(request: Request, sections: tuple[Section, ...]) -> Stage:
    """What is selected, with scores; raises Refused for a selection that contradicts itself."""
    dropped: list[Dropped] = []
    decisions: list[Decision] = []
    states: list[State] = []
    fragments: list[Section] = []
    others: list[Section] = []
    for section in sections:
        if "fragment" in section.attributes:
            fragments.append(section)
        else:
            others.append(section)
    chosen = _fragments(request, fragments, dropped, decisions, states)
    scored = _scored(request, score_all(others), dropped, decisions, states)
    return Stage(
        sections=_merged(sections, chosen, scored),
        dropped=tuple(dropped),
        decisions=tuple(decisions),
        states=tuple(states),
    )


def _merged(before: tuple[Section, ...], fragments: list[Section], others: list[Section]) -> tuple[Section, ...]:
    """Both halves in the order in which the template has their slots."""
    slots: dict[str, list[Section]] = {}
    for section in before:
        slots.setdefault(section.slot, [])
    for section in (*fragments, *others):
        slots[section.slot].append(section)
    return tuple(s for group in slots.values() for s in group)


def _fragments(
    request: Request,
    sections: list[Section],
    dropped: list[Dropped],
    decisions: list[Decision],
    states: list[State],
) -> list[Section]:
    chosen: list[Section] = []
    for section in sections:
        fragment: Fragment = section.attributes["fragment"]
        cause: str = section.attributes["cause"]
        refusal = _not_inlined(fragment, cause)
        if refusal is None:
            chosen.append(_loaded(section, fragment))
            decisions.append(Decision(section_id=section.section_id, stage=STAGE, verdict="kept", reason=cause))
            continue
        reason, detail, selected = refusal
        gone, decision = drop(section, STAGE, reason, detail)
        dropped.append(gone)
        decisions.append(decision)
        states.append(
            State(
                candidate_id=section.section_id,
                selected="yes" if selected else f"no:{reason}",
                loaded=f"no:{reason}",
            )
        )
    _check_cycles(request, chosen)
    _check_conflicts(request, chosen)
    chosen.sort(key=lambda s: prompt_order(s.attributes["fragment"]))
    return chosen


def _not_inlined(fragment: Fragment, cause: str) -> tuple[str, str, bool] | None:
    """Why a candidate's text is not loaded: reason, detail, and whether it counts as selected."""
    if fragment.load_mode is LoadMode.ISOLATED:
        return "isolated", "handed to a sub-task with its own budget, never inlined", True
    if fragment.load_mode is LoadMode.AUTO_CANDIDATE and cause == "route":
        return "auto_candidate", "a candidate only; a similarity alone loads nothing", False
    return None


def _loaded(section: Section, fragment: Fragment) -> Section:
    if fragment.load_mode is LoadMode.REFERENCE:
        # The body comes later, through a bounded selector; only these facts are loaded now.
        reference = {
            "ref": f"fragment:{fragment.id}",
            "type": fragment.kind,
            "summary": fragment.summary,
            "version": fragment.version,
            "available_operations": list(fragment.operations),
        }
        return replace(section, text="", value=reference, has_value=True)
    if fragment.load_mode is LoadMode.COMPACTED and fragment.source_range:
        return replace(section, text=f"{section.text}\n(summary of {fragment.source_range})")
    return section


def _check_cycles(request: Request, chosen: list[Section]) -> None:
    by_id: dict[str, Fragment] = {s.item_id: s.attributes["fragment"] for s in chosen}
    done: set[str] = set()

    def walk(name: str, chain: tuple[str, ...]) -> None:
        if name in chain:
            cycle = (*chain[chain.index(name) :], name)
            for told in request.project.findings:
                if told.name == "requires-cycle" and set(told.data["chain"]) == set(cycle):
                    raise Refused(replace(told, fixture=request.fixture.id))  # as loading tells it, and once with it
            raise Refused(
                fault(
                    request.project,
                    "requires-cycle",
                    "fragments require each other in a circle: " + " -> ".join(cycle),
                    at=by_id[name].origin.child("requires"),
                    fixture=request.fixture.id,
                    help="remove one of these `requires`",
                    data={"chain": list(cycle)},
                )
            )
        if name in done or name not in by_id:
            return
        for needed in by_id[name].requires:
            found = references(request.project.fragments, needed)
            walk(found[-1].id if found else needed, (*chain, name))
        done.add(name)

    for name in by_id:
        walk(name, ())


def _check_conflicts(request: Request, chosen: list[Section]) -> None:
    present = {s.item_id: s for s in chosen}
    for section in chosen:
        fragment: Fragment = section.attributes["fragment"]
        for name in fragment.conflicts_with:
            meant = references(request.project.fragments, name)
            other = meant[-1].id if meant else name
            if other in present and other != fragment.id and present[other].attributes["fragment"] in meant:
                causes = [f"{n} ({present[n].attributes['cause']})" for n in sorted((fragment.id, other))]
                raise Refused(
                    fault(
                        request.project,
                        "fragment-conflict",
                        f"fragments {' and '.join(causes)} conflict with each other and are both selected",
                        at=fragment.origin.child("conflicts_with"),
                        fixture=request.fixture.id,
                        help="narrow `applies_when` of one of them, or remove it from `requires` of the other",
                        data={"chain": [fragment.id, other]},
                        related=((present[other].attributes["fragment"].origin, f"fragment {other}"),),
                    )
                )


def _scored(
    request: Request,
    sections: tuple[Section, ...],
    dropped: list[Dropped],
    decisions: list[Decision],
    states: list[State],
) -> list[Section]:
    rules = {s.id: s.select for s in request.template.sections}
    ranks: dict[str, int] = {}
    counted: dict[str, int] = {}
    for section in sorted(
        (s for s in sections if s.score is not None), key=lambda s: (-(s.score.total if s.score else 0), s.section_id)
    ):
        ranks[section.section_id] = counted.get(section.slot, 0)
        # Required records do not use up a place of the best.
        counted[section.slot] = counted.get(section.slot, 0) + (0 if section.required else 1)
    kept: list[Section] = []
    for section in sections:
        rule = rules.get(section.slot)
        score = section.score.total if section.score is not None else None
        reason = detail = ""
        if rule is not None and score is not None and not section.required:
            if rule.min_score is not None and score < rule.min_score:
                reason, detail = "low_score", f"score {score:.3f} is below min_score {rule.min_score:g}"
            elif rule.top is not None and ranks[section.section_id] >= rule.top:
                reason, detail = "not_in_top", f"rank {ranks[section.section_id] + 1} of top {rule.top}"
        if not reason:
            kept.append(section)
            if score is not None:
                decisions.append(
                    Decision(section_id=section.section_id, stage=STAGE, verdict="kept", reason=f"score {score:.3f}")
                )
            continue
        gone, decision = drop(section, STAGE, reason, detail)
        dropped.append(gone)
        decisions.append(decision)
        states.append(State(candidate_id=section.section_id, selected=f"no:{reason}", loaded=f"no:{reason}"))
    return kept
