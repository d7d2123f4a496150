"""Bytes to text: strict UTF-8, and one kind of line end, so that positions are the same on every machine."""

from __future__ import annotations

import re
from bisect import bisect_right
from typing import NamedTuple

from ctxc.base.spans import Span
from ctxc.parse.problems import Problem, shown

_BOM = b"\xef\xbb\xbf"
_LFS = b"version https://git-lfs.github.com/spec/v1\n"
_MARKER_LINE = re.compile(r"^(?:<{7} .*|={7}|>{7} .*)$", re.M)
_CONTROL_BYTES = bytes(b for b in range(32) if b not in (9, 10, 13)) + b"\x7f"
_LINE_END = re.compile(r"\r\n|\r|\n")


class Text(NamedTuple):
    """A decoded file. Line ends are LF and there is no byte order mark; None where the bytes are not text."""

    text: str | None
    problems: tuple[Problem, ...] = ()


def decode(data: bytes) -> Text:
    """Text of a file's bytes, with what is wrong about its encoding and line ends."""
    problems: list[Problem] = []
    if data.startswith((b"\xff\xfe", b"\xfe\xff")) or _looks_like_utf16(data):
        return Text(None, (_utf16(),))
    if data.startswith(_LFS):
        return Text(None, (_lfs(),))
    if data.startswith(_BOM):
        data = data[3:]
        problems.append(
            Problem(
                "byte-order-mark",
                "the file begins with a byte order mark (U+FEFF)",
                "save it as UTF-8 without a signature; ctxc reads it as if the mark were not there",
                Span(1, 1, 1, 1),
            )
        )
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        return Text(None, (*problems, _bad_utf8(data, error)))
    if b"\r" in data:
        mixed = _mixed_line_ends(text)
        if mixed:
            problems.append(mixed)
        text = text.replace("\r\n", "\n").replace("\r", "\n")
    if b"<<<<<<< " in data:
        problems.extend(conflict_markers(text))
    return Text(text, tuple(problems))


def normalised(data: bytes) -> bytes:
    """Bytes as they are hashed: no byte order mark, LF line ends, so that a checkout setting changes nothing."""
    if data.startswith(_BOM):
        data = data[3:]
    return data.replace(b"\r\n", b"\n").replace(b"\r", b"\n") if b"\r" in data else data


def has_controls(data: bytes) -> bool:
    """Whether there is a control character (C0 or DEL) other than tab, line feed and carriage return."""
    return len(data.translate(None, _CONTROL_BYTES)) != len(data)


def line_starts(text: str) -> list[int]:
    """Offsets at which the lines of a text with LF line ends begin."""
    starts = [0]
    at = text.find("\n")
    while at >= 0:
        starts.append(at + 1)
        at = text.find("\n", at + 1)
    return starts


def place(starts: list[int], offset: int) -> tuple[int, int]:
    """Line and column, both from 1, of an offset in code points."""
    line = bisect_right(starts, offset)
    return line, offset - starts[line - 1] + 1


def span_at(starts: list[int], start: int, end: int) -> Span:
    """The span between two offsets."""
    return Span(*place(starts, start), *place(starts, end))


def conflict_markers(text: str) -> list[Problem]:
    """One problem for each line that a merge left behind; none unless both an opening and a closing line are there."""
    found = list(_MARKER_LINE.finditer(text))
    if not any(m[0][0] == "<" for m in found) or not any(m[0][0] == ">" for m in found):
        return []
    starts = line_starts(text)
    return [
        Problem(
            "conflict-marker",
            f"a merge left the line {shown(m[0])} behind",
            "settle the conflict and remove the marker lines",
            span_at(starts, m.start(), m.end()),
        )
        for m in found
    ]


def _looks_like_utf16(data: bytes) -> bool:
    head = data[:256]
    if b"\0" not in head or len(head) < 4:
        return False
    half = len(head) // 2
    nuls = max((head[0::2].count(0), head[1::2].count(0)))
    # Every other byte of a Western text: a file with NUL bytes all over is no text at all.
    return nuls * 10 >= half * 4 and nuls * 10 >= head.count(0) * 9


def _utf16() -> Problem:
    return Problem(
        "wrong-encoding",
        "the file is UTF-16; expected UTF-8",
        "save it as UTF-8 (`iconv -f UTF-16 -t UTF-8 FILE`)",
        Span(1, 1, 1, 1),
    )


def _lfs() -> Problem:
    return Problem(
        "lfs-pointer",
        "the file is a Git LFS pointer; its content is not here",
        "run `git lfs pull`, or keep the file out of LFS",
        Span(1, 1, 1, 1),
    )


def _bad_utf8(data: bytes, error: UnicodeDecodeError) -> Problem:
    before = data[: error.start].decode("utf-8").replace("\r\n", "\n").replace("\r", "\n")
    line = before.count("\n") + 1
    column = len(before) - (before.rfind("\n") + 1) + 1
    nul = data.find(b"\0")
    if nul >= 0:
        return Problem(
            "wrong-encoding",
            f"the file is binary (a NUL byte at offset {nul:,}); expected UTF-8",
            "name a text file, or move this one out of the folder",
            Span(1, 1, 1, 1),
        )
    bad = data[error.start]
    return Problem(
        "wrong-encoding",
        f"byte 0x{bad:02x} at offset {error.start:,} is not UTF-8",
        "save the file as UTF-8 (`iconv -f WINDOWS-1252 -t UTF-8 FILE` where it comes from an older Windows editor)",
        Span(line, column, line, column + 1),
        data={"offset": error.start, "byte": bad},
    )


def _mixed_line_ends(text: str) -> Problem | None:
    counts: dict[str, int] = {}
    second: tuple[int, int] | None = None
    start = 0
    for line, match in enumerate(_LINE_END.finditer(text), 1):
        end = match[0]
        if end not in counts and len(counts) == 1:
            second = (line, match.start() - start + 1)
        counts[end] = counts.get(end, 0) + 1
        start = match.end()
    if second is None:
        return None
    names = {"\r\n": "CRLF", "\n": "LF", "\r": "CR"}
    told = ", ".join(f"{names[e]} on {n} line{'s' if n > 1 else ''}" for e, n in sorted(counts.items()))
    return Problem(
        "mixed-line-ends",
        f"line ends are mixed: {told}",
        "use one kind (an `.editorconfig` or `.gitattributes` with `text=auto` keeps it so)",
        Span(*second, *second),
        data={names[e]: n for e, n in sorted(counts.items())},
    )
