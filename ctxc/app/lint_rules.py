"""Which rules lint runs, with which severities and parameters, and what they are given."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from ctxc.base.errors import ConfigError, UsageError
from ctxc.model.codes import CODES, name_of
from ctxc.rules import codes_of

if TYPE_CHECKING:
    from pathlib import Path

    from ctxc.app.lint import LintOptions
    from ctxc.model.project import Project, Settings
    from ctxc.rules.engine import Clean, Context, Rule
    from ctxc.source.tree import Tree
    from ctxc.tokens import CountStore

_TIERS = ("default", "strict", "audit")


def choose(options: LintOptions, settings: Settings, root: Path) -> tuple[Rule, ...]:
    """The rules of lint that are asked for: those selected, else those of the tier; less what is ignored or off."""
    from ctxc.rules import source_rules

    outside: tuple[Rule, ...] = ()
    if options.plugins:
        from ctxc.app.plugins import load_rules

        outside = load_rules(options.plugins, root)
    rules = [*source_rules(), *(r for r in outside if r.needs == "sources")]
    names = {r.code: r.name for r in outside}
    select = _codes(options.select or tuple(settings.extra.get("select", ())), names)
    ignore = _codes((*options.ignore, *settings.extra.get("ignore", ())), names)
    severities, _ = rule_settings(settings)
    allowed = _TIERS[: _TIERS.index(options.tier) + 1]
    return tuple(
        r
        for r in rules
        if (r.code in select if select else r.tier in allowed or r.code in severities)
        and r.code not in ignore
        and severities.get(r.code, "") != "off"
    )


def _codes(words: Iterable[str], known: Mapping[str, str]) -> frozenset[str]:
    found = codes_of(words, known.items())
    return frozenset().union(*found.values())


def context_of(
    project: Project, tree: Tree, settings: Settings, store: CountStore, *, now: str, clean: Clean | None = None
) -> Context:
    """What rules are given, by lint and by the gate."""
    from ctxc.app.tokenizers import tokenizers
    from ctxc.rules.engine import Context

    _, params = rule_settings(settings)
    counting = tokenizers(project.sources, store)
    return Context(project=project, tree=tree, now=now, tokenizers=counting, params=params, clean=clean)


def check_words(options: LintOptions, settings: Settings) -> None:
    """Raise UsageError or ConfigError for a word that names no rule; those of plug-ins are known once loaded."""
    if options.plugins:
        return
    for source, words in (("--select", options.select), ("--ignore", options.ignore)):
        for word in _unknown(words):
            raise UsageError(f"{source} {word!r} names no rule", help=_meant(word))
    configured = {
        "select": settings.extra.get("select", ()),
        "ignore": settings.extra.get("ignore", ()),
        "rules": settings.extra.get("rules", {}),
        "per-file-ignores": [w for words in settings.per_file_ignores.values() for w in words],
    }
    for key, words in configured.items():
        for word in _unknown(words):
            raise ConfigError(f"`{key}` names {word!r}, which is no rule", help=_meant(word))


def _unknown(words: Iterable[str]) -> list[str]:
    return [word for word, codes in codes_of(words).items() if not codes]


def _meant(word: str) -> str:
    from difflib import get_close_matches

    names = [*CODES, *(name for name, _ in CODES.values())]
    near = get_close_matches(word, names, n=1)
    return (f"did you mean {near[0]}? " if near else "") + "`ctxc rule --all` lists codes and names"


def rule_settings(settings: Settings) -> tuple[dict[str, str], dict[str, Mapping[str, Any]]]:
    """Of the configuration's ``rules``: severity (or ``off``) by code, and parameters by name."""
    severities: dict[str, str] = {}
    params: dict[str, Mapping[str, Any]] = {}
    for word, value in settings.extra.get("rules", {}).items():
        for code in codes_of([word])[word]:
            given = value.get("severity") if isinstance(value, Mapping) else value
            if isinstance(given, str):
                if given not in ("error", "warning", "info", "off"):
                    raise ConfigError(
                        f"`rules.{word}` has the severity {given!r}", help="it may be error, warning, info or off"
                    )
                severities[code] = given
            if isinstance(value, Mapping):
                params[name_of(code)] = value
    return severities, params
