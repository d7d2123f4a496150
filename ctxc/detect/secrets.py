"""Secrets in text: vendor keys by their shape, credentials by their place, and the same inside decoded values.

One pass of an RE2 set over keywords says which rules can match at all, then those alone are searched for. What a rule
finds must reach its entropy and must not be a placeholder. No value is ever validated over a network or returned.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from functools import lru_cache
from math import log2

from ctxc.detect.decoded import find_decoded
from ctxc.detect.match import Match, in_order, masked
from ctxc.detect.patterns import PatternSet, haystack, windows
from ctxc.detect.projections import decode_base64
from ctxc.detect.secret_rules import SecretRule, shipped_rules
from ctxc.model.finding import Severity

_WINDOW = 32_768
_OVERLAP = 4_096  # longer than any secret of the rules but a private key, which is found by its first part
# What writers put where a secret belongs. Short words count only between separators: four given letters stand somewhere
# in one of a few thousand random keys.
_STOP = re.compile(
    r"example|placeholder|change_?-?me|your[_-]|insert[_-]|replace[_-]?(?:me|with)|redacted|notreal|not[_-]a[_-]|"
    r"x{5,}|\*{3,}|\.{3,}|…|12345678|1234567$|abcdefgh|deadbeefdeadbeef|(?:foo|bar|baz){2,}|"
    r"(?:fake|dummy|sample|test)[_-]?(?:key|token|secret|password|credential)|"
    r"(?:^|[^a-z0-9])(?:null|none|undefined|tests?|testing|secret|token|password|fake|dummy|sample|todo|lorem|mock|your)"
    r"(?:$|[^a-z0-9])",
    re.IGNORECASE,
)
# A reference to a value instead of a value: ${NAME}, {{name}}, $(command), %(name)s, os.environ, process.env.
_REFERENCE = re.compile(
    r"\$\{|\$\(|\{\{|%\(|^\$[A-Za-z_]|^<|environ|process\.env|getenv|^secrets\.|^vault:|^ref\+|^arn:"
)
# A value made of words and dots is code or prose (config.password, settings-token), not a random value.
_IDENTIFIER = re.compile(r"-*[A-Za-z_]+(?:[._:/-][A-Za-z_]+)*[.:,]?|[A-Z0-9_]+|[a-z]+[0-9]?")
_WEAK_PASSWORD = re.compile(
    r"p[a4]ss(?:w(?:or)?d|w0rd)?|pwd|secret|change-?me|postgres|mysql|mariadb|root|admin|administrator|guest|user(?:name)?|"
    r"example|test|testing|db_?pass(?:word)?|(?:my|your|root|the)[_-]?(?:secret)?[_-]?(?:password|secret)|letmein|foobar|"
    r"hunter2|minioadmin|rabbitmq|mongodb|redis|docker|token|x-oauth-basic|x-access-token|database|credentials|qwerty|"
    r"default|api_?key",
)
# Who signs the tokens of tutorials: jwt.io's subject, and the people and things that examples are about.
_SAMPLE_CLAIM = re.compile(r"john doe|jane doe|1234567890|\bfoo\b|example|\balice\b|\bbob\b", re.IGNORECASE)
_SAME = re.compile(r"(.)\1{6,}", re.DOTALL)


def entropy(value: str) -> float:
    """Shannon entropy in bits a character; 0 for the empty text."""
    total = len(value)
    return -sum(n / total * log2(n / total) for n in Counter(value).values()) if total else 0.0


def find_secrets(
    text: str, *, key: bytes, extra: tuple[SecretRule, ...] = (), decode: bool = True
) -> tuple[Match, ...]:
    """Every secret of the text, in its order; ``key`` keys the digests, ``extra`` adds rules to the shipped ones.

    With ``decode`` the text is also read without hidden characters, with its escapes resolved (JSON, percent,
    entities) and its base64 decoded, to depth 2. Of rules that overlap the more certain one is kept.
    """

    def find(piece: str) -> Iterator[Match]:
        return _scan(piece, key, extra)

    found: list[Match] = []
    for begin, finish in windows(text, _WINDOW, _OVERLAP):
        piece = text[begin:finish]
        for match in find_decoded(piece, find) if decode else find(piece):
            found.append(replace(match, start=begin + match.start, end=begin + match.end) if begin else match)
    if len(found) < 2:
        return tuple(found)
    rank = {f"secret.{rule.id}": place for place, rule in enumerate(_screen(extra)[0])}
    found.sort(key=lambda m: (-m.severity, m.start - m.end, rank[m.detector], m.start))
    return in_order(_without_overlaps(found))


def _without_overlaps(ranked: list[Match]) -> list[Match]:
    """The matches, best first, that do not overlap a better one: the more severe, longer, or more exact rule's."""
    kept: list[Match] = []
    starts: list[int] = []
    for match in ranked:
        place = bisect_right(starts, match.start)
        if place and kept[place - 1].end > match.start:
            continue
        if place < len(kept) and kept[place].start < match.end:
            continue
        kept.insert(place, match)
        starts.insert(place, match.start)
    return kept


