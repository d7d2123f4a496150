from __future__ import annotations

import base64
import hashlib
import hmac
import json
import random
import re
import tomllib
from pathlib import Path
from urllib.parse import quote

import pytest
from samples import sample

from ctxc.detect import data
from ctxc.detect.match import Match
from ctxc.detect.secret_rules import shipped_rules
from ctxc.detect.secret_screen import may_hold_secrets
from ctxc.detect.secrets import entropy, find_secrets
from ctxc.model.finding import Severity

KEY = b"key of the project"
GITHUB = "ghp_Ab1Cd2Ef3Gh4Ij5Kl6Mn7Op8Qr9St0Uv1Wx2"
CONTEXTS = [
    "{}",
    'export KEY="{}"\n',
    '{{"apiKey": "{}"}}',
    "see {} in the log",
    "Authorization: Bearer {}",
    "- token: {}\n",
    "url?token={}&x=1",
    "({}),",
    "a\n{}\nb",
    "密钥：{}。",
]


def found(text: str, **options: object) -> list[Match]:
    return list(find_secrets(text, key=KEY, **options))  # type: ignore[arg-type]


def shapes(text: str) -> list[tuple[str, str, float, str, int]]:
    """Id, regex, entropy, severity and secret group of each rule of a TOML text."""
    return [(r["id"], r["regex"], r["entropy"], r["severity"], r["secretGroup"]) for r in tomllib.loads(text)["rules"]]


def misses(rules: list[tuple[str, str, float, str, int]], each: int) -> list[tuple[str, str]]:
    """Generated samples, bare and in context, in which nothing is found where the secret stands."""
    missed = []
    for name, regex, least, severity, group in rules:
        rng = random.Random(name)
        for _ in range(each):
            text, groups = sample(regex, rng)
            in_place = name.endswith(("-assignment", "-header"))
            bare = groups[group] if regex.startswith("(?:^|") and group in groups and not in_place else text
            if entropy(groups.get(group, text)) < least + 0.1:
                continue
            for context in CONTEXTS:
                whole = context.format(bare)
                at = whole.index(bare)
                hits = [m for m in found(whole) if m.start < at + len(bare) and m.end > at]
                if not any(m.severity == Severity.ERROR or severity == "warning" for m in hits):
                    missed.append((name, whole))
    return missed


def test_every_shipped_shape_is_found_bare_and_in_context() -> None:
    rules = [rule for rule in shapes(data.read("secrets_rules.toml")) if rule[0] != "generic-assignment"]
    assert len(rules) == 99
    assert misses(rules, 3) == []


def test_every_shape_of_the_shared_rules_is_found(shared: Path) -> None:
    text = (shared / "security" / "secrets_rules.toml").read_text(encoding="utf-8")
    rules = [rule for rule in shapes(text) if rule[0] != "generic-assignment"]
    assert len(rules) == 87
    assert misses(rules, 3) == []


def test_nothing_at_error_in_the_corpus(shared: Path) -> None:
    files = [p for p in sorted((shared / "corpus").rglob("*")) if p.is_file()]
    assert len(files) > 300
    worst = [
        (path.name, match.detector)
        for path in files
        for match in found(path.read_text(encoding="utf-8", errors="replace"))
        if match.severity == Severity.ERROR
    ]
    assert worst == []


def test_a_match_says_where_and_never_what() -> None:
    text = f"token: {GITHUB}\n"
    (match,) = found(text)
    assert match.detector == "secret.github-token"
    assert match.severity == Severity.ERROR
    assert text[match.start : match.end] == GITHUB
    assert (match.prefix, match.length) == ("ghp_", 40)
    assert match.digest == hmac.new(KEY, GITHUB.encode(), hashlib.sha256).hexdigest()[:12]
    assert GITHUB[4:] not in repr(match)
    assert found(text) == [match]
    assert find_secrets(text, key=b"another")[0].digest != match.digest


def test_a_short_password_shows_a_quarter_at_most() -> None:
    (match,) = found("postgres://svc:q7#Zp!x2@db.prod.net/app")
    assert match.detector == "secret.uri-credentials"
    assert (match.prefix, match.length) == ("q7", 8)


def test_neighbours_that_share_a_separator_are_both_found() -> None:
    text = f"{GITHUB},{GITHUB[:-1]}3"
    assert [m.start for m in found(text)] == [0, 41]


def test_offsets_count_code_points() -> None:
    text = f"密钥 🔑 {GITHUB} 结束 {GITHUB}"
    assert [text[m.start : m.end] for m in found(text)] == [GITHUB, GITHUB]


def test_lone_surrogates_do_not_stop_the_search() -> None:
    text = f"\ud83d\ude00\ud800 {GITHUB}"
    (match,) = found(text)
    assert text[match.start : match.end] == GITHUB


def test_long_texts_are_searched_in_windows_without_losing_or_doubling_anything() -> None:
    parts = [f"line {i} of the text {'x ' * 700}{GITHUB[:-4]}{i:04d}\n" for i in range(200)]
    text = "".join(parts)
    values = [text[m.start : m.end] for m in found(text)]
    assert values == [f"{GITHUB[:-4]}{i:04d}" for i in range(200)]


