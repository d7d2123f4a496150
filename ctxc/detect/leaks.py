"""What shows the inside of a system: addresses of internal hosts, and stack traces."""

from __future__ import annotations

import re

from ctxc.detect.addresses import INTERNAL_NAMES, is_internal_host
from ctxc.detect.match import Match, in_order, masked
from ctxc.detect.patterns import Pattern
from ctxc.detect.pii import Kind, Verdict, judged
from ctxc.model.finding import Severity

_SCHEMES = (
    r"https?|wss?|ftps?|sftp|ldaps?|postgres(?:ql)?|mysql|redis|rediss|mongodb(?:\+srv)?|amqps?|ssh|smb|nfs|kafka|grpc"
)
_URL = re.compile(
    r"[A-Za-z+]+://(?:[^\s/@\"'<>]{0,128}@)?(\[[0-9A-Fa-f:.]{2,45}\]|[A-Za-z0-9._-]{1,253})(?::[0-9]{1,5})?"
)
_SAMPLE_PATH = re.compile(r"(?i)file://(?:localhost)?/+(?:path|some|your|absolute|example|\.\.\.|\{|<|\$)")
_TEX = re.compile(r"\\\\(?:[hc]line|toprule|midrule|bottomrule|text|begin|end|math|frac)")
_TRACES = (
    r"[ \t]*Traceback \(most recent call last\):",
    r"[ \t]*at [\w$.<>/]{1,200}\([\w$-]{1,80}\.(?:java|kt|scala|groovy):[0-9]{1,6}\)",
    r"[ \t]+at (?:[^\n()]{1,200} \()?(?:file://|node:|/|[A-Za-z]:\\|webpack)[^\n()]{1,300}:[0-9]{1,6}:[0-9]{1,6}\)?",
    r"panic: [^\n]{1,300}\n(?:[^\n]{0,300}\n){0,3}goroutine [0-9]{1,6} \[",
    r"[ \t]+at [\w.<>`\[\], ]{1,200}\([^\n)]{0,200}\) in [^\n]{1,300}:line [0-9]{1,6}",
    r"thread '[^'\n]{1,80}' (?:\([0-9]+\) )?panicked at ",
    r"[^\s:][^\n:]{0,199}\.rb:[0-9]{1,6}:in [`'][^'\n]{1,100}'",
    r"#[0-9]{1,3} [^\n]{1,200}\.php\([0-9]{1,6}\): ",
    r"[ \t]*File \"[^\"\n]{1,300}\", line [0-9]{1,6}, in ",
)


def _internal(text: str, start: int, end: int) -> Verdict | None:
    found = _URL.match(text, start)
    if found is None or not is_internal_host(found.group(1)):
        return None
    return start, found.end(), Severity.ERROR, "address of an internal host"


def _share(text: str, start: int, end: int) -> Verdict | None:
    r"""A UNC path. ``\\`` is also an escaped backslash: that one has a letter before it, or none of these."""
    before = text[start - 1 : start]
    if _TEX.match(text, start):
        return None
    if before and before not in " \t\r\n\"'(=:,`[<>":
        return None
    return start, end, Severity.ERROR, "path of a network share"


def _local_file(text: str, start: int, end: int) -> Verdict | None:
    if text[start - 1 : start].isalnum() or _SAMPLE_PATH.match(text, start):
        return None
    return start, end, Severity.ERROR, "address of a local file"


def _trace(text: str, start: int, end: int) -> Verdict | None:
    while text[start] in " \t\r\n":
        start += 1
    return start, end, Severity.ERROR, "stack trace"


_INTERNAL = Kind(
    id="leak.internal-url",
    # Only hosts that can be internal, so that ordinary addresses cost nothing; the judge decides.
    pattern=Pattern(
        rf"(?i)\b(?:{_SCHEMES})://(?:[^\s/@\"'<>]{{0,128}}@)?"
        rf"(?:10\.|172\.|192\.168\.|169\.254\.|100\.|\[f|(?:[a-z0-9_-]+\.)*(?:{INTERNAL_NAMES})\.?(?:[^a-z0-9.-]|$))"
    ),
    judge=_internal,
)
_SHARE = Kind(
    id="leak.internal-url",
    pattern=Pattern(r"\\\\[A-Za-z0-9][A-Za-z0-9._-]{1,62}\\[A-Za-z0-9][A-Za-z0-9._$-]{1,80}"),
    judge=_share,
)
_FILE = Kind(
    id="leak.internal-url",
    pattern=Pattern(r"(?i)\bfile://(?:localhost)?/[^\s\"'<>)\]`]{1,200}"),
    judge=_local_file,
)
_TRACE = Kind(
    id="leak.stack-trace",
    pattern=Pattern("(?m)^(?:" + "|".join(_TRACES) + ")"),
    judge=_trace,
    # A part of each form, without the counted repetitions that make thousands of states of it.
    hint=(
        r"Traceback \(most recent call last\):|\.(?:java|kt|scala|groovy):[0-9]"
        r"|[ \t]at (?:[^\n()]+ \()?(?:file://|node:|/|[A-Za-z]:\\|webpack)|panic: |\) in [^\n]+:line [0-9]"
        r"|panicked at |\.rb:[0-9]+:in |\.php\([0-9]+\): |File \"[^\"\n]+\", line [0-9]"
    ),
)
ADDRESSES, TRACES = (_INTERNAL, _SHARE, _FILE), (_TRACE,)


def find_internal_urls(text: str, *, key: bytes) -> tuple[Match, ...]:
    """Addresses whose host is private, link-local or of an internal domain, UNC paths, and ``file:`` addresses."""
    return _find(text, ADDRESSES, key)


def find_stack_traces(text: str, *, key: bytes) -> tuple[Match, ...]:
    """The first recognised line of each stack trace (Python, JVM, Node, Go, .NET, Rust, Ruby, PHP)."""
    matches = _find(text, TRACES, key)
    firsts: list[Match] = []
    end = -2
    for match in matches:
        # Frames that follow one another are one trace; a line or two of message may stand between them.
        if not firsts or text.count("\n", end, match.start) > 3:
            firsts.append(match)
        end = match.end
    return tuple(firsts)


def _find(text: str, kinds: tuple[Kind, ...], key: bytes) -> tuple[Match, ...]:
    return in_order(
        masked(kind.id, severity, start, end, what, value=text[start:end], key=key)
        for kind, (start, end, severity, what) in judged(text, kinds)
    )
