from __future__ import annotations

import pytest

from ctxc.detect.checksums import is_card, is_china_id, is_iban, luhn
from ctxc.detect.decoded import find_decoded
from ctxc.detect.leaks import find_internal_urls, find_stack_traces
from ctxc.detect.pii import KINDS, find_personal_data
from ctxc.model.finding import Severity

KEY = b"k"


def found(text: str, kind: str) -> list[str]:
    """What was found of one kind."""
    return [text[m.start : m.end] for m in find_personal_data(text, key=KEY, only={f"pii.{kind}"})]


@pytest.mark.parametrize(
    ("kind", "text", "value"),
    [
        ("email", "write to ada.lovelace@history.org.", "ada.lovelace@history.org"),
        ("email", "邮箱zhang_san@qq.com。", "zhang_san@qq.com"),
        ("email", "<o'neill+tag@sub.domain.co.uk>", "o'neill+tag@sub.domain.co.uk"),
        ("card", "card 4539 5787 6362 1486 ok", "4539 5787 6362 1486"),
        ("card", "3714-496353-98431", "3714-496353-98431"),
        ("card", "pan=5425233430109903;", "5425233430109903"),
        ("card", "卡号6228480402564890018。", "6228480402564890018"),
        ("card", "6250941006528599", "6250941006528599"),
        ("iban", "IBAN: DE89 3704 0044 0532 0130 00 BIC", "DE89 3704 0044 0532 0130 00"),
        ("iban", "GB82WEST12345698765432", "GB82WEST12345698765432"),
        ("iban", "MT84MALT011000012345MTLCAST001S", "MT84MALT011000012345MTLCAST001S"),
        ("cn-id", "身份证11010519491231002X，", "11010519491231002X"),
        ("cn-id", "440524188001010014", "440524188001010014"),
        ("cn-mobile", "电话：13912345678", "13912345678"),
        ("cn-mobile", "+86 139 1234 5678", "+86 139 1234 5678"),
        ("us-ssn", "SSN 536-22-8726", "536-22-8726"),
        ("us-ssn", "Social Security number: 536228726", "536228726"),
        ("phone", "call +44 20 7946 0958 now", "+44 20 7946 0958"),
        ("phone", "(212) 736-5000", "(212) 736-5000"),
        ("phone", "+14155552671", "+14155552671"),
        ("ip", "8.8.4.4:53", "8.8.4.4"),
        ("ip", "8.8.4.4", "8.8.4.4"),
        ("ip", "from 93.184.216.34 at", "93.184.216.34"),
        ("ip", "host 2606:2800:220:1:248:1893:25c8:1946", "2606:2800:220:1:248:1893:25c8:1946"),
        ("ip", "http://93.184.216.34/x", "93.184.216.34"),
    ],
)
def test_what_is_found(kind: str, text: str, value: str) -> None:
    assert found(text, kind) == [value]


@pytest.mark.parametrize(
    ("kind", "text"),
    [
        (
            "email",
            "user@example.com, x@a.test, git@github.com:a/b, noreply@vendor.io, icon@2x.png, a@users.noreply.github.com",
        ),
        ("email", "@decorator, foo@1.2.3, see user@localhost and a@b"),
        ("card", "id 4539578763621487, 0000000000000000, 45395787636214861234567"),
        ("card", "4 5 3 9 5 7 8 7 6 3 6 2 1 4 8 6 and 4539.5787636214"),
        ("card", "uuid 4539-5787-6362-14861 and a4539578763621486"),
        ("iban", "DE89370400440532013001, XX82WEST12345698765432, GB82 IS NOT AN ACCOUNT 1234"),
        ("cn-id", "110105194912310020, 110105194913310021, 990105194912310026"),
        ("cn-mobile", "1391234567890, 0.13912345678, 12345678901, id-13912345678, v13912345678"),
        ("us-ssn", "000-12-3456, 666-12-3456, 900-12-3456, 123-00-4567, 123-45-0000, 2024-12-3456"),
        ("phone", "(212) 555-0123, +1 212 555 0123, +0800, 2024-10-31, +1 100 200 3000, 555-0100"),
        ("phone", "@@ -12,7 +1234,5678 @@ and a+1234567890"),
        ("ip", "192.0.2.1 198.51.100.7 203.0.113.9 10.1.2.3 127.0.0.1 169.254.169.254 2001:db8::1 ::1 fe80::1"),
        ("ip", "version 1.2.3.4, Chrome/96.0.4.5, ==1.13.1.2, 300.1.1.1, 1.2.3.4.5, 01.2.3.4, 40.112.0.0/13"),
        ("ip", "std::vector 12:34:56 dead::beef"),
    ],
)
def test_what_is_not(kind: str, text: str) -> None:
    assert found(text, kind) == []


def test_severities_and_masks() -> None:
    text = "4111 1111 1111 1111, 4539578763621486, ada@history.org"
    matches = find_personal_data(text, key=KEY)
    assert [(m.detector, m.severity) for m in matches] == [
        ("pii.card", Severity.INFO),
        ("pii.card", Severity.ERROR),
        ("pii.email", Severity.WARNING),
    ]
    assert [(m.prefix, m.length) for m in matches] == [("4111", 19), ("4539", 16), ("ada", 15)]
    assert len({m.digest for m in matches}) == 3
    assert not any("578763621486" in repr(m) for m in matches)


