"""Forbidden content: many rules searched for together find what each of them finds alone, however it is looked for."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import ctxc
from ctxc.app.workspace import compiler_for
from ctxc.compiler.stage import Options
from ctxc.detect import leaks
from ctxc.detect.decoded import find_decoded
from ctxc.detect.forbidden import FAMILIES, find_forbidden
from ctxc.detect.match import Match, masked
from ctxc.detect.patterns import compile_pattern
from ctxc.model.finding import Severity
from ctxc.rules._forbidden import ForbiddenRule, key_pattern, rules_of
from ctxc.rules._scanner import Hit, Scanner

ROOT = Path(__file__).parents[2]
KEY = b"k"
MORE = [
    {"id": "all-pii", "forbid": {"detect": ["pii"]}},
    {"id": "leaks", "forbid": {"detect": ["leak"]}, "decode": ["json"]},
    {"id": "phones", "forbid": {"detect": ["pii.phone", "pii.us-ssn", "pii.ip"]}, "severity": "warning"},
    {"id": "cn", "forbid": {"detect": ["pii.cn-id"]}},
    {"id": "cards", "forbid": {"detect": ["pii.card"]}, "severity": "warning"},
    {"id": "secrets", "forbid": {"detect": ["secret"], "keys": ["secret"]}},
    {"id": "tokens", "forbid": {"detect": ["role", "unicode.U005"]}, "decode": []},
    {"id": "injections", "forbid": {"detect": ["injection"]}},
    {"id": "mixed", "forbid": {"detect": ["pii.email", "leak.stack-trace"], "re2": ["(?i)ada@", "rout?e"]}},
    {"id": "other", "forbid": {"re2": "(?m)^ada|desk$"}, "severity": "warning"},
    {"id": "keys", "forbid": {"keys": ["*_token", "email"]}},
]


@cache
def rules() -> tuple[ForbiddenRule, ...]:
    """The rules of the example library and one for every family of detectors."""
    policies = [versions[0] for versions in ctxc.load(ROOT).policies.values()]
    more = replace(policies[0], id="more", gates={"forbidden": MORE})
    found = rules_of([*policies, more])
    assert len(found) == 14 + len(MORE)
    return found


@cache
def requests() -> tuple[str, ...]:
    """Every text of every request of the example library."""
    project = ctxc.load(ROOT)
    compiler = compiler_for(project, Options())
    packages = [compiler.compile(f) for f in project.fixtures.values()]
    return tuple(dict.fromkeys(s.text for p in packages for s in p.segments if s.text))


def alone(number: int, rule: ForbiddenRule, text: str) -> set[Hit]:
    """What one rule finds by its own detectors and patterns, with nothing looked at first and nothing shared."""
    patterns = [(source, False) for source in rule.patterns]
    if rule.keys:
        patterns.append((key_pattern(rule.keys), True))

    def find(piece: str) -> Iterator[Match]:
        if rule.detect:
            yield from find_forbidden(piece, key=KEY, detect=rule.detect, decoders=())
        for source, of_key in patterns:
            for start, end in compile_pattern(source).find(piece):
                if of_key:
                    name = piece[start:end].strip(" \t\"':=\\")
                    yield Match(
                        detector=f"key.{number}", severity=rule.severity, start=start, end=end,
                        message=f"the key {name[:60]!r}",
                    )  # fmt: skip
                else:
                    yield masked(
                        f"re2.{number}", rule.severity, start, end, "text that a pattern forbids",
                        value=piece[start:end], key=KEY,
                    )  # fmt: skip

    return {Hit(rule=number, match=m) for m in find_decoded(text, find, decoders=rule.decoders)}


def check(text: str) -> int:
    """The number of hits."""
    together = Scanner(rules(), key=KEY).scan(text, is_json=True)
    assert len(set(together)) == len(together)
    for number, rule in enumerate(rules()):
        mine = {hit for hit in together if hit.rule == number}
        assert mine == alone(number, rule, text), rule.id
        if mine:
            single = Scanner([rule], key=KEY).scan(text, is_json=True)
            assert {h.match.sort_key[1:3] for h in single} == {h.match.sort_key[1:3] for h in mine}
    return len(together)


PIECES = st.sampled_from(
    [
        "ada@history.org", "desk@kettle-works.com", "4539578763621486", "4111 1111 1111 1111", "11010519491231002X",
        "622301197001020057",
        "13812345678", "+86 138 1234 5678", "GB82 WEST 1234 5698 7654 32", "078-05-1120", "ssn 078051120", "+1 212 555 2368",
        "8.8.8.8", "http://10.0.0.8/x", "https://wiki.corp/a", "file:///etc/hosts", "\\\\srv\\share\\x",
        "Traceback (most recent call last):\n  File \"a.py\", line 3, in f", "\n    at f (/srv/a.js:10:5)",
        "\n\tat a.b.C(D.java:10)", "ghp_Ab1Cd2Ef3Gh4Ij5Kl6Mn7Op8Qr9St0Uv1Wx2", '"api_key": 1', '"bankAccount" : 2',
        '\\"customer_email\\": ', '"name": "delete_order"', "ada%40history.org", "\\u0061da@history.org", "&#97;da@history.org",
        "YWRhQGhpc3Rvcnkub3JnIGFuZCBtb3JlIHRleHQ=", "a\u200bda@history.org", "<|im_start|>", "ignore all previous instructions",
        "报案", "\n", " ", '"', "\\", "\\n", "\\\\n", "%", "&", "x", ".", ",", "-", "route", "desk", "ada",
    ]
)  # fmt: skip
TEXTS = st.lists(st.one_of(PIECES, PIECES, st.text(max_size=4)), max_size=14).map("".join)


@settings(max_examples=200, deadline=None, derandomize=True)
@given(TEXTS)
def test_random_texts(text: str) -> None:
    check(text)


@settings(max_examples=25, deadline=None, derandomize=True)
@given(TEXTS, TEXTS, st.sampled_from([" word", "\tat ", "报案", "x"]), st.integers(30_000, 90_000))
def test_random_texts_that_are_searched_in_stretches(first: str, last: str, filler: str, size: int) -> None:
    check(first + filler * (size // len(filler)) + last)


@pytest.mark.slow
@settings(max_examples=5_000, deadline=None)
@given(TEXTS)
def test_many_random_texts(text: str) -> None:
    check(text)


def test_every_text_of_every_request() -> None:
    hits = [check(text) for text in requests()]
    assert len(hits) > 200
    assert sum(hits) > 5


def test_all_requests_as_one_text() -> None:
    assert check("\n".join(requests())) > 5


def test_a_rule_hides_nothing_of_another() -> None:
    """A number that is a card and an identity number; an escape that two patterns find, one of them in plain text too."""
    hits = Scanner(rules(), key=KEY).scan("ada@history.org \\u0061da@history.org 622301197001020057")
    found = {(rules()[h.rule].id, h.match.detector.partition(".")[0], h.match.start) for h in hits}
    assert {
        ("mixed", "re2", 0),
        ("mixed", "re2", 16),
        ("FF-302", "re2", 0),
        ("cn", "pii", 37),
        ("cards", "pii", 37),
    } <= found


@pytest.mark.parametrize("form", leaks._TRACES)
@settings(max_examples=60, deadline=None, derandomize=True)
@given(st.data())
def test_what_is_looked_for_first_is_part_of_every_stack_trace(form: str, data: st.DataObject) -> None:
    text = data.draw(st.from_regex(form.replace("[ \\t]*File", "[ ]{2}File"), fullmatch=True))
    if list(leaks.TRACES[0].pattern.spans(text.encode("utf-8", "replace"))):
        hint = compile_pattern(leaks.TRACES[0].hint)
        assert hint.find(text), text


def test_every_family_is_among_the_rules() -> None:
    asked = {d.partition(".")[0] for rule in rules() for d in rule.detect}
    assert asked >= {"secret", "pii", "leak", "role", "unicode", "injection"}
    assert asked <= set(FAMILIES)
    assert {rule.severity for rule in rules()} == {Severity.WARNING, Severity.ERROR}
    assert re.fullmatch(r"[a-zA-Z0-9-]+", rules()[0].id)
