from __future__ import annotations

import pytest

from ctxc.detect.volatile import find_volatile, volatile_name


def found(text: str, **options: object) -> list[tuple[str, str, str]]:
    return [
        (m.detector.removeprefix("volatile."), m.severity.label, text[m.start : m.end])
        for m in find_volatile(text, **options)  # type: ignore[arg-type]
    ]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Rendered 2026-10-31T10:00:00Z.", ("clock", "warning", "2026-10-31T10:00:00Z")),
        ("Sat, 31 Oct 2026 10:00:05", ("clock", "warning", "Sat, 31 Oct 2026 10:00:05")),
        ("The current time is 10:31 AM", ("clock", "warning", "10:31 AM")),
        ("ratio 10:31:07.250", ("clock", "warning", "10:31:07.250")),
        ("office opens 9:30", ("clock", "info", "9:30")),
        ("timestamp=1761904800", ("clock", "warning", "1761904800")),
        ("Today is 2026-10-31.", ("date", "warning", "2026-10-31")),
        ("Today is October 31, 2026.", ("date", "warning", "October 31, 2026")),
        ("今天是2026年10月31日", ("date", "warning", "2026年10月31日")),
        ("In force since 2024-01-01 for all", ("date", "info", "2024-01-01")),
        ("a date (e.g. `2025-11-01`)", ("date", "info", "2025-11-01")),
        ("in /work 4c9d17ab-3f21-4a08-9be2-6a5c0d8f13e7", ("uuid", "warning", "4c9d17ab-3f21-4a08-9be2-6a5c0d8f13e7")),
        ("id req_011CSHoEeqs5C35K2UUqR7Fy", ("id", "warning", "req_011CSHoEeqs5C35K2UUqR7Fy")),
        ("Memory 49% — 1,085/2,200 chars", ("counter", "warning", "1,085/2,200 chars")),
        ("This is turn 12 of 40", ("counter", "warning", "turn 12 of 40")),
        ("Request #4711", ("counter", "warning", "Request #4711")),
        ("这是第 3 轮", ("counter", "warning", "第 3 轮")),
        ("cwd: /home/ada/project", ("path", "warning", "/home/ada/project")),
        ("C:\\Users\\Ada\\x", ("path", "warning", "C:\\Users\\Ada\\x")),
        ("see /tmp/out.log", ("path", "info", "/tmp/out.log")),
        ("in /tmp/tmp8x2k1q_a/x", ("path", "warning", "/tmp/tmp8x2k1q_a/x")),
        ("nonce 9f86d081884c7d65", ("hex", "warning", "9f86d081884c7d65")),
        ("{{now}}", ("variable", "warning", "{{now}}")),
        ("It is {current_datetime}.", ("variable", "warning", "{current_datetime}")),
        ("${SESSION_ID}", ("variable", "warning", "${SESSION_ID}")),
        ("%(timestamp)s", ("variable", "warning", "%(timestamp)s")),
        ("<%= Time.now %>", ("variable", "warning", "<%= Time.now %>")),
        ("$(date -u)", ("variable", "warning", "$(date -u)")),
        ("On branch main\n", ("state", "warning", "On branch main")),
    ],
)
def test_what_changes(text: str, expected: tuple[str, str, str]) -> None:
    assert found(text) == [expected]


@pytest.mark.parametrize(
    "text",
    [
        "gpt-4o-2024-08-06 and https://json-schema.org/draft/2020-12/schema",
        "anthropic-version: 2023-06-01",
        "00000000-0000-0000-0000-000000000000 6ba7b810-9dad-11d1-80b4-00c04fd430c8",
        "/home/user/project and https://host/home/ada and ./tmp/x",
        "{{name}} {claim_id} ${product_family} `date` {formatted}",
        "1:2 and 12:345 and C:10 and 10.0.0.1:8080",
        "abcdefabcdefabcdef 12345678901234567890 deadbeef",
        "step 3: read the file; item 4/5; 50% off",
        "1234567890 in total",
    ],
)
def test_what_stays(text: str) -> None:
    assert found(text) == []


def test_tenants_are_whole_words() -> None:
    text = "for t_demo, not t_demo2 nor at_demo; t_demo"
    assert found(text, tenants=["t_demo", ""]) == [("tenant", "error", "t_demo"), ("tenant", "error", "t_demo")]
    assert [m.start for m in find_volatile(text, tenants=["t_demo"])] == [4, 37]


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("now", "clock"),
        ("currentDate", "date"),
        ("date_time", "date"),
        ("request.id", "id"),
        ("sessionId", "id"),
        ("updated_at", "clock"),
        ("run-uuid", "uuid"),
        ("tenant", "tenant"),
        ("claim_id", ""),
        ("name", ""),
        ("update", ""),
        ("known", ""),
        ("", ""),
    ],
)
def test_names_of_variables(name: str, kind: str) -> None:
    assert volatile_name(name) == kind
