"""Forbidden content: the rules of policies, and the names of keys that they forbid."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any

from ctxc.base.canonical import canonical, digest_text
from ctxc.base.values import dataclass
from ctxc.detect.patterns import PatternError, UserPattern, compile_pattern
from ctxc.detect.projections import DECODERS
from ctxc.detect.secret_rules import SecretRule
from ctxc.model.contract import Policy
from ctxc.model.finding import Severity

SEARCH = ("sources", "inputs", "request")
_DECODERS = {"json": "json", "base64": "base64", "percent": "percent", "entities": "entity"}


@dataclass(frozen=True, slots=True, kw_only=True)
class ForbiddenRule:
    """One entry of a policy's ``forbidden``. ``keys`` and ``patterns`` are compiled; ``number`` is its place."""

    policy: Policy
    number: int
    id: str
    title: str
    where: Mapping[str, Any]
    severity: Severity
    detect: tuple[str, ...]
    keys: tuple[str, ...]
    patterns: tuple[str, ...]
    classification: tuple[str, ...]
    decoders: tuple[str, ...]
    search: tuple[str, ...]


def rules_of(policies: Sequence[Policy], hosts: Sequence[str] = ()) -> tuple[ForbiddenRule, ...]:
    """The forbidden entries of some policies that are not switched off; ``hosts`` are internal by the configuration."""
    named = rf"(?i)\b(?:{'|'.join(map(_quoted, hosts))})\b" if hosts else ""
    found: list[ForbiddenRule] = []
    for policy in policies:
        entries = policy.gates.get("forbidden")
        for number, entry in enumerate(entries if isinstance(entries, (list, tuple)) else ()):
            severity = entry.get("severity", "error")
            if severity == "off":
                continue
            forbid = entry["forbid"]
            detect, patterns = tuple(forbid.get("detect", ())), _texts(forbid.get("re2"))
            if named and {"leak", "leak.internal-url"} & {*detect}:
                patterns = (*patterns, named)
            found.append(
                ForbiddenRule(
                    policy=policy,
                    number=number,
                    id=entry["id"],
                    title=entry.get("title", ""),
                    where=entry.get("where", {}),
                    severity=Severity[severity.upper()],
                    detect=detect,
                    keys=tuple(forbid.get("keys", ())),
                    patterns=patterns,
                    classification=tuple(forbid.get("classification", ())),
                    decoders=_decoders(entry.get("decode")),
                    search=tuple(entry.get("search", SEARCH)),
                )
            )
    return tuple(found)


def _quoted(host: str) -> str:
    """A host name as a pattern: RE2 takes an escaped character that is no letter or digit as itself."""
    return "".join(c if c.isalnum() or c == "_" else f"\\{c}" for c in host)


def _texts(value: Any) -> tuple[str, ...]:
    return (value,) if isinstance(value, str) else tuple(value or ())


def _decoders(names: Sequence[str] | None) -> tuple[str, ...]:
    """The decoders to use; hidden characters are looked through whatever a policy says."""
    if names is None:
        return DECODERS
    return tuple(d for d in DECODERS if d == "hidden" or d in {_DECODERS[n] for n in names})


def digest_of(rules: Sequence[ForbiddenRule], secret_rules: Sequence[SecretRule]) -> str:
    """Identity of everything that decides what is found in a text."""
    value = [
        [r.detect, r.keys, r.patterns, r.classification, r.decoders, r.search, r.where, r.policy.where] for r in rules
    ]
    return digest_text(canonical([value, [str(s) for s in secret_rules]]))


@lru_cache(maxsize=256)
def pattern_of(source: str) -> UserPattern:
    """A pattern of a policy, compiled; raises PatternError for one that cannot be used."""
    return compile_pattern(source)


def usable(patterns: Sequence[str]) -> Iterator[str]:
    """Those patterns of a policy that can be used."""
    for source in patterns:
        try:
            pattern_of(source)
        except PatternError:
            continue
        yield source


_WORDS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+|\*")


def words_of(name: str) -> tuple[str, ...]:
    """The words of a key, whatever joins them: ``bankAccount``, ``bank_account`` and ``BANK-ACCOUNT`` are one."""
    return tuple(w.lower() for w in _WORDS.findall(name))


def is_key(name: str, patterns: Sequence[str]) -> bool:
    """Whether a key is meant by one of the names or globs of a policy (``*`` stands for any words)."""
    from fnmatch import fnmatchcase

    joined = _joined(name)
    return any(fnmatchcase(joined, _joined(p)) for p in patterns)


@lru_cache(maxsize=4096)  # the keys of schemas come again and again
def _joined(name: str) -> str:
    return "_".join(words_of(name)) or name.casefold()


@lru_cache(maxsize=64)
def key_pattern(names: tuple[str, ...]) -> str:
    """One RE2 pattern for all of the names, in quotes before a colon."""
    forms = []
    for name in names:
        words = words_of(name) or (name,)
        form = ""
        for number, word in enumerate(words):
            joiner = "[_ -]?" if number else ""
            form += joiner + (r"[A-Za-z0-9_ -]*" if word == "*" else re.escape(word))
        forms.append(form)
    return r'(?i)\\?"(?:' + "|".join(forms) + r')\\?"\s*:'
