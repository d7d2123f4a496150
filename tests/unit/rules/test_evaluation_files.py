"""Results of evaluations from elsewhere: files like any other, from whoever can write into the build."""

from __future__ import annotations

import pytest

from ctxc.rules._evaluations import read_results

GOOD = "<testsuites><testsuite><testcase/><testcase><failure/></testcase><testcase><skipped/></testcase></testsuite></testsuites>"
BOMB = '<!DOCTYPE x [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;&a;">]><testsuites><testcase name="&b;"/></testsuites>'


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le"])
def test_results_in_any_encoding_of_xml(encoding: str) -> None:
    data = ("<?xml version='1.0'?>" + GOOD).encode(encoding)
    results = read_results(data, "junit")
    assert (results.passed, results.failed, results.total) == (1, 1, 2)


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-be"])
@pytest.mark.parametrize("text", [BOMB, '<!DOCTYPE testsuites SYSTEM "file:///etc/passwd"><testsuites/>'])
def test_t038_a_document_type_is_refused_before_any_entity(text: str, encoding: str) -> None:
    with pytest.raises(ValueError, match="it has a document type"):
        read_results(text.encode(encoding), "junit")


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b"<a>" * 100_000, "not XML"),
        (b"", "not XML"),
        (b"\0" * 10, "not XML"),
        (b"<?xml version='1.0' encoding='nope'?><testsuites/>", "not XML"),
        (b"<?xml version='1.0' encoding='utf-7'?><testsuites/>", "encodings are not supported"),
        (b"<html/>", "its root is <html>"),
    ],
)
def test_what_is_no_result_says_why(data: bytes, said: str) -> None:
    with pytest.raises(ValueError, match=said):
        read_results(data, "junit")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[" * 100_000, "not JSON"),
        ("1" * 10_000, "not JSON"),
        ("[]", "no object"),
        ('{"results": {"stats": {"successes": -1, "failures": 0}}}', "successes is no number"),
        ('{"results": {"stats": {"successes": 1, "failures": true}}}', "failures is no number"),
        ('{"results": {}}', "no results.stats"),
    ],
)
def test_what_promptfoo_would_not_write(text: str, said: str) -> None:
    with pytest.raises(ValueError, match=said):
        read_results(text.encode(), "promptfoo")


def test_rows_that_failed_count_where_the_sums_do_not_say_so() -> None:
    rows = '[{"success": false}, {"success": true}, 3]'
    text = f'{{"results": {{"stats": {{"successes": 2, "failures": 0}}, "results": {rows}}}}}'
    results = read_results(text.encode(), "promptfoo")
    assert (results.passed, results.failed) == (2, 1)
