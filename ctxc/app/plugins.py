"""Rules from outside: only from installed distributions that the command line names, never from the judged tree.

A distribution offers rules as entry points of the group ``ctxc.rules``; each leads to a ``ctxc.rules.engine.Rule`` or a
list of them. Their codes begin with other letters than CTX.
"""

from __future__ import annotations

import re
import site
import sysconfig
from collections.abc import Iterable
from importlib import metadata
from importlib.util import find_spec
from pathlib import Path

from ctxc.base.errors import UsageError
from ctxc.model.codes import CODES
from ctxc.rules.engine import Rule

GROUP = "ctxc.rules"
_CODE = re.compile(r"(?!CTX)[A-Z][A-Z0-9]{1,9}[0-9]{3}\Z")
_NAME = re.compile(r"[a-z][a-z0-9]*(?:-[a-z0-9]+)*\Z")


def load_rules(distributions: Iterable[str], judged: Path) -> tuple[Rule, ...]:
    """The rules of some distributions, by code; raises UsageError for one that is not installed or offers none."""
    found: dict[str, Rule] = {}
    for name in distributions:
        for rule in _rules_of(name, judged):
            if rule.code in found or any(rule.name == r.name for r in found.values()):
                raise UsageError(f"the rule {rule.code} {rule.name} is offered twice", help="leave out one --plugin")
            found[rule.code] = rule
    return tuple(found[code] for code in sorted(found))


def installed_places() -> tuple[str, ...]:
    """Folders of installed packages. The current folder and ``PYTHONPATH`` are none."""
    places = [*map(sysconfig.get_path, ("purelib", "platlib")), *site.getsitepackages()]
    if site.ENABLE_USER_SITE:
        places.append(site.getusersitepackages())
    return tuple(dict.fromkeys(places))


def _rules_of(name: str, judged: Path) -> list[Rule]:
    distribution = next(iter(metadata.distributions(name=name, path=list(installed_places()))), None)
    if distribution is None:
        raise UsageError(
            f"no distribution {name!r} is installed",
            help="name an installed distribution (`pip list`); rules are never taken from the project itself",
        )
    points = [p for p in distribution.entry_points if p.group == GROUP]
    if not points:
        raise UsageError(f"the distribution {name!r} offers no rules", help=f"rules are entry points of {GROUP!r}")
    found: list[Rule] = []
    for point in points:
        _refuse_judged(point.module, name, judged)
        try:
            made = point.load()
        except (Exception, SystemExit) as error:  # whatever a foreign module raises when it is imported
            raise UsageError(f"the rules of {name!r} cannot be loaded: {type(error).__name__}: {error}") from error
        for rule in made if isinstance(made, (list, tuple)) else (made,):
            found.append(_checked(rule, name))
    return found


def _refuse_judged(module: str, name: str, judged: Path) -> None:
    """A folder of the same name in the judged tree must not stand in for the installed package."""
    try:
        spec = find_spec(module)
    except (ImportError, ValueError):
        return  # loading says so
    origin = Path(spec.origin).resolve() if spec is not None and spec.origin else None
    if origin is None or not origin.is_relative_to(judged.resolve()):
        return
    places = [Path(p).resolve() for p in installed_places()]
    if not any(origin.is_relative_to(p) for p in places):
        raise UsageError(
            f"the rules of {name!r} would be loaded from the project that is judged ({origin.name})",
            help="install the distribution outside of the project, not in editable form",
        )


def _checked(rule: object, name: str) -> Rule:
    if not isinstance(rule, Rule):
        raise UsageError(f"the distribution {name!r} offers {type(rule).__name__}, not a rule")
    if not _CODE.match(rule.code) or not _NAME.match(rule.name) or rule.name in {n for n, _ in CODES.values()}:
        raise UsageError(
            f"the rule {rule.code!r} {rule.name!r} of {name!r} is called as none may be",
            help="a code is letters (not CTX) and three digits, a name words-with-hyphens that no other rule has",
        )
    return rule