@lru_cache(maxsize=8)
def _screen(extra: tuple[SecretRule, ...]) -> tuple[tuple[SecretRule, ...], PatternSet]:
    """All rules and the set that says in one pass which of them to search for, rule i standing at place i."""
    rules = (*shipped_rules(), *extra)
    return rules, PatternSet([rule.prefilter for rule in rules])


def _scan(text: str, key: bytes, extra: tuple[SecretRule, ...]) -> Iterator[Match]:
    """The matches of all rules in one reading of a stretch of text."""
    rules, screen = _screen(extra)
    hay = haystack(text)
    for index in screen.which(hay.data):
        rule = rules[index]
        for low, high, secret_low, secret_high in rule.pattern.spans(hay.data, rule.group):
            start, end = hay.offset(secret_low), hay.offset(secret_high)
            secret = text[start:end]
            if _is_secret(rule, secret, text, (hay.offset(low), hay.offset(high))):
                yield masked(
                    f"secret.{rule.id}",
                    rule.severity,
                    start,
                    end,
                    f"looks like a secret: {rule.title}, {len(secret):,} characters",
                    value=secret,
                    key=key,
                )


def _is_secret(rule: SecretRule, secret: str, text: str, whole: tuple[int, int]) -> bool:
    """True unless the value is too regular, a placeholder, a reference, or excused by the rule file."""
    if not secret or entropy(secret) < rule.entropy or _SAME.search(secret) or _REFERENCE.search(secret):
        return False
    if rule.id == "uri-credentials":
        return _is_password_of_uri(secret, text[whole[0] : whole[1]])
    if rule.own and (_STOP.search(_random_part(secret)) or (rule.id == "jwt" and _is_sample_token(secret))):
        return False
    if rule.severity < Severity.ERROR and rule.own and _IDENTIFIER.fullmatch(secret):
        return False
    if not rule.allow:
        return True
    begin = text.rfind("\n", 0, whole[0]) + 1
    finish = text.find("\n", whole[1])
    line = text[begin : finish if finish >= 0 else len(text)]
    return not any(entry.excuses(secret, text[whole[0] : whole[1]], line) for entry in rule.allow)


def _random_part(secret: str) -> str:
    """The value without the vendor's own prefix, whose words (``sk_test_``, ``secret_``) say nothing."""
    return re.sub(r"^(?:sk|rk)_(?:live|test|prod)_|^secret_|^AGE-SECRET-KEY-|^e?secret_|^pypi-", "", secret)


def _is_sample_token(token: str) -> bool:
    """True if a JSON Web Token speaks of the people that examples are about."""
    claims = decode_base64(token.split(".")[1])
    return claims is not None and _SAMPLE_CLAIM.search(claims) is not None


def _is_password_of_uri(password: str, uri: str) -> bool:
    """True unless the password is a word of the manuals or the user's name, or the host is one for documentation."""
    scheme, _, rest = uri.partition("://")
    user, _, _ = rest.partition(":")
    folded = password.casefold().strip("<>[]{}")
    host = rest.rpartition("@")[2].casefold()
    if _WEAK_PASSWORD.fullmatch(folded) or folded == user.casefold() or _STOP.search(password):
        return False
    if re.search(r"(?:^|\.)example(?:\.|$)", host):
        return False
    return scheme.casefold() not in ("data", "urn") and not password.isdigit()
