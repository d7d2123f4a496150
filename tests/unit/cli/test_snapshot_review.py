"""What review asks of a difference."""

from __future__ import annotations

import pytest
import typer

from ctxc.cli.commands import snapshot


@pytest.mark.parametrize(
    ("typed", "taken"), [(["y", "?", "Accept"], "a"), (["s"], "s"), (["QUIT"], "q"), (["yes", "skip"], "s")]
)
def test_an_answer_that_is_none_is_asked_again(monkeypatch: pytest.MonkeyPatch, typed: list[str], taken: str) -> None:
    """Who types y means to accept: to go on to the next difference would lose the answer."""
    left = list(typed)
    monkeypatch.setattr(typer, "prompt", lambda *_args, **_more: left.pop(0))
    assert snapshot._asked() == taken and not left
