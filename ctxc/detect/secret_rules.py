"""Secret rules in gitleaks-compatible TOML: the shipped ones and files that a project names.

Of gitleaks' keys these are understood: ``id``, ``description``, ``regex``, ``keywords``, ``entropy``, ``secretGroup``
and allow-lists (``regexes``, ``stopwords``, ``regexTarget``) for one rule or the file. Rules with only a ``path`` do
not look at text and are left out; keys of later versions are ignored. Ours are ``severity`` and ``prefilter``.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache

from ctxc.base.errors import ConfigError
from ctxc.base.spans import Location
from ctxc.base.values import dataclass
from ctxc.detect import data
from ctxc.detect.patterns import Pattern, PatternError
from ctxc.model.finding import Severity

MAX_FILE_CHARS = 1 << 20
"""Longest rule file accepted, in code points; gitleaks' own has about 130,000."""

# A dotted key costs tomllib quadratic time and memory (a 20 kB key: 396 MB), so long ones never reach it.
_DOTTED = re.compile(r"(?:[\w\"'-]+[ \t]*\.[ \t]*){24}")
_TARGETS = ("secret", "match", "line")


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class AllowList:
    """What a rule file excuses: patterns on the secret, the match or its line, and words inside the secret."""

    patterns: tuple[Pattern, ...]
    target: str
    stopwords: tuple[str, ...]

    def excuses(self, secret: str, match: str, line: str) -> bool:
        """True if the found value is one that the rule file calls harmless."""
        folded = secret.casefold()
        if any(word in folded for word in self.stopwords):
            return True
        where = {"secret": secret, "match": match, "line": line}[self.target].encode("utf-8", "replace")
        return any(pattern.found(where) for pattern in self.patterns)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class SecretRule:
    """One shape of a secret.

    ``entropy`` is in bits a character; ``group`` is the secret's, 0 the whole match. ``prefilter`` is a pattern
    that says cheaply whether the rule need be searched for; ``own`` marks the shipped rules.
    """

    id: str
    title: str
    source: str
    pattern: Pattern
    keywords: tuple[str, ...]
    entropy: float
    group: int
    severity: Severity
    prefilter: str
    own: bool
    allow: tuple[AllowList, ...] = ()


@cache
def shipped_rules() -> tuple[SecretRule, ...]:
    """The rules of this package."""
    return parse_rules(data.read("secrets_rules.toml"), own=True)


def parse_rules(text: str, *, path: str = "", own: bool = False) -> tuple[SecretRule, ...]:
    """The rules of one TOML file.

    Raises :class:`ctxc.base.errors.ConfigError` for text that is not TOML, holds no rule, or holds one that cannot be
    used; the message names the rule.
    """
    where = Location(path) if path else None
    if len(text) > MAX_FILE_CHARS:
        raise ConfigError(
            f"the rule file has {len(text):,} characters, at most {MAX_FILE_CHARS:,} are read", location=where
        )
    if _DOTTED.search(text):
        raise ConfigError("a dotted key has more than 24 parts", help="rule files need none", location=where)
    import tomllib

    try:
        document = tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError) as problem:
        raise ConfigError(f"the rule file is not TOML: {problem}", location=where) from None
    rows = document.get("rules")
    if not isinstance(rows, list) or not rows:
        raise ConfigError(
            "the rule file holds no [[rules]]",
            help="give it gitleaks' form: [[rules]] with id and regex",
            location=where,
        )
    shared = _allow_lists(document, where, "the file")
    rules = tuple(
        rule
        for number, row in enumerate(rows, 1)
        if (rule := _rule(row, number, where, own=own, shared=shared)) is not None
    )
    if not rules:
        raise ConfigError("no rule of the file has a regex", help="rules by path alone find nothing", location=where)
    return rules


def _rule(
    row: object, number: int, where: Location | None, *, own: bool, shared: tuple[AllowList, ...]
) -> SecretRule | None:
    """One rule; None for one that looks at paths alone."""
    if not isinstance(row, dict) or not isinstance(row.get("id"), str):
        raise ConfigError(f"rule {number} of the file has no id", location=where)
    name: str = row["id"]
    source = row.get("regex")
    if source is None and "path" in row:
        return None
    if not isinstance(source, str):
        raise ConfigError(f"rule {name} has no regex", location=where)
    keywords = row.get("keywords", [])
    entropy = row.get("entropy", 0.0)
    group = row.get("secretGroup", 0)
    severity = row.get("severity", "warning" if name.startswith("generic") else "error")
    if not (isinstance(keywords, list) and all(isinstance(word, str) and word for word in keywords)):
        raise ConfigError(f"keywords of rule {name} must be a list of words", location=where)
    if not isinstance(entropy, int | float) or not isinstance(group, int) or not 0 <= group <= 99:
        raise ConfigError(f"entropy and secretGroup of rule {name} must be numbers", location=where)
    if severity not in ("error", "warning", "info"):
        raise ConfigError(f"severity of rule {name} must be error, warning or info", location=where)
    pattern = Pattern(source)
    # Not compiled where it is shipped: that would cost every start what a scan alone needs.
    groups = 1 if own else _check(pattern, name, group, where)
    return SecretRule(
        id=name,
        title=name.replace("-", " ").replace("_", " "),
        source=source,
        pattern=pattern,
        keywords=tuple(keywords),
        entropy=float(entropy),
        group=group or min(1, groups),
        severity=Severity[severity.upper()],
        prefilter=_prefilter(row, tuple(keywords)),
        own=own,
        allow=(*shared, *_allow_lists(row, where, f"rule {name}")),
    )


def _prefilter(row: Mapping[str, object], keywords: tuple[str, ...]) -> str:
    """A pattern that is cheap to search and occurs wherever the rule can match; without keywords the rule's own."""
    named = row.get("prefilter")
    if isinstance(named, str):
        return named
    return "(?i)" + "|".join(re.escape(word) for word in keywords) if keywords else str(row["regex"])


def _check(pattern: Pattern, name: str, group: int, where: Location | None) -> int:
    """The number of groups; refuses a pattern that RE2 does not take, or a group that is not there."""
    try:
        groups = pattern.groups()
    except PatternError as problem:
        raise PatternError(f"rule {name}: {problem.message}", help=problem.help, location=where) from None
    if group > groups:
        raise ConfigError(f"rule {name} has secretGroup {group}, its regex has {groups} groups", location=where)
    return groups


def _allow_lists(row: Mapping[str, object], where: Location | None, name: str) -> tuple[AllowList, ...]:
    """The allow-lists of a rule or a file, in both spellings of gitleaks."""
    found: list[object] = []
    for key in ("allowlist", "allowlists"):
        value = row.get(key, [])
        found.extend(value if isinstance(value, list) else [value])
    lists = []
    for entry in found:
        if not isinstance(entry, dict):
            raise ConfigError(f"an allow-list of {name} is not a table", location=where)
        target = entry.get("regexTarget", "secret")
        patterns = tuple(Pattern(source) for source in entry.get("regexes", []) if isinstance(source, str))
        for pattern in patterns:
            _check(pattern, f"{name}, allow-list", 0, where)
        words = tuple(word.casefold() for word in entry.get("stopwords", []) if isinstance(word, str) and word)
        # A list that also asks for paths or commits (condition AND) cannot be judged from text: it excuses nothing.
        if entry.get("condition", "OR") in ("AND", "&&") and ("paths" in entry or "commits" in entry):
            continue
        if patterns or words:
            lists.append(
                AllowList(patterns=patterns, target=target if target in _TARGETS else "secret", stopwords=words)
            )
    return tuple(lists)
