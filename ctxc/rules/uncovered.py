"""A template, request profile, route or fragment that no fixture reaches.

Why: No gate judges what no fixture shows: a change to it passes everything.

Bad:

    # file: templates/t.yaml
    template_id: t
    version: 1
    provider: text
    sections:
      - {id: policy, source: literal, text: Answer briefly.}
    # file: templates/u.yaml
    template_id: u
    version: 1
    provider: text
    sections:
      - {id: policy, source: literal, text: Answer at length.}
    # file: tests/fixtures/f.yaml
    fixture_id: f
    template: t
    # file: policies/p.yaml
    policy_id: p
    version: 1
    gates: {coverage: {kinds: [template]}}

Good:

    # file: templates/t.yaml
    template_id: t
    version: 1
    provider: text
    sections:
      - {id: policy, source: literal, text: Answer briefly.}
    # file: tests/fixtures/f.yaml
    fixture_id: f
    template: t
    # file: policies/p.yaml
    policy_id: p
    version: 1
    gates: {coverage: {kinds: [template]}}

Mend: Add a fixture that reaches it, take it out, or name it under `except`.
"""

from __future__ import annotations

from collections.abc import Iterator

from ctxc.base.spans import Origin
from ctxc.model.contract import Policy
from ctxc.model.finding import Finding
from ctxc.model.fragment import LoadMode
from ctxc.model.project import Project
from ctxc.rules._ground import fits, ground, of_fixture, settings, told
from ctxc.rules._known import FIXTURES, all_known
from ctxc.rules.engine import Context, rule

KINDS = ("template", "request_profile", "route", "fragment")
_NEVER_LOADED = (LoadMode.AUTO_CANDIDATE, LoadMode.ISOLATED)

Thing = tuple[str, str, Origin]


def things(project: Project) -> Iterator[Thing]:
    """Everything that can be reached: kind, name, place. A route is a value that some fragment waits for."""
    for name, templates in sorted(project.templates.items()):
        yield "template", name, templates[-1].origin.child("template_id")
    for name, profiles in sorted(project.profiles.items()):
        yield "request_profile", name, profiles[-1].origin.child("profile_id")
    routes: dict[str, Origin] = {}
    for name, versions in sorted(project.fragments.items()):
        fragment = versions[-1]
        if fragment.load_mode not in _NEVER_LOADED:
            yield "fragment", name, fragment.origin.child("fragment_id")
        for key, values in fragment.applies_when.items():
            for value in values if key != "files" else ():
                routes.setdefault(f"{key}={value}", fragment.origin.child("applies_when", key))
    for name, origin in sorted(routes.items()):
        yield "route", name, origin


def reached(context: Context) -> frozenset[tuple[str, str]]:
    """Kind and name of what the fixtures reach."""
    found: set[tuple[str, str]] = set()
    for measured in ground(context).head.values():
        found.add(("template", measured.template))
        found.add(("request_profile", measured.profile))
        found.update(("fragment", name) for name in measured.fragments)
        # One whose text is empty is in no request, but a fixture that brings it in is there.
        found.update(("fragment", s.partition("/")[2]) for s, _, reason in measured.dropped if reason == "empty")
        found.update(("route", f"{key}={value}") for key, values in measured.route.items() for value in values)
    return frozenset(found)


def asked(context: Context) -> Iterator[tuple[Policy, Thing]]:
    """What has to be reached, by the policies that ask for it."""
    for policy, coverage in settings(context, "coverage"):
        kinds, excepted = coverage.get("kinds", KINDS), frozenset(coverage.get("except", ()))
        for kind, name, origin in things(context.project):
            if kind not in kinds or name in excepted:
                continue
            if kind in ("template", "request_profile") and not _speaks_of(policy.where, kind, name):
                continue
            if kind in ("fragment", "route") and policy.where and not _same_folder(context, policy.where, origin):
                continue
            yield policy, (kind, name, origin)


def all_seen(context: Context) -> bool:
    """Whether every fixture was loaded, with all that it names, and has the request that it expects: what was not
    or has none for once may show anything."""
    missing = any(not m.has_request and m.outcome != m.expected for m in ground(context).head.values())
    return not missing and all_known(context, "template", "profile", "fragment", *FIXTURES)


def check(context: Context) -> Iterator[Finding]:
    """What no fixture reaches, of the kinds that a policy names."""
    if not all_seen(context):
        return
    there = reached(context)
    for policy, (kind, name, origin) in asked(context):
        if (kind, name) in there:
            continue
        yield told(
            context,
            RULE,
            policy,
            ("coverage",),
            f"no fixture reaches {kind.replace('_', ' ')} {name!r}",
            at=origin,
            help="add a fixture that reaches it, take it out, or name it under `except`",
            data={"kind": kind, "id": name},
        )


def _speaks_of(where: object, kind: str, name: str) -> bool:
    wanted = of_fixture(where) if isinstance(where, dict) else {}
    return kind not in wanted or fits({kind: wanted[kind]}, {kind: (name,)})


def _same_folder(context: Context, where: object, origin: Origin) -> bool:
    """Whether fragments of this file are shown by a template of which the policy speaks."""
    wanted = of_fixture(where) if isinstance(where, dict) else {}
    if "template" not in wanted:
        return True
    shown = [
        m for m in ground(context).head.values() if fits({"template": wanted["template"]}, {"template": (m.template,)})
    ]
    paths = {
        context.project.fragments[f][-1].origin.path
        for m in shown
        for f in m.fragments
        if f in context.project.fragments
    }
    return origin.path in paths


RULE = rule(__name__, __doc__, check, needs="packages")
