"""Fixtures of one request profile that are sent to different models.

Why: A request profile is one byte-stable prefix. A cache belongs to a model: with every other model the prefix is
written again.

Bad:

    # file: templates/t.yaml
    template_id: t
    version: 1
    provider: openai
    model: gpt-4.1
    request_profile: desk
    sections:
      - {id: policy, source: literal, text: Answer briefly., cacheable: true}
    # file: templates/desk.yaml
    profile_id: desk
    version: 1
    static: [policy]
    # file: tests/fixtures/a.yaml
    fixture_id: a
    template: t
    # file: tests/fixtures/b.yaml
    fixture_id: b
    template: t
    provider: anthropic
    model: claude-sonnet-4-5

Good:

    # file: templates/t.yaml
    template_id: t
    version: 1
    provider: openai
    model: gpt-4.1
    request_profile: desk
    sections:
      - {id: policy, source: literal, text: Answer briefly., cacheable: true}
    # file: templates/desk.yaml
    profile_id: desk
    version: 1
    static: [policy]
    # file: tests/fixtures/a.yaml
    fixture_id: a
    template: t

Mend: Publish a profile for each model, or send all of its fixtures to one.
"""

from __future__ import annotations

from collections.abc import Iterator

from ctxc.model.finding import Finding
from ctxc.model.fixture import Fixture
from ctxc.model.lookup import candidates
from ctxc.rules._counts import target_of
from ctxc.rules.engine import Context, rule


def check(context: Context) -> Iterator[Finding]:
    """Fixtures by request profile and template, with the model that each is sent to."""
    first: dict[tuple[str, str], tuple[str, Fixture]] = {}
    for fixture in context.project.fixtures.values():
        named = candidates(context.project.templates, fixture.template)
        if not named:
            continue
        template = named[-1]
        profile = fixture.request_profile or template.request_profile
        found = target_of(context, template, fixture)
        if not profile or found is None:
            continue
        model, known = first.setdefault((profile, template.id), (found.model, fixture))
        if model != found.model:
            yield RULE.finding(
                context,
                f"profile {profile!r} is sent to {found.model} here and to {model} by fixture {known.id!r}",
                at=fixture.origin.child("model" if fixture.model else "provider" if fixture.provider else "template"),
                help="publish a profile for each model",
                fixture=fixture.id,
                data={"profile": profile, "models": sorted({model, found.model})},
            )


RULE = rule(__name__, __doc__, check, tier="strict", detectors=("R10",))
