"""Before the stages: which template, contract, tool set, provider, model and budget a fixture uses.

Provider and model come from the project's configuration, the template, the fixture and the command line; the
later of these wins, and none at all is an error. Nothing is guessed: a model that no profile knows is an error that
names the nearest.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple, TypeVar

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
        at = fixture.origin.child("template") if fixture.template else fixture.origin
        raise Refused(_missing(project, fixture.id, "template", fixture.template, project.templates, "template", at))
    faults: list[Finding] = []
    profile = _profile(project, fixture, template, faults)
    contract = _contract(project, fixture, template, profile, faults)
    toolset = _toolset(project, fixture, profile, faults)
    try:
        provider, row, model = find_model(project, template, fixture, options)
    except Refused as refused:
        faults.extend(refused.findings)
    if faults:
        raise Refused(*faults)
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
    project: Project, fixture_id: str, what: str, name: str, known: Mapping[str, object], key: str, at: Origin
) -> Finding:
    if not name:
        return fault(
            project,
            "unknown-reference",
            f"the fixture names no {what}",
            at=at,
            fixture=fixture_id,
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
                at=at,
                fixture=fixture_id,
                help=f"mend the findings of {where[0]} first",
                related=[(Origin(p), f"the {what}") for p in where if p != at.path],
            )
    unread = [path for path, kind in project.broken_kinds.items() if not kind]
    if unread and name.partition("@")[0] not in known:
        return fault(
            project,
            "unknown-reference",
            f"{what} {name!r} is not defined, or in a file that could not be loaded: {', '.join(unread[:3])}",
            at=at,
            fixture=fixture_id,
            help=f"mend the findings of {unread[0]} first",
            related=[(Origin(path), f"may define the {what}") for path in unread[:3]],
        )
    base, _, version = name.rpartition("@")
    versions = known.get(base)
    if isinstance(versions, tuple):
        there = [v.version or "none" for v in versions]
        return fault(
            project,
            "unknown-reference",
            f"{what} {base!r} has no version {version!r}; there is {', '.join(there)}",
            at=at,
            fixture=fixture_id,
            help=f"name one that is there: {base}@{there[-1]}",
        )
    return fault(
        project,
        "unknown-reference",
        f"there is no {what} {name!r}.{did_you_mean(name, known)}",
        at=at,
        fixture=fixture_id,
        help="define it in a file of a configured folder (`ctxc config` lists them)"
        + (f", or name one of: {', '.join(sorted(known))}" if known else ""),
    )


def _profile(project: Project, fixture: Fixture, template: Template, faults: list[Finding]) -> RequestProfile | None:
    name = fixture.request_profile or template.request_profile
    if not name:
        return None
    found = find_version(project.profiles, name)
    if found is None:
        key = "request_profile"
        at = fixture.origin.child(key) if fixture.request_profile else template.at(key)
        faults.append(_missing(project, fixture.id, "request profile", name, project.profiles, key, at))
    return found


def _contract(
    project: Project,
    fixture: Fixture,
    template: Template,
    profile: RequestProfile | None,
    faults: list[Finding],
) -> Contract | None:
    name, at = template.output_contract, template.at("output_contract")
    if profile is not None and profile.output_contract:
        name, at = profile.output_contract, profile.origin.child("output_contract")
    if not name:
        return None
    found = find_version(project.contracts, name)
    if found is None:
        faults.append(_missing(project, fixture.id, "contract", name, project.contracts, "output_contract", at))
    return found


def _toolset(
    project: Project, fixture: Fixture, profile: RequestProfile | None, faults: list[Finding]
) -> ToolSet | None:
    if profile is None or not profile.toolset:
        return None
    found = find_version(project.toolsets, profile.toolset)
    if found is None:
        at = profile.origin.child("toolset")
        faults.append(_missing(project, fixture.id, "tool set", profile.toolset, project.toolsets, "toolset", at))
    return found


def find_model(
    project: Project, template: Template, fixture: Fixture | None, options: Options
) -> tuple[ProviderProfile, ModelRow, str]:
    """The provider, row and name of the model that a fixture is compiled for, or a template that none uses; raises
    Refused, with one finding, where nothing names a provider or what is named is not known."""
    # The command line wins over the fixture, the fixture over the template, the template over the configuration.
    named = _named(project, template, fixture)
    anywhere = fixture.origin if fixture is not None else template.origin
    fixture_id = fixture.id if fixture is not None else ""
    provider_name, provider_at = options.provider or named[0].provider, named[0].provider_at or anywhere
    if not provider_name:
        raise Refused(
            fault(
                project,
                "no-provider",
                f"no provider is named for fixture {fixture_id!r}",
                at=anywhere,
                fixture=fixture_id,
                help="add `provider:` to the template, the fixture or the configuration, or pass --provider; known: "
                + ", ".join(sorted(project.providers)),
            )
        )
    provider = project.providers.get(provider_name)
    if provider is None:
        raise Refused(
            _missing(project, fixture_id, "provider profile", provider_name, project.providers, "provider", provider_at)
        )
    # A model that was named beside another provider than the command line's says nothing about that one.
    fitting = (n for n in named if n.model and options.provider in ("", n.provider))
    chosen = next(fitting, None)
    model = options.model or (chosen.model if chosen is not None else provider.default_model)
    row = find_row(provider, model)
    if row is not None:
        return provider, row, model
    others = who_knows(project.providers, model)
    patterns = [r.pattern for r in provider.models]
    told = f"provider profile {provider.id!r} knows no model {model!r}."
    told += "" if others else did_you_mean(model, patterns)
    help = f"known patterns: {', '.join(patterns)}"
    at = anywhere
    if options.model:
        told = f"--model: {told}"
        help = f"pass --provider {others[0]}" if others else help
    elif chosen is None and model:
        at = provider.origin.child("default_model")
    elif chosen is None or chosen.provider != provider_name:
        # What is named is named for another provider: what is missing is a model beside this one.
        told = told if model else f"no model is named for provider profile {provider.id!r}, and it has no default"
        at, help = provider_at, f"add `model:` beside the provider; {help}"
    else:
        at = chosen.model_at or anywhere
        help = f"`provider: {others[0]}` knows it" if others else help
    raise Refused(fault(project, "unknown-model", told, at=at, fixture=fixture_id, help=help))


class _Named(NamedTuple):
    """A model as a fixture, a template or the configuration names it, and the provider that holds there."""

    model: str
    model_at: Origin | None
    provider: str
    provider_at: Origin | None


def _named(project: Project, template: Template, fixture: Fixture | None) -> list[_Named]:
    """What may name a model, the one that wins first; where one names no provider, that of the next holds."""
    settings = project.settings
    owners: list[tuple[str, Origin | None, str, Origin | None]] = [
        (settings.model, settings.origins.get("model"), settings.provider, settings.origins.get("provider")),
        (template.model, template.at("model"), template.provider, template.at("provider")),
    ]
    if fixture is not None:
        own = fixture.origin
        owners.append((fixture.model, own.child("model"), fixture.provider, own.child("provider")))
    found: list[_Named] = []
    holds, holds_at = "", None
    for model, model_at, provider, provider_at in owners:
        if provider:
            holds, holds_at = provider, provider_at
        found.append(_Named(model, model_at, holds, holds_at))
    return found[::-1]


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
                f"nothing is left for input: window {window:,} less output_reserve {reserve:,} and "
                f"safety_margin {margin:,}",
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
