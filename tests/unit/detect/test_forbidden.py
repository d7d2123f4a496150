from __future__ import annotations

import json
from pathlib import Path

import pytest

from ctxc.detect.delimiters import find_delimiters
from ctxc.detect.forbidden import FAMILIES, detector_ids, find_forbidden
from ctxc.detect.injection import find_injections, payloads
from ctxc.detect.role_tokens import find_role_tokens
from ctxc.detect.secret_rules import parse_rules
from ctxc.detect.unicode import find_unicode
from ctxc.detect.volatile import find_volatile

KEY = b"k"
SECRET = "ghp_Ab1Cd2Ef3Gh4Ij5Kl6Mn7Op8Qr9St0Uv1Wx2"
TEXT = f"mail ada@history.org card 4539578763621486 {SECRET} http://10.0.0.8/x \u200b {{{{now}}}} [/DATA]"


def found(text: str, *detect: str, **options: object) -> list[tuple[str, str]]:
    return [
        (m.detector, text[m.start : m.end])
        for m in find_forbidden(text, key=KEY, detect=detect, **options)  # type: ignore[arg-type]
    ]


def test_one_detector_or_a_family() -> None:
    assert found(TEXT, "pii.email") == [("pii.email", "ada@history.org")]
    assert [d for d, _ in found(TEXT, "pii")] == ["pii.email", "pii.card"]
    assert found(TEXT, "secret") == [("secret.github-token", SECRET)]
    assert found(TEXT, "secret.npm-token") == []
    assert found(TEXT, "leak", "volatile.variable", "delimiter") == [
        ("leak.internal-url", "http://10.0.0.8"),
        ("volatile.variable", "{{now}}"),
        ("delimiter.bracket", "[/DATA]"),
    ]
    assert [d for d, _ in found(TEXT, "unicode.U005", "leak.stack-trace")] == ["unicode.U005"]
    assert found(TEXT) == []


def test_decoded_values_and_long_texts() -> None:
    text = ("filler words " * 5000 + "q=ada%40history.org ") * 3
    places = [m.start for m in find_forbidden(text, key=KEY, detect=["pii.email"])]
    assert places == [text.index("ada"), text.index("ada", len(text) // 2), text.rindex("ada")]
    assert find_forbidden(text, key=KEY, detect=["pii.email"], decoders=("json",)) == ()


def test_an_unknown_id_is_refused() -> None:
    with pytest.raises(ValueError, match=r"no detector is called pii\.emial, secrets"):
        find_forbidden("x", key=KEY, detect=["pii.emial", "secrets", "pii"])


def test_own_rules_and_tenants() -> None:
    rules = parse_rules("[[rules]]\nid = 'acme'\nregex = 'acme_[a-z0-9]{8}'\nkeywords = ['acme_']")
    assert "secret.acme" in detector_ids(rules)
    assert found("acme_a1b2c3d4", "secret.acme", extra=rules) == [("secret.acme", "acme_a1b2c3d4")]
    assert found("for t_demo", "volatile.tenant", tenants=["t_demo"]) == [("volatile.tenant", "t_demo")]


def test_every_id_that_a_detector_gives_is_listed() -> None:
    ids = set(detector_ids())
    assert set(FAMILIES) < ids
    assert len(ids) == len(detector_ids())
    cases = Path(__file__).with_name("unicode_cases.jsonl").read_text(encoding="ascii").split("\n")
    texts = [json.loads(line)["text"] for line in cases if line] + [payload.text for payload in payloads()]
    given = {
        match.detector
        for text in texts
        for finder in (find_unicode, find_role_tokens, find_delimiters, find_injections, find_volatile)
        for match in finder(text)
    } | {match.detector for text in texts for match in find_unicode(text, context="identifier")}
    assert len(given) > 50
    assert given <= ids