@pytest.mark.parametrize(
    ("text", "via"),
    [
        (GITHUB.replace("g", "\\u0067", 1), ("json",)),
        ("\\n" + GITHUB, ("json",)),
        (quote("token=", safe="") + GITHUB, ("percent",)),
        ("".join(f"%{b:02x}" for b in GITHUB.encode()), ("percent",)),
        ("".join(f"&#{ord(c)};" for c in GITHUB), ("entity",)),
        (GITHUB[:10] + "\u200b" + GITHUB[10:], ("hidden",)),
        (GITHUB[:10] + "&#x200b;" + GITHUB[10:], ("entity", "hidden")),
        (base64.b64encode(f'{{"k": "{GITHUB}"}}'.encode()).decode(), ("base64",)),
        (json.dumps(json.dumps({"a": f"\n{GITHUB}"})), ("json",)),
        (quote(base64.urlsafe_b64encode(f"{GITHUB}??>>".encode()).decode(), safe=""), ("base64",)),
    ],
)
def test_decoded_values_are_searched(text: str, via: tuple[str, ...]) -> None:
    text = f"before {text} after"
    (match,) = [m for m in found(text) if m.severity == Severity.ERROR]
    assert match.detector == "secret.github-token"
    assert match.via == via
    assert match.length == 40
    assert match.digest == hmac.new(KEY, GITHUB.encode(), hashlib.sha256).hexdigest()[:12]
    assert 7 <= match.start < match.end <= len(text) - 6
    assert not [m for m in found(text, decode=False) if m.detector == "secret.github-token"]


def test_three_levels_are_one_too_many() -> None:
    text = quote(quote(quote(" " + GITHUB + " ", safe=""), safe=""), safe="")
    assert found("x" + text.replace("ghp_", "%25256%37hp_")) == []


@pytest.mark.parametrize(
    "text",
    [
        "AKIAIOSFODNN7EXAMPLE",
        'OPENAI_API_KEY="sk-proj-your-key-goes-here-xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"',
        "ghp_xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx",
        "ghp_aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
        "api_key = ${OPENAI_API_KEY}",
        "password: {{ vault.password }}",
        'token = os.environ["GITHUB_TOKEN_FOR_CI"]',
        "postgres://postgres:postgres@localhost:5432/app",
        "postgresql://user:password@db:5432/app",
        "https://user:s3cr3tpw@example.com/",
        "see the token-bucket-algorithm: configuration.settings.token",
        "eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.SflKxwRJSMeKKF2QT4fwpMeJf36POk6yJV_adQssw5c",
        "a task-list, a risk-free disk-image, commit da39a3ee5e6b4b0d3255bfef95601890afd80709",
    ],
)
def test_placeholders_and_references_are_not_secrets(text: str) -> None:
    assert found(text) == []


def test_the_more_certain_of_overlapping_rules_is_kept() -> None:
    text = 'api_key = "sk-ant-api03-' + "Ab3dE_f9" * 10 + '"'
    assert [m.detector for m in found(text)] == ["secret.anthropic-key"]


def test_rules_have_unique_ids_and_compile() -> None:
    rules = shipped_rules()
    assert len({rule.id for rule in rules}) == len(rules) == 100
    for rule in rules:
        assert rule.pattern.groups() >= rule.group


def test_entropy_in_bits_a_character() -> None:
    assert entropy("") == 0
    assert entropy("aaaa") == 0
    assert entropy("abcd") == 2


def written_in_every_way(value: str) -> list[str]:
    """A value as it is, and as its decoded readings show it."""
    plain = base64.b64encode(f"key: {value}".encode()).decode()
    return [
        value,
        "".join(f"\\u{ord(c):04x}" for c in value),
        "".join(f"%{ord(c):02x}" for c in value),
        "".join(f"&#{ord(c)};" for c in value),
        f"{value[:9]}\u200b{value[9:]}",
        plain,
        base64.b64encode(f"again {plain}".encode()).decode(),
        json.dumps({"inner": json.dumps({"key": value.replace("_", "\\u005f")})}),
    ]


@pytest.mark.parametrize("context", CONTEXTS)
def test_texts_together_hold_what_each_of_them_holds(context: str) -> None:
    others = ["plain \U0001f468\u200d\U0001f469 text \\\\", "a %41 &amp; b", "c2hvcnQ= and more", ""]
    assert not may_hold_secrets(others, severity=Severity.ERROR)
    for written in written_in_every_way(GITHUB):
        text = context.format(written)
        if any(m.severity >= Severity.ERROR for m in find_secrets(text, key=KEY)):
            for place in range(len(others)):
                assert may_hold_secrets([*others[:place], text, *others[place:]], severity=Severity.ERROR), text


def test_the_table_of_prefilters_is_that_of_the_rules() -> None:
    rows = json.loads(data.read("secret_prefilters.json"))
    assert rows == [[rule.prefilter, rule.severity.name] for rule in shipped_rules()]


def test_what_rules_are_searched_by_knows_no_beginning_or_end_of_a_text() -> None:
    for rule in shipped_rules():
        bare = re.sub(r"\\.|\[(?:\\.|[^\]])*\]", "", rule.prefilter)
        assert not re.search(r"\^|\$|\\[AzbB]", bare), rule.id
        assert not re.search(r"\\[AzbB]", rule.prefilter), rule.id