def test_a_number_is_reported_once() -> None:
    assert [m.detector for m in find_personal_data("+86 139 1234 5678", key=KEY)] == ["pii.cn-mobile"]


def test_all_kinds_in_one_text_with_exact_places() -> None:
    text = "你好 a@history.org 4539578763621486 +14155552671 536-22-8726\n" * 3000
    matches = find_personal_data(text, key=KEY)
    assert len(matches) == 12000
    line = text.index("\n") + 1
    assert matches[-4].start == 2999 * line + 3
    assert {m.detector for m in matches} < {kind.id for kind in KINDS}


def test_decoded_values_are_found() -> None:
    text = "q=ada%40history.org&x"
    assert find_personal_data(text, key=KEY) == ()
    (match,) = find_decoded(text, lambda t: find_personal_data(t, key=KEY))
    assert (text[match.start : match.end], match.via, match.length) == ("ada%40history.org", ("percent",), 15)


def test_checksums() -> None:
    assert luhn("79927398713") and not luhn("79927398710")
    assert is_card("4222222222222") and not is_card("4444444444444448"[::-1])
    assert is_iban("NO9386011117947") and not is_iban("NO9386011117948")
    assert is_china_id("11010519491231002X") and not is_china_id("110105194912310021")


def urls(text: str) -> list[str]:
    return [text[m.start : m.end] for m in find_internal_urls(text, key=KEY)]


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("see http://10.2.3.4:8080/admin", "http://10.2.3.4:8080"),
        ("http://169.254.169.254/latest/meta-data", "http://169.254.169.254"),
        ("https://wiki.corp/x", "https://wiki.corp"),
        ("http://jenkins:8080/job", "http://jenkins:8080"),
        ("http://api.payments.svc.cluster.local", "http://api.payments.svc.cluster.local"),
        ("postgres://svc@db01.prod.internal:5432/app", "postgres://svc@db01.prod.internal:5432"),
        ("http://[fd00::12]:80/", "http://[fd00::12]:80"),
        ("open \\\\fileserver01\\hr$\\pay.xlsx", "\\\\fileserver01\\hr$"),
        ("file:///home/ada/notes.txt", "file:///home/ada/notes.txt"),
        ("HTTPS://Vault.Internal", "HTTPS://Vault.Internal"),
    ],
)
def test_internal_addresses(text: str, value: str) -> None:
    assert urls(text) == [value]


@pytest.mark.parametrize(
    "text",
    [
        "http://localhost:3000 http://127.0.0.1 http://[::1]/ http://host.docker.internal:11434",
        "https://example.com/internal https://internal.example.com https://github.com/corp",
        "https://8.8.8.8/ http://192.0.2.1/x",
        "file:///path/to/file.html file://tests/a.yaml",
        "C:\\\\Users\\\\ada and \\\\hline\\multicolumn and a\\\\b\\c",
    ],
)
def test_addresses_that_are_not_internal(text: str) -> None:
    assert urls(text) == []


TRACES = {
    "python": 'Traceback (most recent call last):\n  File "a.py", line 3, in <module>\n    x\nValueError: y\n',
    "java": "Exception in thread main\n\tat com.acme.App.run(App.java:12)\n\tat com.acme.App.main(App.java:3)\n",
    "node": "Error: x\n    at run (/srv/app/index.js:10:5)\n    at node:internal/x:1:2\n",
    "go": "panic: boom\n\ngoroutine 1 [running]:\nmain.main()\n",
    "dotnet": "   at Acme.App.Run(String[] args) in C:\\src\\App.cs:line 12\n",
    "rust": "thread 'main' panicked at src/main.rs:2:5:\n",
    "ruby": "app/models/x.rb:12:in `save'\n",
    "php": "#0 /var/www/html/index.php(12): run()\n",
}


@pytest.mark.parametrize("language", TRACES)
def test_stack_traces(language: str) -> None:
    text = f"The log says:\n{TRACES[language]}end\n"
    (match,) = find_stack_traces(text, key=KEY)
    assert match.severity == Severity.ERROR
    assert text[match.start - 1] in "\n\t " and text[match.start] not in " \t\n"


def test_two_traces_are_two() -> None:
    text = TRACES["python"] + "one\ntwo\nthree\nfour" + "\n" + TRACES["java"]
    assert len(find_stack_traces(text, key=KEY)) == 2


def test_prose_about_traces_is_none() -> None:
    text = "A traceback (most recent call last) helps; look at App.java:12 or at the panic: it is a goroutine.\n"
    assert find_stack_traces(text, key=KEY) == ()


@pytest.mark.parametrize("number", ["001-01-0001", "665-99-9999", "667-10-1000", "899-01-0001", "100-90-9000"])
def test_the_numbers_at_the_edges_were(number: str) -> None:
    assert found(f"SSN {number}", "us-ssn") == [number]
