"""A model or provider that nothing knows is wrong usage."""

from __future__ import annotations

import pytest
from world import fixture, project, provider, spec

from ctxc.app.overrides import check_overrides
from ctxc.base.errors import UsageError


def made():
    from dataclasses import replace

    one = provider("openai")
    row = replace(one.models[0], pattern="gpt-*")
    base = project(sections=[spec("task")], providers=(replace(one, models=(row,)),))
    return replace(base, fixtures={"f": fixture(user="hi")})


@pytest.mark.parametrize(("name", "model"), [("", "gpt-9"), ("openai", "gpt-9"), ("openai", "")])
def test_what_is_known_passes(name, model):
    check_overrides(made(), name, model)


@pytest.mark.parametrize(
    ("name", "model", "said"),
    [
        ("opnai", "", "Did you mean 'openai'?"),
        ("", "claude-9", "openai knows no model 'claude-9'"),
        ("openai", "claude-9", "openai knows no model 'claude-9'"),
    ],
)
def test_what_nothing_knows_is_wrong_usage(name, model, said):
    with pytest.raises(UsageError) as caught:
        check_overrides(made(), name, model)
    assert said in caught.value.message
    assert caught.value.exit_status == 2


def test_a_model_of_another_provider_is_told_with_that_provider():
    from dataclasses import replace

    base = made()
    other = provider("anthropic")
    other = replace(other, models=(replace(other.models[0], pattern="claude-*"),))
    any_model = provider("local")  # a profile for every model knows none by its name
    project = replace(base, providers={**base.providers, "anthropic": other, "local": any_model})
    with pytest.raises(UsageError) as caught:
        check_overrides(project, "openai", "claude-9")
    assert (caught.value.message, caught.value.help) == (
        "openai knows no model 'claude-9'.",
        "pass --provider anthropic",
    )
