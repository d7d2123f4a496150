"""The grammar of paths: the same answer on every platform."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ctxc.source.paths import MAX_DEPTH, collisions, fault_of_name, fault_of_path, shown


@pytest.mark.parametrize(
    "path",
    [
        "a.md",
        "fragments/core/policy.md",
        ".github/prompts/x.md",
        ".ctxc/baseline.jsonl",
        "docs ü/設計 メモ.md",
        "[id]/(group)/page.md",
        "a..b/c.md",
        "console/aux1.md",
        "com0.md",
        "git~2",
        "x~/y",
        "%2e%2e/x",
        "．．/x",
        "café.md",
        "cafe\u0301.md",
        "/".join(["d"] * MAX_DEPTH),
        "x" * 255,
    ],
)
def test_allowed(path: str) -> None:
    assert fault_of_path(path) == ""


@pytest.mark.parametrize(
    ("path", "said"),
    [
        ("", "is empty"),
        ("/etc/passwd", "is absolute"),
        ("//host/share", "is absolute"),
        ("~/x", "begins with '~'"),
        ("~root/x", "begins with '~'"),
        ("a//b", "has an empty component"),
        ("a/", "has an empty component"),
        ("./a", "has the component '.'"),
        ("a/../b", "has the component '..'"),
        ("C:\\x", "backslash"),
        ("C:/x", "colon"),
        ("a.md:stream", "colon"),
        ("file:///etc/passwd", "colon"),
        ("a\\b", "backslash"),
        ("a\0b", "control character"),
        ("a\nb", "control character"),
        ("a\x85b", "control character"),
        ("a\u2028b", "control character"),
        ("a\udce9", "not valid UTF-8"),
        ("a.md.", "ends in a dot or a space"),
        ("a /b", "ends in a dot or a space"),
        (".git/config", "git's own folder"),
        ("x/.GIT/config", "git's own folder"),
        (".Git", "git's own folder"),
        ("GIT~1/config", "git's own folder"),
        (".g\u200cit/config", "git's own folder"),
        ("\ufeff.git", "git's own folder"),
        ("CON", "device name"),
        ("a/nul.txt", "device name"),
        ("Com1.tar.gz", "device name"),
        ("lpt¹", "device name"),
        ("aux .md", "device name"),
        ("conin$", "device name"),
        ("x" * 256, "more than 255 bytes"),
        ("ü" * 128, "more than 255 bytes"),
        ("/".join(["d"] * (MAX_DEPTH + 1)), "more than 64 folders deep"),
        ("/".join(["x" * 250] * 17), "longer than 4,096 bytes"),
    ],
)
def test_refused(path: str, said: str) -> None:
    assert said in fault_of_path(path)


@given(st.text(max_size=30))
def test_what_is_allowed_stays_below_the_root(path: str) -> None:
    if fault_of_path(path) == "":
        parts = path.split("/")
        assert not path.startswith(("/", "~"))
        assert all(part not in {"", ".", ".."} and part.casefold() != ".git" for part in parts)
        assert all(fault_of_name(part) == "" for part in parts)
        assert "\\" not in path and ":" not in path and shown(path) == path


@given(st.text(max_size=20))
def test_shown_is_one_line_of_valid_text(path: str) -> None:
    text = shown(path + "\udcff\ud800\x1b\n")
    assert len((text + "x").splitlines()) == 1
    assert "\x1b" not in text
    text.encode("utf-8")
    assert text.endswith("\\xff\\ud800\\x1b\\x0a")


def test_collisions_ignore_case_and_normalisation() -> None:
    paths = ["Policy.md", "policy.md", "caf\u00e9.md", "cafe\u0301.md", "A/x", "a/X", "a/y", "straße", "STRASSE"]
    assert collisions(paths) == (
        ("A/x", "a/X"),
        ("Policy.md", "policy.md"),
        ("STRASSE", "straße"),
        ("cafe\u0301.md", "caf\u00e9.md"),
    )
    assert collisions(["a", "b"]) == ()


def test_what_is_too_long_for_a_path_is_cut_in_messages() -> None:
    assert shown("x" * 10_000) == "x" * 64 + "... (10,000 characters)"
