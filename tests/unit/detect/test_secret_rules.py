from __future__ import annotations

import pytest

from ctxc.base.errors import ConfigError
from ctxc.detect.patterns import PatternError
from ctxc.detect.secret_rules import parse_rules
from ctxc.detect.secrets import find_secrets
from ctxc.model.finding import Severity

RULE = """
title = "gitleaks config"
[extend]
useDefault = true
[allowlist]
regexes = ['''^acme_0{8}''']
stopwords = ["harmless"]
paths = ['''vendor/''']
[[rules]]
id = "acme-token"
description = "an acme token"
regex = '''\\b(acme_[a-z0-9]{16})\\b'''
keywords = ["acme_"]
entropy = 2.5
tags = ["x"]
  [[rules.allowlists]]
  regexTarget = "line"
  regexes = ['''# public''']
[[rules]]
id = "generic-thing"
regex = '''thing=([a-z0-9]{12})'''
[[rules]]
id = "only-a-path"
path = '''\\.p12$'''
"""


def detectors(text: str) -> list[tuple[str, Severity]]:
    rules = parse_rules(RULE, path="gitleaks.toml")
    return [(m.detector, m.severity) for m in find_secrets(text, key=b"k", extra=rules)]


def test_gitleaks_keys_are_understood() -> None:
    rules = parse_rules(RULE)
    assert [rule.id for rule in rules] == ["acme-token", "generic-thing"]
    assert detectors("x acme_a1b2c3d4e5f6g7h8") == [("secret.acme-token", Severity.ERROR)]
    assert detectors("thing=a1b2c3d4e5f6") == [("secret.generic-thing", Severity.WARNING)]


def test_entropy_and_allow_lists() -> None:
    assert detectors("acme_aaaaaaaabbbbbbbb") == []
    assert detectors("acme_00000000a1b2c3d4") == []
    assert detectors("acme_harmless1b2c3d4") == []
    assert detectors("acme_a1b2c3d4e5f6g7h8 # public") == []
    assert detectors("acme_a1b2c3d4e5f6g7h8\n# public") == [("secret.acme-token", Severity.ERROR)]
    assert detectors("# public\nacme_a1b2c3d4e5f6g7h8\n# public") == [("secret.acme-token", Severity.ERROR)]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("rules = 3", "holds no"),
        ("[[rules]\n", "not TOML"),
        ("[[rules]]\nregex = 'x'", "rule 1 of the file has no id"),
        ("[[rules]]\nid = 'a'", "rule a has no regex"),
        ("[[rules]]\nid = 'a'\nregex = '(x'", "rule a: the pattern is not valid RE2"),
        ("[[rules]]\nid = 'a'\nregex = '(x)'\nsecretGroup = 2", "has secretGroup 2, its regex has 1"),
        ("[[rules]]\nid = 'a'\nregex = 'x'\nkeywords = 'a'", "keywords of rule a"),
        ("[[rules]]\nid = 'a'\nregex = 'x'\nseverity = 'bad'", "severity of rule a"),
        ("[[rules]]\nid = 'a'\npath = 'x'", "no rule of the file has a regex"),
        ("a" + ".a" * 5000 + " = 1", "more than 24 parts"),
        ("x = '" + "a" * (1 << 20) + "'", "at most 1,048,576"),
        ("[[rules]]\nid = 'a'\nregex = 'x'\nallowlist = 3", "allow-list of rule a"),
    ],
)
def test_bad_files_are_refused_in_words(text: str, message: str) -> None:
    with pytest.raises(ConfigError) as caught:
        parse_rules(text, path="rules.toml")
    assert message in caught.value.message
    assert str(caught.value.location) == "rules.toml"


def test_the_regex_error_names_the_remedy() -> None:
    with pytest.raises(PatternError) as caught:
        parse_rules("[[rules]]\nid = 'a'\nregex = 'a(?=b)'")
    assert "lookahead" in caught.value.help
