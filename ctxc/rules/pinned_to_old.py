"""A reference that is pinned to a version which is not the last.

Why: That may be meant, for a while; pins that nobody looks at keep old text in production.

Bad:

    # file: templates/t1.yaml
    template_id: t
    version: 1
    sections:
      - {id: policy, source: literal, text: Answer briefly.}
    # file: templates/t2.yaml
    template_id: t
    version: 2
    sections:
      - {id: policy, source: literal, text: Answer in one sentence.}
    # file: tests/fixtures/f.yaml
    fixture_id: f
    template: t@1

Good:

    # file: templates/t1.yaml
    template_id: t
    version: 1
    sections:
      - {id: policy, source: literal, text: Answer briefly.}
    # file: templates/t2.yaml
    template_id: t
    version: 2
    sections:
      - {id: policy, source: literal, text: Answer in one sentence.}
    # file: tests/fixtures/f.yaml
    fixture_id: f
    template: t@2

Mend: Pin the newer version, or remove the older one when nothing needs it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from ctxc.base.spans import Origin
from ctxc.model.finding import Finding
from ctxc.model.lookup import Versioned, candidates
from ctxc.rules._texts import templates
from ctxc.rules.engine import Context, rule


def check(context: Context) -> Iterator[Finding]:
    """References with a version, against the versions that there are."""
    for kind, index, name, at in _references(context):
        if "@" not in name:
            continue
        found = candidates(index, name)
        versions = index.get(found[-1].id, ()) if found else ()
        if len(versions) > 1 and found[-1] is not versions[-1]:
            yield RULE.finding(
                context,
                f"{kind} {name!r} is pinned; the last version is {versions[-1].version or 'without a number'}",
                at=at,
                help=f"pin {found[-1].id}@{versions[-1].version} when nothing needs the older one",
            )


def _references(context: Context) -> Iterator[tuple[str, Mapping[str, Sequence[Versioned]], str, Origin]]:
    project = context.project
    for template in templates(context):
        yield "contract", project.contracts, template.output_contract, template.at("output_contract")
        yield "request profile", project.profiles, template.request_profile, template.at("request_profile")
        yield "template", project.templates, template.extends, template.at("extends")
    for profile in (p for versions in project.profiles.values() for p in versions):
        yield "tool set", project.toolsets, profile.toolset, profile.origin.child("toolset")
        yield "contract", project.contracts, profile.output_contract, profile.origin.child("output_contract")
    for fixture in project.fixtures.values():
        yield "template", project.templates, fixture.template, fixture.origin.child("template")
        yield "request profile", project.profiles, fixture.request_profile, fixture.origin.child("request_profile")


RULE = rule(__name__, __doc__, check, tier="strict")
