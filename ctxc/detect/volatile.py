"""Values that differ from one request to the next, which end a cached prefix where they stand (rule R1).

Clock times, dates, UUIDs, request ids, counters, paths of one machine, random hex, the names of template variables
that hold such values, and tenant ids that the caller names. A date in a policy may well be meant: without a word such
as "today" beside it, it is information.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator
from typing import NamedTuple

from ctxc.base.escaping import visible
from ctxc.detect.match import Match, in_order
from ctxc.detect.patterns import Pattern, PatternSet, haystack
from ctxc.model.finding import Severity

_ERROR, _WARNING, _INFO = Severity.ERROR, Severity.WARNING, Severity.INFO

_MONTH = (
    r"(?:jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sep(?:t(?:ember)?)?|oct(?:ober)?"
    r"|nov(?:ember)?|dec(?:ember)?)"
)
_DAY = r"(?:mon|tues?|wed(?:nes)?|thu(?:rs)?|fri|sat(?:ur)?|sun)(?:day)?"
_ISO_DATE = r"(?:19|20)[0-9]{2}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12][0-9]|3[01])"
_CLOCK = r"(?:[01]?[0-9]|2[0-3]):[0-5][0-9](?::[0-5][0-9](?:[.,][0-9]{1,9})?)?"
_ZONE = r"(?:\s?(?:Z|UTC|GMT|[+-][0-9]{2}:?[0-9]{2}))?"
_NOW = re.compile(
    r"(?i)\b(?:today|now|current(?:ly)?|date|time|as of|generated|updated|synced|rendered"
    r"|started|timestamp|clock|at)\b"
    r"|今天|今日|现在|当前|目前|此刻|日期|时间|生成于|更新于"
)
_EXAMPLE = re.compile(
    r"(?i)(?:e\.g\.|i\.e\.|for example|for instance|such as|like|example:|例如|比如)[,:]?\s{0,2}[`\"'(]{0,2}$"
)
_VERSION = re.compile(r"(?i)(?:version|draft|schema|spec|revision|release|v|api)[\s\"'=:/_-]{0,4}$")
_NAMESPACE = "-9dad-11d1-80b4-00c04fd430c8"  # of the name spaces of RFC 9562; the other one is every manual's example
_VOLATILE_WORDS = {
    "now": "clock", "today": "date", "date": "date", "time": "clock", "timestamp": "clock", "datetime": "clock",
    "clock": "clock", "epoch": "clock", "uuid": "uuid", "guid": "uuid", "ulid": "uuid", "nonce": "random",
    "random": "random", "rand": "random", "salt": "random", "counter": "counter", "iteration": "counter",
    "attempt": "counter", "hostname": "machine", "cwd": "path", "pwd": "path", "workdir": "path", "tmpdir": "path",
    "tenant": "tenant",
}  # fmt: skip
_VOLATILE_IDS = frozenset(
    (
        "request",
        "session",
        "trace",
        "span",
        "run",
        "conversation",
        "message",
        "thread",
        "correlation",
        "turn",
        "call",
        "job",
    )
)


class _Kind(NamedTuple):
    """One kind of volatile value: its pattern and what to make of a candidate (None: nothing)."""

    id: str
    pattern: Pattern
    judge: Callable[[str, int, int], tuple[Severity, str] | None]


def volatile_name(name: str) -> str:
    """What a variable of this name holds that changes: ``clock``, ``date``, ``uuid``, ``counter`` ...; empty for none.

    Snake case, camel case, dots and hyphens are read alike: ``currentDate``, ``request.id``, ``session-id``.
    """
    words = [word.lower() for word in re.findall(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])|[0-9]+", name)]
    for place, word in enumerate(words):
        if word == "id" and place and words[place - 1] in _VOLATILE_IDS:
            return "id"
        if word == "at" and place and words[place - 1] in ("created", "updated", "generated", "sent", "rendered"):
            return "clock"
    joined = "".join(words)
    return next((_VOLATILE_WORDS[word] for word in [*words, joined] if word in _VOLATILE_WORDS), "")


def find_volatile(text: str, *, tenants: Collection[str] = ()) -> tuple[Match, ...]:
    """The volatile values of a text, in its order; ``tenants`` are literal ids that must not stand in shared text.

    Detector ids are ``volatile.clock``, ``.date``, ``.uuid``, ``.id``, ``.counter``, ``.path``, ``.hex``,
    ``.variable``, ``.tenant``.
    """
    hay = haystack(text)
    found: list[Match] = []
    for index in _SCREEN.which(hay.data):
        kind = _KINDS[index]
        for start, end in kind.pattern.in_text(hay):
            verdict = kind.judge(text, start, end)
            if verdict is not None:
                found.append(_match(kind.id, *verdict, text, start, end))
    for tenant in sorted(set(tenants)):
        found.extend(_tenants(text, tenant))
    return in_order(_outermost(found))


def _match(kind: str, severity: Severity, what: str, text: str, start: int, end: int) -> Match:
    return Match(
        detector=f"volatile.{kind}",
        severity=severity,
        start=start,
        end=end,
        message=f"{what}: {visible(text[start:end], 60)}",
    )


def _tenants(text: str, tenant: str) -> Iterator[Match]:
    start = text.find(tenant) if tenant else -1
    while start >= 0:
        end = start + len(tenant)
        if not _is_word(text[start - 1 : start]) and not _is_word(text[end : end + 1]):
            yield _match("tenant", _ERROR, "id of a tenant", text, start, end)
        start = text.find(tenant, end)


def _is_word(char: str) -> bool:
    return char.isascii() and (char.isalnum() or char == "_")


def _outermost(found: list[Match]) -> Iterator[Match]:
    """The matches that lie in no longer one: the time of a timestamp is not a second finding."""
    end = -1
    for match in sorted(found, key=lambda m: (m.start, -m.end, m.detector)):
        if match.end > end:
            yield match
            end = match.end


def _alone(text: str, start: int, end: int) -> bool:
    return not (_is_word(text[start - 1 : start]) or _is_word(text[end : end + 1]))


def _beside(text: str, start: int, end: int) -> bool:
    """True if a word beside the value says that it is the present one, and none that it is an example."""
    if _EXAMPLE.search(text[max(0, start - 20) : start]):
        return False
    return _NOW.search(text[max(0, start - 40) : start]) is not None or _NOW.search(text[end : end + 12]) is not None


def _timestamp(text: str, start: int, end: int) -> tuple[Severity, str] | None:
    return (_WARNING, "date and time") if _alone(text, start, end) else None


def _time(text: str, start: int, end: int) -> tuple[Severity, str] | None:
    before = text[start - 1 : start]
    if not _alone(text, start, end) or before in (":", ".", "/") or text[end : end + 1] in (":",):
        return None
    seconds = text[start:end].count(":") > 1
    if not seconds and not _beside(text, start, end):
        return _INFO, "time of day"
    return _WARNING, "time of day"


def _date(text: str, start: int, end: int) -> tuple[Severity, str] | None:
    if not _alone(text, start, end) or _VERSION.search(text[max(0, start - 16) : start]):
        return None
    if text[start - 1 : start] in ("-", "/") and _is_word(text[start - 2 : start - 1]):
        return None  # part of a name: gpt-4o-2024-08-06, draft/2020-12-01
    return (_WARNING if _beside(text, start, end) else _INFO), "date"


def _epoch(text: str, start: int, end: int) -> tuple[Severity, str] | None:
    lead = text[max(0, start - 24) : start].lower()
    if not _alone(text, start, end) or not re.search(r"time|epoch|\bts\b|stamp|date|now|_at\b", lead):
        return None
    return _WARNING, "time since 1970"


def _uuid(text: str, start: int, end: int) -> tuple[Severity, str] | None:
    value = text[start:end].lower()
    known = not set(value) - set("0-") or value == "550e8400-e29b-41d4-a716-446655440000" or value[8:] == _NAMESPACE
    return (_WARNING, "UUID") if _alone(text, start, end) and not known else None


def _hex(text: str, start: int, end: int) -> tuple[Severity, str] | None:
    value = text[start:end]
    digits = sum(char.isdigit() for char in value)
    if not _alone(text, start, end) or not 0 < digits < len(value) or len(set(value)) < 6:
        return None
    return _INFO if len(value) in (40, 64) else _WARNING, "random hex"


def _path(text: str, start: int, end: int) -> tuple[Severity, str] | None:
    before = text[start - 1 : start]
    if _is_word(before) or before in (".", "/", "}", ")", ">"):
        return None
    if re.search(r"(?i)/(?:home|users)/(?:user|username|you|your\w*|me|name|ubuntu|runner|[<{$\[*])", text[start:end]):
        return None
    if re.match(r"/(?:tmp|private/tmp)/", text[start:end]) and not re.search(
        r"\d{3}|[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-|/tmp[._-]?[A-Za-z0-9]{6,}", text[start:end]
    ):
        return _INFO, "path of a temporary file"
    return _WARNING, "path of one machine"


def _always(what: str) -> Callable[[str, int, int], tuple[Severity, str] | None]:
    return lambda text, start, end: (_WARNING, what)


def _variable(text: str, start: int, end: int) -> tuple[Severity, str] | None:
    name = re.search(r"[A-Za-z_][\w.-]*", text[start:end])
    kind = volatile_name(name.group()) if name else ""
    return (_WARNING, f"variable that holds a changing value ({kind})") if kind else None


_NUMBER = r"[0-9]{1,6}"
_LONG_TIME = rf"(?i){_DAY},? (?:[0-9]{{1,2}} {_MONTH}|{_MONTH} +[0-9]{{1,2}})[ ,]{{1,2}}[^\n]{{0,8}}?{_CLOCK}"
_LONG_DATE = (
    rf"(?i){_MONTH} [0-9]{{1,2}}(?:st|nd|rd|th)?,? (?:19|20)[0-9]{{2}}"
    rf"|[0-9]{{1,2}}(?:st|nd|rd|th)? {_MONTH} (?:19|20)[0-9]{{2}}"
)
_OTHER_DATE = (
    r"(?:19|20)[0-9]{2}年[0-9]{1,2}月[0-9]{1,2}日"
    r"|(?:0?[1-9]|[12][0-9]|3[01])[/.](?:0?[1-9]|[12][0-9]|3[01])[/.](?:19|20)[0-9]{2}"
)
_UUID = r"[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}"
_REQUEST_ID = (
    r"\b(?:req|sess|session|trace|span|run|msg|thread|conv|toolu|call|chatcmpl|resp|evt)[_-][A-Za-z0-9]{12,64}\b"
)
_USAGE = (
    r"[0-9][0-9,.]*\s?/\s?[0-9][0-9,.]*\s?(?:chars?|characters|tokens?|messages|turns|steps|items|requests)\b"
    r"|[0-9]{1,3}(?:\.[0-9]+)?% (?:used|full|of (?:the )?(?:context|budget|window|memory|limit))"
)
_COUNTER = (
    rf"(?i)\b(?:turn|step|request|attempt|iteration|message|round) ?(?:#|no\.? ?|number )?"
    rf"{_NUMBER} ?(?:of|/) ?{_NUMBER}\b"
    rf"|\b(?:turn|request|attempt|iteration|session|run|build) ?(?:#|no\.? ?|number:? ?|count:? ?){_NUMBER}\b"
    rf"|第 ?{_NUMBER} ?[轮次步]"
)
_PATH = (
    r"/(?:home|Users)/[A-Za-z0-9._-]+(?:/[^\s\"'`<>|)\]]*)?"
    r"|/(?:tmp|var/folders|private/tmp|run/user)/[^\s\"'`<>|)\]]+"
    r"|[A-Za-z]:\\(?:Users|Documents and Settings|Temp)\\[^\s\"'`<>|]+"
)
_VARIABLE = (
    r"\{\{[-#^&>]?\s*[A-Za-z_][\w.-]*[^{}\n]{0,40}\}\}|\$\{[A-Za-z_][\w.-]*[^{}\n]{0,20}\}|\{[A-Za-z_][\w.-]*\}"
    r"|%\([A-Za-z_]\w*\)s|<%=?\s*[A-Za-z_][\w.]*[^%\n]{0,40}%>|\$\(date\b[^)\n]{0,40}\)|`date \+[^`\n]{1,40}`"
)
_WORK_TREE = (
    r"(?m)^(?:On branch \S+|Your branch is [^\n]{1,80}|Changes not staged for commit:|Untracked files:"
    r"|HEAD detached at \S+)"
)

_KINDS = (
    _Kind("clock", Pattern(rf"{_ISO_DATE}[T ]{_CLOCK}{_ZONE}"), _timestamp),
    _Kind("clock", Pattern(_LONG_TIME), _timestamp),
    _Kind("clock", Pattern(rf"{_CLOCK}(?:\s?(?i:am|pm)\b)?{_ZONE}"), _time),
    _Kind("clock", Pattern(r"1[5-9][0-9]{8}(?:[0-9]{3}|[0-9]{6})?"), _epoch),
    _Kind("date", Pattern(_ISO_DATE), _date),
    _Kind("date", Pattern(_LONG_DATE), _date),
    _Kind("date", Pattern(_OTHER_DATE), _date),
    _Kind("uuid", Pattern(_UUID), _uuid),
    _Kind("id", Pattern(_REQUEST_ID), _always("id of one request or session")),
    _Kind("counter", Pattern(_USAGE), _always("usage counter")),
    _Kind("counter", Pattern(_COUNTER), _always("counter")),
    _Kind("path", Pattern(_PATH), _path),
    _Kind("hex", Pattern(r"[0-9a-f]{16,64}"), _hex),
    _Kind("variable", Pattern(_VARIABLE), _variable),
    _Kind("state", Pattern(_WORK_TREE), _always("state of a work tree")),
)
_SCREEN = PatternSet([kind.pattern.source for kind in _KINDS])
