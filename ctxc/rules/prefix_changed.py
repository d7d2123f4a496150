"""The static prefix is not what it was at the base, and no version says that this was meant.

Why: A changed prefix is paid once more by every request in flight, and silently: the answers stay right. A new version
of the template or of the request profile says that somebody knew.

Bad:

    # file: templates/t.yaml
    template_id: t
    version: 1
    provider: text
    sections:
      - {id: policy, source: literal, text: Answer briefly and kindly., cacheable: true}
    # file: base/templates/t.yaml
    template_id: t
    version: 1
    provider: text
    sections:
      - {id: policy, source: literal, text: Answer briefly., cacheable: true}
    # file: tests/fixtures/f.yaml
    fixture_id: f
    template: t
    # file: policies/p.yaml
    policy_id: p
    version: 1
    gates: {prefix: {against_base: require_version_bump}}

Good:

    # file: templates/t.yaml
    template_id: t
    version: 2
    provider: text
    sections:
      - {id: policy, source: literal, text: Answer briefly and kindly., cacheable: true}
    # file: base/templates/t.yaml
    template_id: t
    version: 1
    provider: text
    sections:
      - {id: policy, source: literal, text: Answer briefly., cacheable: true}
    # file: tests/fixtures/f.yaml
    fixture_id: f
    template: t
    # file: policies/p.yaml
    policy_id: p
    version: 1
    gates: {prefix: {against_base: require_version_bump}}

Mend: Raise the version of the template or of the request profile, or take the change back. `ctxc diff` shows the first
byte.
"""

from __future__ import annotations

from collections.abc import Iterator

from ctxc.base.spans import Location, Origin, Span
from ctxc.model.change import Prefix
from ctxc.model.finding import Finding
from ctxc.model.measured import Measured
from ctxc.rules._ground import ground, origin_of, selected, settings, told
from ctxc.rules._variables import by_variables, differing_variables
from ctxc.rules.engine import Context, rule
from ctxc.rules.prefix_unstable import differing


def check(context: Context) -> Iterator[Finding]:
    """Fixtures whose stable segments are not those of the base; each section that moved them once."""
    base = ground(context).base
    if base is None:
        return
    for policy, prefix in settings(context, "prefix"):
        wanted = prefix.get("against_base", "require_version_bump")
        if wanted == "ignore":
            continue
        moved: dict[tuple[str, str], list[tuple[Measured, Measured]]] = {}
        for measured in selected(context, policy, prefix.get("where", {})):
            before = base.get(measured.fixture)
            if before is None or not before.has_request:
                continue
            found = differing(before, measured)
            if found is None or (wanted == "require_version_bump" and _is_bumped(before, measured)):
                continue
            moved.setdefault((measured.template, found[0]), []).append((before, measured))
        for (_, name), pairs in sorted(moved.items()):
            before, measured = pairs[0]
            told_change = _told(context, measured.fixture)
            lost = sum(
                change.lost_tokens if (change := _told(context, m.fixture)) is not None else b.prefix for b, m in pairs
            )
            what = "no version was raised" if wanted == "require_version_bump" else "the policy wants it unchanged"
            names = _variables(context, before, measured, name)
            yield told(
                context,
                RULE,
                policy,
                ("prefix", "against_base") if "against_base" in prefix else ("prefix",),
                f"the cached prefix of {measured.profile or measured.template} changed in section "
                f"{name!r}{by_variables(names)} and {what}: "
                f"{lost:,} tokens lose their cache in {len(pairs):,} fixture{'s' if len(pairs) > 1 else ''}",
                at=_place(context, measured, name, told_change),
                help=f"raise the version of template {measured.template!r}"
                + (f" or of request profile {measured.profile!r}" if measured.profile else "")
                + ", or take the change back",
                fixture=measured.fixture,
                data={
                    "section": name,
                    "variables": list(names),
                    "lost_tokens": lost,
                    "fixtures": [m.fixture for _, m in pairs],
                },
            )


def _is_bumped(before: Measured, after: Measured) -> bool:
    """Whether a version says that the prefix was meant to change: another template or profile, or a new version."""
    return (before.template, before.template_version, before.profile, before.profile_version) != (
        after.template,
        after.template_version,
        after.profile,
        after.profile_version,
    )


def _told(context: Context, fixture: str) -> Prefix | None:
    change = ground(context).change
    found = next((f for f in change.fixtures if f.fixture_id == fixture), None) if change is not None else None
    return found.prefix if found is not None else None


def _variables(context: Context, before: Measured, measured: Measured, name: str) -> tuple[str, ...]:
    """The variables that moved the section."""
    base = ground(context).base_project
    section = next((s for s in measured.sections if s.id == name), None)
    if base is None or section is None:
        return ()
    return differing_variables((base, before), (context.project, measured), section)


def _place(context: Context, measured: Measured, name: str, change: Prefix | None) -> Origin | Location:
    first = change.first_difference if change is not None else None
    if first is not None and first.path and first.line is not None:
        return Location(first.path, Span(first.line, 1, first.line, 1))
    section = next((s for s in measured.sections if s.id == name), None)
    return Origin(section.path, section.pointer) if section is not None else origin_of(context, measured.fixture)


RULE = rule(__name__, __doc__, check, needs="change")
