"""What a provider's prompt cache makes of a project's requests, or of a log of requests that were sent."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal

from ctxc.app.conversation import AGAIN, Series, series_of
from ctxc.app.raw import Logged, Target, as_text, find_target, read_bytes, read_log
from ctxc.app.selection import Selection
from ctxc.model.usage import Sent
from ctxc.usage.layout import lay_out
from ctxc.usage.price import read_prices
from ctxc.usage.recognise import stores_prefix
from ctxc.usage.recorded import read_usage
from ctxc.usage.sequence import Assessment, assess

if TYPE_CHECKING:
    from ctxc.app.workspace import Workspace

Start = Literal["auto", "cold", "warm"]
"""What was in the cache before the first call: nothing, that very call, or what its recorded usage says."""


def assess_fixtures(
    workspace: Workspace,
    selection: Selection,
    *,
    provider: str = "",
    model: str = "",
    tokenizer: str = "",
    start: Start = "auto",
) -> tuple[Assessment, ...]:
    """One assessment for each conversation and each template's traffic; raises NothingMatched where nothing is."""
    series = series_of(workspace, selection, provider=provider, model=model, tokenizer=tokenizer)
    found = tuple(_assess(s, start) for s in series)
    workspace.close()
    return found


def _assess(series: Series, start: Start) -> Assessment:
    from ctxc import providers

    target = series.target
    return assess(
        series.sent,
        id=series.id,
        kind=series.kind,
        profile=target.profile,
        row=target.row,
        model=target.model,
        tokenizer=target.tokenizer,
        prices=read_prices(providers.prices_of(target.row, target.model)),
        warm=series.sent[:1] if start == "warm" else (),
        notes=series.notes,
    )


def assess_log(
    workspace: Workspace,
    path: str,
    *,
    provider: str = "",
    model: str = "",
    tokenizer: str = "",
    start: Start = "auto",
    stdin: bytes | None = None,
) -> tuple[Assessment, ...]:
    """A log of raw requests, one assessment for each model that it asks; raises UnreadableSource and UsageError."""
    from ctxc import providers

    lines = read_log(as_text(read_bytes(path, stdin), path), path)
    groups: dict[tuple[str, str, str], list[tuple[Logged, Target]]] = {}
    for line in lines:
        target = find_target(
            workspace, provider=provider, model=model, tokenizer=tokenizer, request=line.request, url=line.url
        )
        groups.setdefault((target.profile.id, target.row.pattern, target.tokenizer.id), []).append((line, target))
    found = []
    for members in groups.values():
        target = members[0][1]
        texts = [text for line, _ in members for text in target.shape.texts(line.request)]
        target.tokenizer.count_many(texts)
        sent = [_sent(line, target) for line, _ in members]
        warm, notes = _warm(sent, start)
        found.append(
            assess(
                sent,
                id=path if len(groups) == 1 else f"{path}: {target.model}",
                kind="log",
                profile=target.profile,
                row=target.row,
                model=target.model,
                tokenizer=target.tokenizer,
                prices=read_prices(providers.prices_of(target.row, target.model)),
                warm=warm,
                notes=notes,
            )
        )
    workspace.close()
    return tuple(found)


def _sent(line: Logged, target: Target) -> Sent:
    recorded = read_usage(line.usage) if line.usage is not None else None
    ttl = line.request.get("ttl")
    creates = stores_prefix(line.request, line.url)
    return Sent(
        id=line.id or f"line {line.number}",
        layout=lay_out(line.request, target.shape, target.row, target.tokenizer),
        at=line.at,
        weight=line.weight,
        output=recorded.output if recorded is not None else 0,
        recorded=recorded,
        creates=creates,
        ttl=ttl if creates and isinstance(ttl, str) else "",
    )


def _warm(sent: Sequence[Sent], start: Start) -> tuple[tuple[Sent, ...], tuple[str, ...]]:
    """What came before the log: its first request, where that is said or its recorded usage shows that it was read."""
    first = sent[0]
    if start == "warm":
        return (first,), ()
    recorded = first.recorded
    if start == "auto" and recorded is not None and recorded.read and not recorded.written:
        note = f"the log begins warm: its first call read {recorded.read:,} tokens, so the same request came before it"
        return (first,), (note,)
    return (), ()


def explain_cache(workspace: Workspace, fixture_id: str, *, provider: str = "", model: str = "") -> Assessment:
    """The last call of an assessment is the fixture: after the earlier turns of its conversation, or after the other
    fixtures of its template. Raises NothingMatched for an id that is not there."""
    from dataclasses import replace

    from ctxc.app.api import find_fixture
    from ctxc.base.errors import UsageError

    fixture = find_fixture(workspace.project, fixture_id)
    if fixture.conversation:
        selection = Selection(fixtures=(fixture.id,))
    else:
        selection = Selection(templates=(fixture.template.partition("@")[0],))
    series = series_of(workspace, selection, provider=provider, model=model)
    for one in series:
        mine = [s for s in one.sent if s.id == fixture.id]
        if mine:
            before = [s for s in one.sent if s.id != fixture.id and not s.id.endswith(AGAIN)]
            found = _assess(replace(one, sent=(*before, *mine), notes=()), "auto")
            workspace.close()
            return found
    workspace.close()
    raise UsageError(
        f"fixture {fixture_id!r} sends no request: there is nothing to cache",
        help=f"`ctxc explain {fixture_id}` shows how its compile ends",
    )
