"""Before the stages: which template, contract, tool set, provider, model and budget a fixture uses.

Provider and model come from the project's configuration, the template, the fixture and the command line; the
later of these wins, and none at all is an error. Nothing is guessed: a model that no profile knows is an error that
names the nearest.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TypeVar

from ctxc.base.spans import Origin
from ctxc.compiler.faults import broken_at, did_you_mean, fault
from ctxc.compiler.memo import Lane, Memo
from ctxc.compiler.stage import Limits, Options, Refused, Request
from ctxc.model.contract import Contract, RequestProfile, ToolSet
from ctxc.model.counting import Tokenizer
from ctxc.model.finding import Finding
from ctxc.model.fixture import Fixture
from ctxc.model.lookup import Versioned, candidates
from ctxc.model.project import Project
from ctxc.model.provider import ModelRow, ProviderProfile, TokenizerRef
from ctxc.model.template import Amount, Template
from ctxc.providers import find_row, who_knows
from ctxc.providers.port import Shape

REFERENCE = TokenizerRef(id="o200k_base", method="exact")
"""The vocabulary of a fragment's own ``max_tokens``: a limit of its text, whichever model it is compiled for."""

DEFAULT_OUTPUT_RESERVE = 4096
"""Tokens kept for the answer where a template names no reserve (a lint finding says so)."""

DEFAULT_MARGIN = Amount(basis_points=500)
"""Five percent of the window: the lower end of what the guide to the context layer (4.7) advises: docs/decisions.md."""

V = TypeVar("V", bound=Versioned)


def find_version(index: Mapping[str, Sequence[V]], name: str) -> V | None:
    """The object that a reference names; of several, the last in file order, which loading reports as ambiguous."""
    found = candidates(index, name)
    return found[-1] if found else None


def resolve(
    project: Project,
    fixture: Fixture,
    *,
    tokenizers: Callable[[TokenizerRef], Tokenizer],
    shapes: Callable[[str], Shape],
    options: Options,
    memo: Memo,
) -> Request:
    """Everything that a fixture refers to; raises Refused with one finding for each reference that fails."""
    template = find_version(project.templates, fixture.template)
    if template is None:
        raise Refused(_missing(project, fixture, "template", fixture.template, project.templates, "template"))
    faults: list[Finding] = []
    profile = _profile(project, fixture, template, faults)
    contract = _contract(project, fixture, template, profile, faults)
    toolset = _toolset(project, fixture, profile, faults)
    if faults:
        raise Refused(*faults)
    provider, row, model = _model(project, fixture, template, options)
    return Request(
        project=project,
        fixture=fixture,
        template=template,
        profile=profile,
        contract=contract,
        toolset=toolset,
        provider=provider,
        row=row,
        model=model,
        limits=_limits(project, fixture, template, row),
        now=fixture.now,
        lane=memo.lane(
            provider,
            row,
            model,
            lambda: Lane(
                tokenizer=tokenizers(row.tokenizer), reference=tokenizers(REFERENCE), shape=shapes(provider.shape)
            ),
        ),
        memo=memo,
    )


def _missing(
    project: Project,
    fixture: Fixture,
    what: str,
    name: str,
    known: Mapping[str, object],
    key: str,
    at: Origin | None = None,
) -> Finding:
    if not name:
        return fault(
            project,
            "unknown-reference",
            f"the fixture names no {what}",
            at=at or fixture.origin,
            fixture=fixture.id,
            help=f"add `{key}: ID`; known: {', '.join(sorted(known)) or 'none'}",
        )
    for path, broken in project.broken.items():
        if broken == name:
            where = broken_at(project, path)
            if what == "template":  # at the one place that all its fixtures share, so that it is told once
                at = Origin(path)
            return fault(
                project,
                "unknown-reference",
                f"{what} {name!r} could not be loaded: {where[0]} has errors",
                at=at or fixture.origin.child(key),
                fixture=fixture.id,
                help=f"mend the findings of {where[0]} first",
                related=[(Origin(p), f"the {what}") for p in where if at is None or p != at.path],
            )
    unread = [path for path, kind in project.broken_kinds.items() if not kind]
    if unread and name.partition("@")[0] not in known:
        return fault(
            project,
            "unknown-reference",
            f"{what} {name!r} is not defined, or in a file that could not be loaded: {', '.join(unread[:3])}",
            at=at or fixture.origin.child(key),
            fixture=fixture.id,
            help=f"mend the findings of {unread[0]} first",
            related=[(Origin(path), f"may define the {what}") for path in unread[:3]],
        )
    return fault(
        project,
        "unknown-reference",
        f"there is no {what} {name!r}.{did_you_mean(name, known)}",
        at=at or fixture.origin.child(key),
        fixture=fixture.id,
        help="define it in a file of a configured folder (`ctxc config` lists them)"
        + (f", or name one of: {', '.join(sorted(known))}" if known else ""),
    )


