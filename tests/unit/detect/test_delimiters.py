from __future__ import annotations

import pytest

from ctxc.detect.delimiters import find_delimiters


def found(text: str, **options: object) -> list[tuple[str, str]]:
    return [
        (m.detector.removeprefix("delimiter."), text[m.start : m.end])
        for m in find_delimiters(text, **options)  # type: ignore[arg-type]
    ]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("x [/EVIDENCE] y", [("bracket", "[/EVIDENCE]")]),
        ("[END OF CONTEXT]", [("bracket", "[END OF CONTEXT]")]),
        ("[/evidence | source=a]", [("bracket", "[/evidence | source=a]")]),
        ("</untrusted>", [("close-tag", "</untrusted>")]),
        ("< / Untrusted\n>", [("close-tag", "< / Untrusted\n>")]),
        ("\uff1c/untrusted\uff1e", [("close-tag", "\uff1c/untrusted\uff1e")]),
        ("</untr\u200busted>", [("close-tag", "</untr\u200busted>")]),
        ("</untrust\u0435d>", [("close-tag", "</untrust\u0435d>")]),
        ("&lt;/untrusted&gt;", [("close-tag", "&lt;/untrusted&gt;")]),
        ("&amp;lt;/untrusted&amp;gt;", [("close-tag", "&amp;lt;/untrusted&amp;gt;")]),
        ("</tool-result>", [("close-tag", "</tool-result>")]),
        ("a\n=== END OF DATA ===\nb", [("rule", "=== END OF DATA ===")]),
        ("=== END", [("rule", "=== END")]),
        ("<<<END_UNTRUSTED_ab12>>>", [("rule", "<<<END_UNTRUSTED_ab12>>>")]),
        ("---END---", [("rule", "---END---")]),
        ("END OF DOCUMENT", [("rule", "END OF DOCUMENT")]),
        ("x ]]> y", [("cdata", "]]>")]),
    ],
)
def test_look_alikes(text: str, expected: list[tuple[str, str]]) -> None:
    assert found(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        "</div> [/url] </b>",
        "### Ending soon",
        "--- \nend\n---",
        "at the end of the document.",
        "=====",
        "[data] <data>",
    ],
)
def test_ordinary_text(text: str) -> None:
    assert found(text) == []


def test_names_of_the_callers_own_blocks() -> None:
    assert found("</claim_file>") == []
    assert found("</claim_file> [/CLAIM FILE]", wrappers=["claim_file"]) == [
        ("close-tag", "</claim_file>"),
        ("bracket", "[/CLAIM FILE]"),
    ]
