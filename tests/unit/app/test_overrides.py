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
