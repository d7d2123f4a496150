"""The lock files that a gate ratchets by, written on purpose: ``ctxc gate --update-locks``.

Without being told to, a lock only tightens: budgets shrink, new fixtures and tools are taken in, what is gone is taken
out. More tokens, another tokenizer or another definition of a tool need ``accept``. Nothing is written where ``CI`` is
set: what judges a change is not written by the job that judges it.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import field
from typing import TYPE_CHECKING

from ctxc.app.gates._request import in_ci
from ctxc.app.gates._side import GateSide
from ctxc.base.errors import NothingMatched, UnreadableSource, UsageError
from ctxc.base.values import dataclass
from ctxc.model.measured import Measured
from ctxc.rules._locks import (
    BUDGETS,
    BUDGETS_SCHEMA,
    TOOLS,
    TOOLS_SCHEMA,
    BudgetLock,
    Locked,
    Pin,
    ToolLock,
    read_budgets,
    read_tools,
)

if TYPE_CHECKING:
    from ctxc.app.workspace import Workspace
    from ctxc.model.contract import Policy
    from ctxc.model.project import Project


@dataclass(frozen=True, slots=True, kw_only=True)
class LockUpdate:
    """What became of one lock file: names that are new, tightened (a budget), gone, loosened, and refused.

    ``text`` is what the file holds now; ``refused`` are those that would have been loosened and were not.
    """

    path: str
    text: str
    added: tuple[str, ...] = ()
    tightened: tuple[str, ...] = ()
    loosened: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
    refused: tuple[str, ...] = ()
    entries: int = 0


def update_locks(workspace: Workspace, *, accept: bool, now: str) -> tuple[LockUpdate, ...]:
    """Write the lock files that are there or that a policy asks for.

    Raises UsageError where ``CI`` is set, UnreadableSource for a lock that cannot be read, NothingMatched where there
    is nothing to lock.
    """
    if in_ci(workspace.environment):
        raise UsageError("locks are not written where CI is set", help="update them in a checkout and commit them")
    from ctxc.app.output import write_text

    side = GateSide(workspace.tree, workspace.settings, workspace.store, kept=workspace.cache is not None)
    found = []
    budgets, tools = read_budgets(workspace.tree), read_tools(workspace.tree)
    for path, lock in ((BUDGETS, budgets), (TOOLS, tools)):
        if lock is not None and lock.fault:
            raise UnreadableSource(
                f"{path} cannot be read: {lock.fault}", help="mend it, or restore it from git", location=lock.at()
            )
    policies = [versions[-1] for versions in side.project.policies.values()]
    if budgets is not None or any(_wants(p, "budget", "ratchet") for p in policies):
        found.append(_budgets(side.measured, budgets or BudgetLock(), accept=accept))
    if tools is not None or any(_wants(p, "tools", "pins") for p in policies):
        found.append(_tools(side.project, tools or ToolLock(), accept=accept, now=now))
    if not found:
        raise NothingMatched(
            "no policy asks for a lock, and there is none",
            help="`budget: {ratchet: true}` or `tools: {pins: require}` under `gates:` of a policy asks for one",
        )
    for update in found:
        write_text(workspace.root / update.path, update.text)
    workspace.close()
    return tuple(found)


def _wants(policy: Policy, step: str, key: str) -> bool:
    value = policy.gates.get(step)
    return isinstance(value, Mapping) and value.get(key) not in (None, False)


@dataclass(slots=True)
class _Told:
    """Names by what became of them."""

    added: list[str] = field(default_factory=list)
    tightened: list[str] = field(default_factory=list)
    loosened: list[str] = field(default_factory=list)
    removed: list[str] = field(default_factory=list)
    refused: list[str] = field(default_factory=list)

    def update(self, path: str, text: str, entries: int) -> LockUpdate:
        return LockUpdate(
            path=path,
            text=text,
            added=tuple(self.added),
            tightened=tuple(self.tightened),
            loosened=tuple(self.loosened),
            removed=tuple(self.removed),
            refused=tuple(self.refused),
            entries=entries,
        )


# --- budgets ---------------------------------------------------------------------------------------------------------


def _budgets(measured: Mapping[str, Measured], lock: BudgetLock, *, accept: bool) -> LockUpdate:
    told, fixtures = _Told(), dict[str, Locked]()
    for name, one in measured.items():
        if one.tokens is None:
            continue
        now = Locked(tokens=one.tokens, tokenizer=one.tokenizer, method=one.method)
        before = lock.fixtures.get(name)
        if before is None:
            told.added.append(name)
        elif before != now:
            comparable = (before.tokenizer, before.method) == (now.tokenizer, now.method)
            if comparable and now.tokens < before.tokens:
                told.tightened.append(name)
            elif accept:
                told.loosened.append(name)
            else:
                told.refused.append(name)
                now = before
        fixtures[name] = now
    told.removed = sorted(lock.fixtures.keys() - fixtures.keys())
    return told.update(BUDGETS, budgets_text(fixtures), len(fixtures))


def budgets_text(fixtures: Mapping[str, Locked]) -> str:
    """``budgets.lock``: a fixture a line, sorted, so that git merges it."""
    value = {
        "schema": BUDGETS_SCHEMA,
        "fixtures": {
            name: {"tokens": one.tokens, "tokenizer": one.tokenizer, "method": one.method}
            for name, one in sorted(fixtures.items())
        },
    }
    return _lines(value, "fixtures")


# --- tools -----------------------------------------------------------------------------------------------------------


def _tools(project: Project, lock: ToolLock, *, accept: bool, now: str) -> LockUpdate:
    from ctxc.rules._pinned import digest_of, each_tool, named

    told, pins = _Told(), list[Pin]()
    there: set[tuple[str, str]] = set()
    for toolset, tool in each_tool(project):
        key = (named(toolset), tool.name)
        there.add(key)
        name = f"{key[0]}/{key[1]}"
        digest = digest_of(tool)
        known = lock.pins.get(key, ())
        same = [p for p in known if p.digest == digest]
        fresh = Pin(toolset=key[0], name=key[1], version=toolset.version, digest=digest, date=now)
        if same:
            pins += same
        elif not known:
            told.added.append(name)
            pins.append(fresh)
        elif accept:
            told.loosened.append(name)
            pins.append(fresh)
        else:
            told.refused.append(name)
            pins += known
    told.removed = sorted(f"{s}/{n}" for s, n in lock.pins.keys() - there)
    return told.update(TOOLS, tools_text(pins), len(pins))


def tools_text(pins: Iterable[Pin]) -> str:
    """``tools.lock.json``: a tool a line, sorted by set, name and digest."""
    rows = []
    for pin in sorted(pins, key=lambda p: (p.toolset, p.name, p.digest)):
        more = {"trust": pin.trust, "approved_by": pin.approved_by, "date": pin.date}
        needed = {"toolset": pin.toolset, "name": pin.name, "version": pin.version, "sha256": pin.digest}
        rows.append(needed | {k: v for k, v in more.items() if v})
    return _lines({"schema": TOOLS_SCHEMA, "tools": rows}, "tools")


def _lines(value: Mapping[str, object], spread: str) -> str:
    """JSON with each entry of one key on a line of its own."""
    from ctxc.base.canonical import canonical
    from ctxc.base.escaping import inert_json

    inner = value[spread]
    if isinstance(inner, Mapping):
        rows = [f"{json.dumps(k, ensure_ascii=False)}: {canonical(v)}" for k, v in inner.items()]
        opening, closing = "{", "}"
    else:
        assert isinstance(inner, list)
        rows = [canonical(v) for v in inner]
        opening, closing = "[", "]"
    body = ",\n".join(f"  {row}" for row in rows)
    middle = f"{opening}\n{body}\n {closing}" if rows else f"{opening}{closing}"
    return inert_json(f'{{\n "schema": {json.dumps(value["schema"])},\n "{spread}": {middle}\n}}\n')