def _profile(project: Project, fixture: Fixture, template: Template, faults: list[Finding]) -> RequestProfile | None:
    name = fixture.request_profile or template.request_profile
    if not name:
        return None
    found = find_version(project.profiles, name)
    if found is None:
        owner = fixture.origin if fixture.request_profile else template.origin
        faults.append(
            _missing(
                project, fixture, "request profile", name, project.profiles, "request_profile",
                owner.child("request_profile"),
            )
        )  # fmt: skip
    return found


def _contract(
    project: Project,
    fixture: Fixture,
    template: Template,
    profile: RequestProfile | None,
    faults: list[Finding],
) -> Contract | None:
    name, owner = template.output_contract, template.origin
    if profile is not None and profile.output_contract:
        name, owner = profile.output_contract, profile.origin
    if not name:
        return None
    found = find_version(project.contracts, name)
    if found is None:
        at = owner.child("output_contract")
        faults.append(_missing(project, fixture, "contract", name, project.contracts, "output_contract", at))
    return found


def _toolset(
    project: Project, fixture: Fixture, profile: RequestProfile | None, faults: list[Finding]
) -> ToolSet | None:
    if profile is None or not profile.toolset:
        return None
    found = find_version(project.toolsets, profile.toolset)
    if found is None:
        at = profile.origin.child("toolset")
        faults.append(_missing(project, fixture, "tool set", profile.toolset, project.toolsets, "toolset", at))
    return found


def _model(
    project: Project, fixture: Fixture, template: Template, options: Options
) -> tuple[ProviderProfile, ModelRow, str]:
    # The command line wins over the fixture, the fixture over the template, the template over the configuration.
    provider_name = options.provider or fixture.provider or template.provider or project.settings.provider
    owner = fixture.origin if fixture.provider else template.origin
    if not provider_name:
        raise Refused(
            fault(
                project,
                "no-provider",
                f"no provider is named for fixture {fixture.id!r}",
                at=fixture.origin,
                fixture=fixture.id,
                help="add `provider:` to the template, the fixture or the configuration, or pass --provider; known: "
                + ", ".join(sorted(project.providers)),
            )
        )
    provider = project.providers.get(provider_name)
    if provider is None:
        at = owner.child("provider") if fixture.provider or template.provider else fixture.origin
        raise Refused(_missing(project, fixture, "provider profile", provider_name, project.providers, "provider", at))
    # A model that was named beside another provider says nothing about this one.
    named_beside = not options.provider or options.provider in (fixture.provider, template.provider)
    model = options.model or (
        (fixture.model or template.model or project.settings.model) if named_beside else ""
    ) or provider.default_model  # fmt: skip
    row = find_row(provider, model)
    if row is not None:
        return provider, row, model
    others = who_knows(project.providers, model)
    patterns = ", ".join(r.pattern for r in provider.models)
    if options.model:
        at, cause = fixture.origin, "--model: "
        other = f"pass --provider {others[0]}" if others else ""
    else:
        cause = ""
        named = fixture.origin if fixture.model else template.origin
        at = named.child("model") if fixture.model or template.model else fixture.origin
        other = f"`provider: {others[0]}` knows it" if others else ""
    raise Refused(
        fault(
            project,
            "unknown-model",
            f"{cause}provider profile {provider.id!r} knows no model {model!r}."
            + ("" if others else did_you_mean(model, (r.pattern for r in provider.models))),
            at=at,
            fixture=fixture.id,
            help=other or f"known patterns: {patterns}",
        )
    )


def _limits(project: Project, fixture: Fixture, template: Template, row: ModelRow) -> Limits:
    budget = template.budget
    window = row.window_for(budget.window)
    reserve = budget.output_reserve
    if reserve is None:
        reserve = min(DEFAULT_OUTPUT_RESERVE, row.max_output or DEFAULT_OUTPUT_RESERVE)
    margin = (budget.safety_margin or DEFAULT_MARGIN).of(window)
    taken = (reserve if row.output_in_window else 0) + margin
    bounds = [window - taken]
    if row.max_input is not None:
        bounds.append(row.max_input)
    if budget.ceiling is not None:
        bounds.append(budget.ceiling)
    available = min(bounds)
    if available <= 0:
        raise Refused(
            fault(
                project,
                "no-input-budget",
                f"nothing is left for input: window {window} less output_reserve {reserve} and safety_margin {margin}",
                at=budget.origin if budget.origin.path else template.origin,
                fixture=fixture.id,
                help="raise `budget.window` or lower `budget.output_reserve` and `budget.safety_margin`",
                data={"window": window, "output_reserve": reserve, "safety_margin": margin},
            )
        )
    return Limits(
        window=window,
        output_reserve=reserve,
        safety_margin=margin,
        ceiling=budget.ceiling,
        max_input=row.max_input,
        available=available,
        buckets=budget.buckets,
    )
