"""A measure that is not what it was at the base: a provider profile of the project, or the choice of tokenizers.

Why: A profile says how tokens are counted, what they cost and how long they take. Whoever changes it changes what every
ceiling means, without touching a policy. Where the base judges, its own profiles and tokenizers measure for its
policies; a profile that the base does not know can only be believed, and a request that is measured by it is an error.

Bad:

    # file: templates/t.yaml
    template_id: t
    version: 1
    provider: text
    sections:
      - {id: policy, source: literal, text: Answer briefly.}
    # file: templates/house.yaml
    provider_id: house
    version: 2
    extends: openai
    default_model: gpt-4.1
    # file: tests/fixtures/f.yaml
    fixture_id: f
    template: t
    # file: policies/p.yaml
    policy_id: p
    version: 1
    gates: {budget: {ceilings: [{max_input_tokens: 900}]}}
    # file: base/templates/house.yaml
    provider_id: house
    version: 1
    extends: openai

Good:

    # file: templates/t.yaml
    template_id: t
    version: 1
    provider: text
    sections:
      - {id: policy, source: literal, text: Answer briefly.}
    # file: templates/house.yaml
    provider_id: house
    version: 1
    extends: openai
    # file: tests/fixtures/f.yaml
    fixture_id: f
    template: t
    # file: policies/p.yaml
    policy_id: p
    version: 1
    gates: {budget: {ceilings: [{max_input_tokens: 900}]}}
    # file: base/templates/house.yaml
    provider_id: house
    version: 1
    # as before
    extends: openai

Mend: Change the profile in a change of its own, with the source of its numbers; requests that need it come after it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from ctxc.base.spans import Location
from ctxc.model.finding import Finding, Severity
from ctxc.model.provider import ProviderProfile
from ctxc.parse.builtin import own_profiles
from ctxc.rules._ground import Ground, ground, judged_by_base, place_of_settings
from ctxc.rules.engine import Context, rule

_LISTED = 5
_HELP = "change it in a change of its own, with the source of its numbers; until then the base's measures as well"


def check(context: Context) -> Iterator[Finding]:
    """Profiles of the project that are new, gone or different, and another setting of ``tokenizers``."""
    known = ground(context)
    if known.settings is not None:
        old, new = (s.extra.get("tokenizers") or {} for s in known.settings)
        if old != new:
            yield RULE.finding(
                context, f"the setting `tokenizers` changed: {_chosen(old)} → {_chosen(new)}",
                at=place_of_settings(context), help=_HELP, data={"before": dict(old), "after": dict(new)},
            )  # fmt: skip
    ours = {p.id: p for p in own_profiles(context.project.providers)}
    if not judged_by_base(context) and not known.may_touch({p.origin.path for p in ours.values()}):
        return
    base = known.base_project
    if base is None:
        return
    if judged_by_base(context):
        # What the base measures by has taken the place of what the head has; only what it does not know is left.
        for name in sorted(ours.keys() - base.providers.keys()):
            yield from _unknown(context, known, ours[name])
        return
    theirs = {p.id: p for p in own_profiles(base.providers)}
    for name in sorted(ours.keys() | theirs.keys()):
        own, other = ours.get(name), theirs.get(name)
        if own is None:
            assert other is not None
            what, place = "was removed", Location(other.origin.path)
        elif other is None:
            what = "takes the place of the one that ships" if name in base.providers else "is new"
            place = context.project.sources.locate(own.origin)
        elif own.content_hash != other.content_hash:
            what, place = "changed", context.project.sources.locate(own.origin)
        else:
            continue
        used = sorted(n for n, m in known.head.items() if m.provider == name)
        yield RULE.finding(
            context, f"provider profile {name!r} {what}{_measures(used)}", at=place, help=_HELP,
            data={"provider": name, "fixtures": used[:_LISTED], "requests": len(used)},
        )  # fmt: skip


def _unknown(context: Context, known: Ground, profile: ProviderProfile) -> Iterator[Finding]:
    """An error for a profile that the base does not know, where requests are measured by it."""
    used = sorted(n for n, m in known.head.items() if m.provider == profile.id and m.has_request)
    if used:
        found = RULE.finding(
            context,
            f"provider profile {profile.id!r} is new{_measures(used)}, and the base has nothing to measure them by",
            at=context.project.sources.locate(profile.origin),
            help="add the profile in a change of its own; requests that need it come after it",
            data={"provider": profile.id, "fixtures": used[:_LISTED], "requests": len(used)},
        )
        yield replace(found, severity=Severity.ERROR)


def _measures(fixtures: list[str]) -> str:
    count = len(fixtures)
    return f": it measures {count:,} request{'s' if count > 1 else ''}" if count else ""


def _chosen(wanted: Mapping[str, Any]) -> str:
    return ", ".join(f"{name}: {value}" for name, value in sorted(wanted.items())) or "none"


RULE = rule(__name__, __doc__, check, needs="change")
