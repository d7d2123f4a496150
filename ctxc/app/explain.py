"""Why a model sees what it sees: the tokens of a request by section, and the trail of one section."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from ctxc.app.naming import advice
from ctxc.app.rows import is_exact
from ctxc.base.errors import NothingMatched
from ctxc.compiler.routing import matches
from ctxc.model.explanation import Empty, Explanation, Lost, Spent, Trail
from ctxc.model.package import Decision, Outcome, Package, State

if TYPE_CHECKING:
    from ctxc.app.workspace import Workspace
    from ctxc.model.fixture import Fixture
    from ctxc.model.fragment import Fragment
    from ctxc.model.project import Project
    from ctxc.model.report import Report
    from ctxc.model.section import Section

_EMPTY = "empty: "
"""How the compiler notes a section of the template that nothing fills."""

STATES = ("discoverable", "selected", "loaded", "authorised")

# By reason code of a drop: what would bring the section in.
REMEDIES: Mapping[str, str] = {
    "no_principal": "give the fixture a `principal` with the record's tenant and permissions",
    "tenant": "nothing should: the record belongs to another tenant",
    "permission": "give the principal the permission that the record names, if it has it",
    "revoked": "nothing should: the record was revoked",
    "expired": "supply a newer record, or correct `valid_until` or the fixture's `now`",
    "not_yet_valid": "it is valid later: correct `valid_from` or the fixture's `now`",
    "superseded": "nothing should: a newer record says what is so",
    "low_score": "lower `select.min_score` of the section, or raise what the score is made of",
    "not_in_top": "raise `select.top` of the section, or raise what the score is made of",
    "duplicate": "nothing is lost: the same content is in the request under the other id",
    "near_duplicate": "nothing much is lost; `select: {dedupe: false}` keeps both",
    "budget": "raise the section's priority or the budget, or make what stands before it smaller",
    "max_tokens": "raise `max_tokens` of the section",
    "bucket": "raise `max` of its bucket, or let it `borrow`",
    "isolated": "it is meant for a sub-task; another `load_mode` would inline it",
    "auto_candidate": "name it in `inputs.fragments`, or use load_mode `route_match` with `applies_when`",
    "when": "the section's `when` does not match the route of the fixture",
    "no_section": "add a section of this id to the template",
    "budget_exceeded": "the required part alone does not fit: see the remedies of the outcome",
    "route": "set the route as its `applies_when` says, widen `applies_when`, or name it in `inputs.fragments`",
    "empty": "give the fixture something for it to show",
    "model_not_required": "nothing is asked of a model on this route: see `deterministic` of the template",
    "capability_missing": "choose a provider or model that can carry what the template needs",
    "not_named": "name it in `inputs.fragments`: its load_mode is `explicit`",
}


def explain(project: Project, fixture: Fixture, package: Package, section: str = "") -> Explanation:
    """The explanation of a compiled fixture, with the trails of ``section`` where one is asked for.

    ``section`` may be a section id, the id of a template's section (all that came from it), or the id that the author
    gave an item. Raises NothingMatched where nothing is called so.
    """
    snapshot = package.snapshot
    budget: Mapping[str, Any] = snapshot.get("budget", {})
    spent = tuple(
        Spent(
            section_id=p.section.section_id,
            slot=p.section.slot,
            zone=p.section.zone.value,
            kind=p.section.kind.value,
            tokens=p.tokens,
            stable=p.stable,
            truncated=p.truncated,
            source=p.section.source_uri,
        )
        for p in sorted(package.placed, key=lambda p: (-p.tokens, p.position))
    )
    lost = tuple(
        Lost(section_id=d.section_id, kind=d.kind, stage=d.stage, reason=d.reason, tokens=d.tokens, detail=d.detail)
        for d in package.dropped
    )
    return Explanation(
        fixture_id=package.fixture_id,
        outcome=package.outcome.value,
        template=str(snapshot.get("template", {}).get("id", fixture.template)),
        model=str(snapshot.get("provider", {}).get("model", "")),
        used=budget.get("used_input"),
        available=budget.get("available_input"),
        overhead=budget.get("overhead"),
        exact=is_exact(snapshot),
        spent=spent,
        lost=lost,
        empty=tuple(Empty(section_id=d.section_id, reason=d.reason.removeprefix(_EMPTY)) for d in _noted(package)),
        trails=_trails(project, fixture, package, section) if section else (),
        over=tuple(budget.get("over", ())),
        remedies=tuple(snapshot.get("remedies", ())),
        ended=_ended(package),
        reply=package.reply if package.outcome is Outcome.MODEL_NOT_REQUIRED else None,
    )


def _ended(package: Package) -> tuple[str, ...]:
    """What ended a compile before a section was chosen, in the words of its decisions."""
    return tuple(d.reason for d in package.decisions if not d.section_id and d.stage == "resolve")


def _noted(package: Package) -> tuple[Decision, ...]:
    return tuple(d for d in package.decisions if d.verdict == "noted" and d.reason.startswith(_EMPTY))


def _trails(project: Project, fixture: Fixture, package: Package, name: str) -> tuple[Trail, ...]:
    sections: dict[str, Section] = {p.section.section_id: p.section for p in package.placed}
    sections |= {d.section_id: d.section for d in package.dropped if d.section is not None}
    states = {s.candidate_id: s for s in package.states}
    ids = list(dict.fromkeys([*sections, *states, *(d.section_id for d in package.dropped)]))
    wanted = [i for i in ids if i == name]
    if not wanted:
        wanted = [i for i in ids if _is_called(i, sections.get(i), name)]
    if wanted:
        return tuple(_trail(package, i, sections.get(i), states.get(i)) for i in wanted)
    if any(d.section_id == name for d in _noted(package)):
        state = State(candidate_id=name, **dict.fromkeys(("discoverable", "selected", "loaded"), "no:empty"))
        return (_trail(package, name, None, state),)
    early = package.outcome in (Outcome.MODEL_NOT_REQUIRED, Outcome.CAPABILITY_MISSING)
    template = project.templates.get(str(package.snapshot.get("template", {}).get("id", "")), ())
    if early and (name in project.fragments or any(s.id == name for t in template for s in t.sections)):
        state = State(candidate_id=name, **dict.fromkeys(("selected", "loaded"), f"no:{package.outcome.value}"))
        return (_trail(package, name, None, state),)
    fragment = project.fragments.get(name, ())
    if fragment:
        return (_absent_fragment(fixture, fragment[-1]),)
    names = {*ids, *(i.partition("/")[0] for i in ids), *(d.section_id for d in _noted(package)), *project.fragments}
    raise NothingMatched(
        f"fixture {package.fixture_id!r} has no candidate {name!r}",
        help=advice(name, sorted(names), f"`ctxc explain {package.fixture_id}` shows all of them", listed=False),
    )


def _is_called(section_id: str, section: Section | None, name: str) -> bool:
    slot, _, item = section_id.partition("/")
    if name in (slot, item):
        return True
    return section is not None and name in (section.slot, section.item_id)


def _trail(package: Package, candidate: str, section: Section | None, state: State | None) -> Trail:
    placed = next((p for p in package.placed if p.section.section_id == candidate), None)
    dropped = next((d for d in package.dropped if d.section_id == candidate), None)
    state = state or State(candidate_id=candidate)
    decisions = tuple(d for d in package.decisions if d.section_id == candidate)
    stopped = next((s for s in STATES if getattr(state, s) != "yes"), "")
    reason = dropped.reason if dropped else getattr(state, stopped).partition(":")[2] if stopped else ""
    remedy = "" if placed is not None else REMEDIES.get(reason, "")
    facts = _facts(section) if section is not None else {}
    if placed is not None:
        facts["tokens"] = placed.tokens
        facts["pointers"] = list(placed.pointers)
    return Trail(
        candidate_id=candidate,
        placed=placed.position if placed is not None else None,
        state=state,
        decisions=decisions,
        facts=facts,
        stopped=stopped,
        remedy=remedy,
    )


def _facts(section: Section) -> dict[str, Any]:
    facts: dict[str, Any] = {
        "kind": section.kind.value,
        "authority": section.authority.name,
        "trust": section.trust.value,
        "tier": section.tier.name,
        "zone": section.zone.value,
        "priority": section.priority,
        "required": section.required,
        # What is required is whole or the compile is refused, whatever it would do otherwise.
        "overflow": str("refuse" if section.required else section.overflow),
        "max_tokens": section.max_tokens,
        "verification": section.verification.value,
        "source": section.source_uri,
        "version": section.source_version,
        "path": section.origin.path,
    }
    if section.score is not None:
        facts["score"] = {
            "total": f"{section.score.total:.3f}",
            "terms": [[name, f"{value:.3f}", f"{weight:g}"] for name, value, weight in section.score.terms],
        }
    return facts


def _absent_fragment(fixture: Fixture, fragment: Fragment) -> Trail:
    """A fragment that the project has and the route did not make a candidate: which condition kept it out."""
    failed = [
        f"{key} is {'+'.join(fixture.route[key]) if key in fixture.route else 'not set'}, not {' or '.join(wanted)}"
        if key != "files" or key not in fixture.route
        else f"no file of {', '.join(fixture.route[key])} matches {' or '.join(wanted)}"
        for key, wanted in fragment.applies_when.items()
        if not matches({key: wanted}, fixture.route)
    ]
    mode = fragment.load_mode.value
    reason = "not_named" if mode == "explicit" else "route"
    detail = "; ".join(failed) or f"load_mode {mode}"
    return Trail(
        candidate_id=fragment.id,
        placed=None,
        state=State(candidate_id=fragment.id, selected=f"no:{reason}", loaded=f"no:{reason}"),
        decisions=(Decision(section_id=fragment.id, stage="collect", verdict="dropped", reason=detail),),
        facts={
            "kind": "fragment",
            "load_mode": mode,
            "applies_when": {k: list(v) for k, v in fragment.applies_when.items()},
            "version": fragment.version,
            "path": fragment.text_path,
        },
        stopped="selected",
        remedy=REMEDIES[reason],
    )


def followable(project: Project, fixture: Fixture) -> list[str]:
    """Names that ``explain`` can follow in a fixture, told without compiling it; sorted."""
    template = project.templates.get(fixture.template, ())
    inputs = fixture.inputs
    records = (*inputs.evidence, *inputs.memory, *inputs.tool_results, *inputs.handoff, *inputs.examples)
    return sorted({*project.fragments, *(r.id for r in records), *(s.id for t in template for s in t.sections)})


def explain_fixture(
    workspace: Workspace, fixture_id: str, section: str = "", *, provider: str = "", model: str = ""
) -> tuple[Explanation, Report]:
    """Compile one fixture of a workspace and explain it; with the findings of that compile."""
    from ctxc import __version__
    from ctxc.app.api import find_fixture
    from ctxc.app.masking import mask_messages
    from ctxc.app.overrides import check_overrides
    from ctxc.compiler.stage import Options
    from ctxc.model.report import Report

    fixture = find_fixture(workspace.project, fixture_id)
    if provider or model:
        check_overrides(workspace.project, provider, model)
    package = workspace.compiler(Options(provider=provider, model=model)).compile(fixture)
    explanation = explain(workspace.project, fixture, package, section)
    findings = tuple(sorted(mask_messages(package.findings), key=lambda f: f.sort_key))
    return explanation, Report(command="explain", version=__version__, findings=findings)
