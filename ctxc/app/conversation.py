"""Conversations and traffic of a project: their fixtures compiled in order and laid out as a cache sees them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from ctxc.app.naming import lost_fixtures
from ctxc.app.raw import Target, seconds_of
from ctxc.app.selection import Selection
from ctxc.base.errors import NothingMatched
from ctxc.base.values import dataclass
from ctxc.model.package import Package
from ctxc.model.usage import Block, Sent

if TYPE_CHECKING:
    from ctxc.app.workspace import Workspace
    from ctxc.compiler.pipeline import Compiler
    from ctxc.model.fixture import Fixture


AGAIN = " (again)"
"""What is added to the id of a fixture for further requests of its kind."""

_SHOWN = 5  # fixtures that send nothing, named where none sends anything


@dataclass(frozen=True, slots=True, kw_only=True)
class Series:
    """Requests of one model in order: the turns of a conversation, or the fixtures of one template."""

    id: str
    kind: str  # conversation | traffic
    target: Target
    sent: tuple[Sent, ...]
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class _Compiled:
    fixture: Fixture
    package: Package
    target: Target | None


def series_of(
    workspace: Workspace, selection: Selection, *, provider: str = "", model: str = "", tokenizer: str = ""
) -> tuple[Series, ...]:
    """Every conversation that is selected, and the other fixtures by template and model as traffic with weights.

    A turn of a conversation stands for the turns before it: it is played with all of them. Raises NothingMatched where
    nothing is selected.
    """
    from ctxc.compiler.stage import Options

    project = workspace.project
    known = [_Chosen(f) for f in project.fixtures.values()]
    selection.check(known, project.findings, workspace.settings.fixtures[0], lost=lost_fixtures(project))
    compiler = workspace.compiler(Options(provider=provider, model=model))
    wanted = [c.fixture for c in known if selection.holds(c)]
    found: list[Series] = []
    silent: list[str] = []
    for name in dict.fromkeys(f.conversation for f in wanted if f.conversation):
        upto = max(f.turn for f in wanted if f.conversation == name)
        turns = project.conversations[name].turns[: upto + 1]
        compiled = [_compile(workspace, compiler, t, tokenizer) for t in turns]
        played = _conversation(name, compiled)
        found += played
        if not played:
            silent += [_why(t) for t in compiled]
    groups: dict[tuple[str, str, str], list[_Compiled]] = {}
    for fixture in wanted:
        if fixture.conversation:
            continue
        one = _compile(workspace, compiler, fixture, tokenizer)
        if one.target is None:
            silent.append(_why(one))
            continue
        groups.setdefault((fixture.template, one.target.profile.id, one.target.model), []).append(one)
    for (template, _, _), members in groups.items():
        found.append(_traffic(template, members))
    if not found and (wanted or not selection.allow_empty):
        raise NothingMatched(
            "none of these fixtures sends a request: there is nothing to cache", help="; ".join(silent[:_SHOWN])
        )
    if silent and found:
        found[-1] = replace(found[-1], notes=(*found[-1].notes, *silent))
    return tuple(found)


@dataclass(frozen=True, slots=True)
class _Chosen:
    """A fixture as a selection looks at it."""

    fixture: Fixture

    @property
    def fixture_id(self) -> str:
        return self.fixture.id

    @property
    def template(self) -> str:
        return self.fixture.template

    @property
    def conversation(self) -> str:
        return self.fixture.conversation


def _compile(workspace: Workspace, compiler: Compiler, fixture: Fixture, tokenizer: str) -> _Compiled:
    from ctxc import providers
    from ctxc.app.tokenizers import reference

    package = compiler.compile(fixture)
    if package.request is None:
        return _Compiled(fixture=fixture, package=package, target=None)
    named = package.snapshot["provider"]
    profile = compiler.project.providers[named["id"]]
    row = providers.find_row(profile, named["model"])
    assert row is not None  # the compile found it
    return _Compiled(
        fixture=fixture,
        package=package,
        target=Target(
            profile=profile,
            row=row,
            model=named["model"],
            tokenizer=workspace.tokenizer(reference(row, tokenizer)),
            shape=providers.shape(profile.shape),
        ),
    )


def _why(compiled: _Compiled) -> str:
    return f"{compiled.fixture.id}: {compiled.package.outcome.value}, nothing is sent"


def sent_of(
    compiled: _Compiled, *, at: int | None = None, weight: int = 1, output: int = 0, again: bool = False
) -> Sent:
    """A compiled fixture as a request that is sent."""
    from ctxc.usage.layout import lay_out

    target, package = compiled.target, compiled.package
    assert target is not None and package.request is not None
    same = package.count is not None and package.count.tokenizer == target.tokenizer.id
    layout = lay_out(
        package.request,
        target.shape,
        target.row,
        target.tokenizer,
        count=package.count if same else None,
        segments=package.segments,
    )
    name = compiled.fixture.id
    if again:
        name += AGAIN
        layout = replace(layout, blocks=tuple(_other(b) if b.zone == "messages" else b for b in layout.blocks))
    return Sent(id=name, layout=layout, at=at, weight=weight, output=output)


def _other(block: Block) -> Block:
    """A block of the same length that says something else."""
    return block if block.stable else replace(block, wire="\0" + block.wire)


def _conversation(name: str, turns: Sequence[_Compiled]) -> list[Series]:
    """The turns in order; where the model changes on the way, one series for each run of one model."""
    found: list[Series] = []
    notes = tuple(_why(t) for t in turns if t.target is None)
    run: list[Sent] = []
    before: Target | None = None
    for number, turn in enumerate(turns):
        target = turn.target
        if target is None:
            continue
        if before is not None and (before.profile.id, before.model) != (target.profile.id, target.model):
            found.append(_series(name, len(found), before, run, notes))
            run = []
        before = target
        following = turns[number + 1].fixture if number + 1 < len(turns) else None
        run.append(
            sent_of(turn, at=seconds_of(turn.fixture.now), output=_reply_tokens(turn.fixture, following, target))
        )
    if before is not None:
        found.append(_series(name, len(found), before, run, notes))
    return found


def _series(name: str, number: int, target: Target, run: list[Sent], notes: tuple[str, ...]) -> Series:
    label = name if not number else f"{name} ({target.model})"
    return Series(id=label, kind="conversation", target=target, sent=tuple(run), notes=notes)


def _reply_tokens(fixture: Fixture, following: Fixture | None, target: Target) -> int:
    """Tokens of the answer recorded for a turn: what the next one has in its history beyond the user's words."""
    if following is None:
        return 0
    from ctxc import providers

    messages = following.inputs.history[len(fixture.inputs.history) + 1 :]
    texts = [m.content for m in messages if m.role == "assistant" and m.content]
    texts += [text for m in messages if m.role == "assistant" for c in m.tool_calls for text in (c.name, c.arguments)]
    counts = target.tokenizer.count_many(texts)
    return sum(providers.scaled_counts(texts, counts, target.tokenizer, target.row))


def _traffic(template: str, members: Sequence[_Compiled]) -> Series:
    """Each fixture once; then, for the rest of its weight, another request of its kind: the same tools and system text
    with other turns, when everything that they share is cached."""
    first = [sent_of(m) for m in members]
    again = [sent_of(m, weight=m.fixture.weight - 1, again=True) for m in members if m.fixture.weight > 1]
    target = members[0].target
    assert target is not None
    return Series(id=template, kind="traffic", target=target, sent=(*first, *again))
