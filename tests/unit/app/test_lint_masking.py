"""What is quoted from files shows no secret, whatever it is quoted for."""

from __future__ import annotations

from pathlib import Path

import pytest
from lint_world import NOW, TEMPLATE, judge, write

from ctxc.app.masking import Sources, mask, mask_messages
from ctxc.base.spans import Location
from ctxc.model.finding import Finding, Severity
from ctxc.report import View, format_ids, render

TOKEN = "ghp" + "_6KvT2mQx9LwZr4YbNd8Hs1JpFe7UcGa0RiXo"
MASKED = "ghp_" + "*" * (len(TOKEN) - 4)


def test_a_masked_text_is_as_long_and_has_the_same_lines() -> None:
    key = "-----BEGIN RSA PRIVATE KEY-----\r\n" + "MIIEpAIBAAKCAQEA7Yn2vC\r\n" * 9 + "-----END RSA PRIVATE KEY-----\r\n"
    text = f"# a token\r\ntoken: {TOKEN}\r\n{key}mail: jan.nowak@acme.pl\r\nversion: 1.10\r\n"
    shown = mask(text)
    assert len(shown) == len(text)
    assert [i for i, c in enumerate(shown) if c in "\r\n"] == [i for i, c in enumerate(text) if c in "\r\n"]
    assert f"token: {MASKED}\r\n" in shown
    assert "MIIE" not in shown
    assert "jan.nowak" not in shown
    assert shown.startswith("# a token\r\n")
    assert shown.endswith("\r\nversion: 1.10\r\n")


def test_an_encoded_secret_is_masked_whole() -> None:
    import base64

    encoded = base64.b64encode(f"token={TOKEN}".encode()).decode()
    shown = mask(f"data: {encoded} .")
    assert encoded[:8] not in shown
    assert shown.startswith("data: ")
    assert shown.endswith(" .")


def test_a_file_is_read_and_searched_once() -> None:
    asked: list[str] = []

    def read(path: str) -> str | None:
        asked.append(path)
        return None if path == "gone" else f"a {TOKEN}"

    sources = Sources(read)
    assert sources("a") is sources("a")
    assert sources("a") == f"a {MASKED}"
    assert sources("gone") is None
    assert sources("gone") is None
    assert asked == ["a", "gone"]


def test_messages_that_quote_a_secret() -> None:
    finding = Finding(
        code="CTX004", name="wrong-type", severity=Severity.ERROR, message=f'expected a list, found "{TOKEN}"',
        location=Location("t.yaml"), help=f'write a list: ["{TOKEN}"]',
    )  # fmt: skip
    (shown,) = mask_messages([finding])
    assert shown.message == f'expected a list, found "{MASKED}"'
    assert shown.help == f'write a list: ["{MASKED}"]'


@pytest.mark.parametrize("options", [{}, {"ignore": ("CTX300",)}, {"select": ("CTX003", "CTX006", "CTX112")}])
def test_no_format_shows_a_secret(tmp_path: Path, options: dict[str, tuple[str, ...]]) -> None:
    """On the line of the finding itself, on the line of another finding, and in the message of a third."""
    template = TEMPLATE.replace("text: Answer briefly.", f"tetx: {TOKEN}, kind: {TOKEN}")
    root = write(
        tmp_path, {"templates/t.yaml": template, "templates/other.yaml": f"template_id: {TOKEN} x\nversion: 1\n"}
    )
    linted = judge(root, **options)
    assert len(linted.report.findings) >= 3
    for name in format_ids():
        text = render(name, linted.report, View(source=linted.sources()))
        assert TOKEN[4:] not in text, name
    assert MASKED in render("text", linted.report, View(source=linted.sources()))
    assert linted.report.now == NOW
