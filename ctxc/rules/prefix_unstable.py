"""The static prefix differs between fixtures that ought to share it: those of one request profile, or one template.

Why: A provider finds a cached prefix by its bytes. One date, one counter or one tool that is not always there, and
every request of the profile is paid in full.

Bad:

    # file: templates/t.yaml
    template_id: t
    version: 1
    provider: text
    route: [region]
    variables: {brand: Meridian}
    sections:
      - {id: clock, source: literal, text: "Region {{region}}.", cacheable: true, kind: policy}
      - {id: policy, source: literal, text: Answer briefly., cacheable: true}
    # file: tests/fixtures/f.yaml
    fixture_id: f
    template: t
    route: {region: north}
    # file: tests/fixtures/g.yaml
    fixture_id: g
    template: t
    route: {region: south}
    # file: policies/p.yaml
    policy_id: p
    version: 1
    gates: {prefix: {stable_over: template}}

Good:

    # file: templates/t.yaml
    template_id: t
    version: 1
    provider: text
    route: [region]
    sections:
      - {id: policy, source: literal, text: Answer briefly., cacheable: true}
      - {id: clock, source: literal, text: "Region {{region}}.", kind: policy}
    # file: tests/fixtures/f.yaml
    fixture_id: f
    template: t
    route: {region: north}
    # file: tests/fixtures/g.yaml
    fixture_id: g
    template: t
    route: {region: south}
    # file: policies/p.yaml
    policy_id: p
    version: 1
    gates: {prefix: {stable_over: template}}

Mend: Move what changes behind the prefix (into a section that is not `cacheable`), or give it a profile of its own.
"""

from __future__ import annotations

from collections.abc import Iterator

from ctxc.base.spans import Origin
from ctxc.model.finding import Finding
from ctxc.model.measured import Measured
from ctxc.rules._ground import origin_of, selected, settings, told
from ctxc.rules._variables import by_variables, differing_variables
from ctxc.rules.engine import Context, rule

Group = tuple[str, ...]


def group_of(measured: Measured, over: str) -> Group:
    """What fixtures have to have in common to share a prefix."""
    sent = (measured.provider, measured.model)
    if over == "template":
        return (measured.template, measured.template_version, *sent)
    # Fixtures without a request profile share what their template says.
    return (measured.template, measured.template_version, measured.profile, measured.profile_version, *sent)


def differing(one: Measured, other: Measured) -> tuple[str, int] | None:
    """The first stable segment in which two prefixes differ, and how many before it are the same."""
    for number, (mine, its) in enumerate(zip(one.stretches, other.stretches, strict=False)):
        if mine != its:
            return its.id, number
    if len(one.stretches) != len(other.stretches):
        shorter = min(len(one.stretches), len(other.stretches))
        longer = max(one.stretches, other.stretches, key=len)
        return longer[shorter].id, shorter
    return None


def check(context: Context) -> Iterator[Finding]:
    """Groups of fixtures whose stable segments are not byte-identical; each group once, at the section that differs."""
    for policy, prefix in settings(context, "prefix"):
        over = prefix.get("stable_over", "request_profile")
        if over == "ignore":
            continue
        groups: dict[Group, list[Measured]] = {}
        for measured in selected(context, policy, prefix.get("where", {})):
            groups.setdefault(group_of(measured, over), []).append(measured)
        for members in groups.values():
            first = members[0]
            others = [(m, d) for m in members[1:] if (d := differing(first, m)) is not None]
            if not others:
                continue
            other, (name, same) = min(others, key=lambda pair: pair[1][1])
            section = next((s for s in other.sections if s.id == name), None) or next(
                (s for s in first.sections if s.id == name), None
            )
            shared = {s.id for s in first.stretches[:same]}
            stable = sum(s.tokens for s in first.sections if s.id in shared)
            place = Origin(section.path, section.pointer) if section is not None else origin_of(context, other.fixture)
            pair = ((context.project, first), (context.project, other))
            names = differing_variables(*pair, section) if section is not None else ()
            yield told(
                context,
                RULE,
                policy,
                ("prefix", "stable_over") if "stable_over" in prefix else ("prefix",),
                f"the prefix of {first.profile or first.template} is not the same in {first.fixture!r} and "
                f"{other.fixture!r}: section {name!r}{by_variables(names)} is the first that differs, "
                f"{stable:,} tokens are stable",
                at=place,
                help="move what changes behind the prefix, or give it a request profile of its own",
                fixture=other.fixture,
                related=[(origin_of(context, first.fixture), f"fixture {first.fixture}")],
                data={
                    "section": name,
                    "variables": list(names),
                    "stable_tokens": stable,
                    "fixtures": [m.fixture for m, _ in others],
                },
            )


RULE = rule(__name__, __doc__, check, needs="packages")
