"""Which fixtures a command is about: ids, globs of ids, conversations, templates."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fnmatch import fnmatchcase
from typing import Protocol

from ctxc.app.naming import advice, counted, unloadable, unloaded
from ctxc.base.errors import NothingMatched
from ctxc.base.values import dataclass
from ctxc.model.finding import Finding, Severity


class Selectable(Protocol):
    """What of a fixture a selection looks at."""

    @property
    def fixture_id(self) -> str:
        """Its id."""

    @property
    def template(self) -> str:
        """The template that it names, perhaps with a version."""

    @property
    def conversation(self) -> str:
        """The conversation that it is a turn of, or nothing."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Selection:
    """Ids or globs of fixtures (or of whole conversations), and of templates; empty means all."""

    fixtures: tuple[str, ...] = ()
    templates: tuple[str, ...] = ()
    allow_empty: bool = False

    @property
    def is_whole(self) -> bool:
        """Whether the whole project is meant."""
        return not self.fixtures and not self.templates

    def holds(self, fixture: Selectable) -> bool:
        """Whether a fixture is selected."""
        if self.fixtures and not any(_is_meant(fixture, pattern) for pattern in self.fixtures):
            return False
        return not self.templates or any(fits(_template(fixture), pattern) for pattern in self.templates)

    def lost(self, lost: Mapping[str, str]) -> frozenset[str]:
        """Those of the files that could not be loaded (each with the id of its fixture) that a pattern means."""
        return frozenset(p for p, name in lost.items() if any(_means_lost(pattern, name) for pattern in self.fixtures))

    def check(
        self,
        known: Sequence[Selectable],
        findings: Sequence[Finding],
        folder: str,
        *,
        lost: Mapping[str, str] | None = None,
        reported: bool = False,
    ) -> None:
        """Raise NothingMatched where a pattern, or all of them together, select nothing.

        A project without fixtures is told from one whose fixtures could not be loaded: then ``findings`` say why.
        ``lost`` are the files of those, each with its id: a pattern that means nothing else raises InvalidSource,
        unless the caller shows their findings itself (``reported``).
        """
        if self.allow_empty:
            return
        lost = lost or {}
        for pattern in self.fixtures:
            if not any(_is_meant(k, pattern) for k in known):
                paths = [path for path, name in lost.items() if _means_lost(pattern, name)]
                error = unloadable(pattern, paths, findings)
                if error is not None and reported:
                    continue
                if error is not None:
                    raise error
                raise _nothing("fixture", pattern, sorted(k.fixture_id for k in known), findings)
        for pattern in self.templates:
            names = sorted({_template(k) for k in known})
            if not any(fits(name, pattern) for name in names):
                raise _nothing("template", pattern, names, findings)
        if any(self.holds(k) for k in known) or (reported and self.lost(lost)):
            return
        if not self.is_whole:
            raise NothingMatched(
                "no fixture has one of these ids and one of these templates", help="`ctxc list fixtures` shows all"
            )
        if not any(f.severity is Severity.ERROR and f.name != "empty-project" for f in findings):
            raise NothingMatched(
                "the project has no fixtures: nothing was compiled",
                help=f"add one under {folder}/ (`ctxc init` writes an example), name another project with -C, or pass "
                "--allow-empty",
            )


def fits(name: str, pattern: str) -> bool:
    """Whether a name is meant by a pattern: the name itself, or a glob."""
    return name == pattern or fnmatchcase(name, pattern)


def _is_meant(fixture: Selectable, pattern: str) -> bool:
    return fits(fixture.fixture_id, pattern) or (bool(fixture.conversation) and fits(fixture.conversation, pattern))


def _means_lost(pattern: str, name: str) -> bool:
    """Whether a pattern means a fixture that could not be loaded, or a turn of such a conversation."""
    return fits(name, pattern) or pattern.startswith(f"{name}.")


def _template(fixture: Selectable) -> str:
    return fixture.template.partition("@")[0]


def _nothing(what: str, pattern: str, names: Sequence[str], findings: Sequence[Finding]) -> NothingMatched:
    errors = unloaded(findings)
    told = f"{counted(errors)} from being loaded: `ctxc compile` without a selection shows them"
    return NothingMatched(
        f"no {what} matches {pattern!r}",
        help=advice(pattern, names, f"`ctxc list {what}s` shows all", told if errors else "", listed=False),
    )
