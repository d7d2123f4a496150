"""Injection trials: every payload in every untrusted place of every fixture, in every renderer of the project.

A renderer is a wrapper (a template's ``renderer``) with a request shape. A fixture is tried in its own, and in the
other ones of the project that can carry it.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from ctxc.base.values import dataclass
from ctxc.compiler.memo import Memo
from ctxc.compiler.pipeline import Compiler
from ctxc.compiler.resolve import resolve
from ctxc.compiler.stage import Options, Refused
from ctxc.detect.injection import Payload, payloads
from ctxc.model.fixture import Fixture
from ctxc.model.measured import Measured
from ctxc.model.package import Package
from ctxc.providers import shape
from ctxc.rules._containment import Trial
from ctxc.rules._ground import Ground, ground
from ctxc.rules.engine import Context

_SPACE = "injection"
_NAMED = 3  # payloads that one finding names


@dataclass(frozen=True, slots=True, kw_only=True)
class Breach:
    """What broke (``ctxc.rules._containment.Break``), where, in which renderer, and by which payloads."""

    fixture: str
    renderer: str
    what: str
    section: str
    payloads: tuple[str, ...]
    count: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Trials:
    """All breaches, and how much was tried: requests that were made, fixtures, renderers, payloads."""

    breaches: tuple[Breach, ...]
    requests: int
    fixtures: int
    renderers: int
    payloads: int
    places: int


def trials(context: Context) -> Trials:
    """The trials of a run, made once however many rules and policies ask."""
    known = ground(context)
    rows = known.payloads if known.payloads is not None else payloads()
    digest = _digest(rows)
    return known.once(("trials", digest), lambda: _all(context, known, rows, digest))


def _all(context: Context, known: Ground, rows: tuple[Payload, ...], digest: str) -> Trials:
    renderers = _renderers(known)
    runner = _Runner(context, known, rows, renderers)
    breaches: list[Breach] = []
    requests = fixtures = places = 0
    for name in sorted(known.head):
        measured = known.head[name]
        fixture = context.project.fixtures.get(name)
        if not measured.has_request or fixture is None or known.packages is None:
            continue
        if known.affected is not None and name not in known.affected:
            continue
        more = f"{digest}:{sorted(renderers)}"
        text = known.kept.get(_SPACE, [name], more).get(name) if known.kept is not None else None
        kept = _read(text) if text is not None else None
        if kept is None:
            kept = runner.fixture(fixture, measured)
            if known.kept is not None:
                known.kept.put(_SPACE, name, more, _text(kept))
        found, made, held = kept
        breaches.extend(found)
        requests += made
        places += held
        fixtures += 1
    return Trials(
        breaches=tuple(breaches),
        requests=requests,
        fixtures=fixtures,
        renderers=len(renderers),
        payloads=len(rows),
        places=places,
    )


def _digest(rows: tuple[Payload, ...]) -> str:
    from ctxc.base.canonical import digest_json

    return digest_json([[p.id, p.text] for p in rows])


def _renderers(known: Ground) -> dict[tuple[str, str], tuple[str, str]]:
    """Wrapper and shape to one provider and model that uses the shape."""
    found: dict[tuple[str, str], tuple[str, str]] = {}
    for name in sorted(known.head):
        measured = known.head[name]
        if measured.has_request:
            found.setdefault((measured.renderer, measured.shape), (measured.provider, measured.model))
    return found


class _Runner:
    def __init__(
        self,
        context: Context,
        known: Ground,
        rows: tuple[Payload, ...],
        renderers: dict[tuple[str, str], tuple[str, str]],
    ) -> None:
        self._context = context
        self._known = known
        self._rows = rows
        self._renderers = renderers
        self._witnesses: set[Any] = set()
        self._compilers: dict[tuple[str, str], Compiler] = {}
        self._memo = Memo()

    def fixture(self, fixture: Fixture, measured: Measured) -> tuple[list[Breach], int, int]:
        """The breaches of one fixture, the requests that were made for it, and its untrusted places."""
        found: list[Breach] = []
        made = places = 0
        for (renderer, shape_id), (provider, model) in sorted(self._renderers.items()):
            package, options = self._package(fixture, measured, shape_id, provider, model)
            if package is None:
                continue
            try:
                request = resolve(
                    self._context.project,
                    fixture,
                    tokenizers=self._context.tokenizers,
                    shapes=shape,
                    options=options,
                    memo=self._memo,
                )
            except Refused:
                continue
            trial = Trial(request, package, renderer=renderer, witnesses=self._witnesses)
            places = max(places, len(trial.places))
            label = f"{renderer} in {shape_id}"
            broken: dict[tuple[str, str], list[str]] = {key: [] for key in trial.baseline()}
            for name, text in (*trial.own_payloads(), *((r.id, r.text) for r in self._rows)):
                made += 1
                for key in trial.breaks(text):
                    broken.setdefault(key, []).append(name)
            for (what, section), ids in broken.items():
                found.append(
                    Breach(
                        fixture=fixture.id,
                        renderer=label,
                        what=what,
                        section=section,
                        payloads=tuple(ids[:_NAMED]),
                        count=len(ids),
                    )
                )
        return found, made, places

    def _package(
        self, fixture: Fixture, measured: Measured, shape_id: str, provider: str, model: str
    ) -> tuple[Package | None, Options]:
        assert self._known.packages is not None
        if shape_id == measured.shape:
            return self._known.packages(fixture.id), Options()
        options = Options(provider=provider, model=model)
        compiler = self._compilers.get((provider, model))
        if compiler is None:
            compiler = self._compilers[provider, model] = Compiler(
                self._context.project, tokenizers=self._context.tokenizers, shapes=shape, options=options
            )
        # What another provider cannot carry, or what does not fit there, is not sent there.
        quiet = replace(fixture.expect, must_contain=(), must_not_contain=())
        package = compiler.compile(replace(fixture, expect=quiet))
        return (package if package.request is not None else None), options


def _text(kept: tuple[list[Breach], int, int]) -> str:
    breaches, made, places = kept
    rows = [[b.fixture, b.renderer, b.what, b.section, list(b.payloads), b.count] for b in breaches]
    return json.dumps([rows, made, places])


def _read(text: str) -> tuple[list[Breach], int, int] | None:
    """Results as they were kept; None for any other shape: a cache is untrusted."""
    try:
        rows, made, places = json.loads(text)
        found = []
        for fixture, renderer, what, section, ids, count in rows:
            found.append(
                Breach(
                    fixture=str(fixture), renderer=str(renderer), what=str(what), section=str(section),
                    payloads=tuple(map(str, ids)), count=int(count),
                )
            )  # fmt: skip
        return found, int(made), int(places)
    except (ValueError, TypeError):
        return None


def breaches(context: Context, *kinds: str) -> Iterator[Breach]:
    """The breaches of some kinds."""
    for breach in trials(context).breaches:
        if breach.what in kinds:
            yield breach
