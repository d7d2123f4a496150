"""Text that a reader of the rendered page does not see: rules U015 to U019.

Base64 that decodes to words, comments and hidden elements, remote images and elements (they can carry data away),
``data:`` and ``javascript:`` addresses, and escapes that hide the characters of U001 to U006.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

from ctxc.base.escaping import visible
from ctxc.detect.match import Match
from ctxc.detect.patterns import Haystack, Pattern, haystack
from ctxc.detect.projections import decode_base64
from ctxc.model.finding import Severity

MIN_BASE64_CHARS = 40
LONG_QUERY_CHARS = 64

_ERROR, _WARNING = Severity.ERROR, Severity.WARNING
_BASE64 = Pattern(rf"[A-Za-z0-9+/]{{{MIN_BASE64_CHARS},}}={{0,2}}|[A-Za-z0-9_-]{{{MIN_BASE64_CHARS},}}={{0,2}}")
_WORDS = re.compile(r"[A-Za-z]{3}[ ,.:\n][A-Za-z]{2}|[^\W\d_a-zA-Z]{4}")
_LINK_COMMENT = Pattern(
    r"(?m)^ {0,3}\[(?://|comment|_)\]:[ \t]*(?:#|<>)[ \t]*(?:\(.{0,1000}?\)|\".{0,1000}?\"|'.{0,1000}?')[ \t]*\r?$"
)
_ATTRIBUTES = r"""(?:\s+[^\s"'<>=/]+(?:\s*=\s*(?:"[^"]*"|'[^']*'|[^\s"'<>]+))?)*"""
_HIDDEN_STYLE = (
    r"display\s*:\s*none|visibility\s*:\s*hidden|font-size\s*:\s*0(?:\.0+)?(?:px|r?em|pt|%)?\s*[;!\"']"
    r"|opacity\s*:\s*0(?:\.0+)?\s*[;!\"']|(?:left|top|text-indent)\s*:\s*-[0-9]{3,}px"
)
_WHITE_TEXT = r"color\s*:\s*(?:#fff(?:fff)?|white|transparent)\b"
_HIDDEN_ELEMENT = Pattern(
    rf"(?i)<[a-z][a-z0-9-]*{_ATTRIBUTES}\s+(?:style\s*=\s*"
    rf"(?:\"[^\"]*(?:{_HIDDEN_STYLE})|'[^']*(?:{_HIDDEN_STYLE})|[\"'](?:[^\"']*[;\s])?{_WHITE_TEXT})|hidden[\s>=/])"
)
_IMAGE = Pattern(r"!\[[^\]\n]{0,300}\]\(\s*<?((?:https?:)?//[^\s)>]+)")
_IMAGE_BY_REFERENCE = Pattern(r"!\[[^\]\n]{0,300}\]\[[^\]\n]{0,100}\]")
_REMOTE_ELEMENT = Pattern(
    r"(?i)<(?:img|iframe|script|link|object|embed|video|audio|source|svg|meta)\b[^<>]{0,600}?"
    r"\b(?:src|href|data|content|srcset|poster)\s*=\s*[\"']?\s*((?:https?:)?//[^\s\"'>]+)"
)
_PLACEHOLDER = re.compile(r"\{\{?|\$\{|%7B|<[A-Za-z_ ]+>|\[[A-Z_ ]+\]|\b(?:DATA|SECRET|PAYLOAD|CONTENT|INSERT)\b")
_ACTIVE_ADDRESS = Pattern(
    r"(?i)[(\"'=<]\s*(data:[a-z0-9.+-]{1,40}/[a-z0-9.+-]{1,60}(?:;[a-z0-9=_-]{1,40}){0,4},|javascript:|vbscript:)"
)
_PICTURE = re.compile(r"(?i)data:image/(?:png|jpe?g|gif|webp|avif)[;,]")
"""Pictures of pixels, such as the icons of an MCP server's tools: nothing in them runs, as it may in an SVG."""
_ESCAPED_HIDDEN = Pattern(
    r"(?i)\\u(?:\{?e00[0-7][0-9a-f]\}?|20(?:0[b-f]|2[a-e]|6[0-9a-f])|\{20(?:0[b-f]|2[a-e]|6[0-9a-f])\}|feff)"
    r"|\\U000e0[01][0-9a-f]{2}|\\udb40\\ud[cd][0-9a-f]{2}"
    r"|&#(?:x(?:e00[0-7][0-9a-f]|20(?:0[b-f]|2[a-e]|6[0-9a-f])|feff)|9175[0-9]{2}|9176[0-3][0-9]|820[3-7]|823[4-8]|829[4-7]);"
)


def find_hidden_text(text: str, *, markup: bool = False) -> tuple[Match, ...]:
    """The matches of U015 to U019; ``markup`` marks Markdown and HTML, where none is worse than a warning."""
    hay = haystack(text)
    found = [*_base64(hay), *_comments(text), *_remote(hay)]
    if "[" in text:
        found += [_match("U016", start, end, "comment of Markdown") for start, end in _LINK_COMMENT.in_text(hay)]
    if "<" in text:
        found += [
            _match("U016", start, end, "element that is not shown") for start, end in _HIDDEN_ELEMENT.in_text(hay)
        ]
    if ":" in text:
        found += [
            _match("U018", start, end, f"active address {visible(text[start:end], 40)}")
            for start, end in _ACTIVE_ADDRESS.in_text(hay, 1)
            if not _PICTURE.match(text, start)
        ]
    if "\\" in text or "&#" in text:
        found += [
            _match("U019", start, end, f"escape of a hidden character {visible(text[start:end], 20)}")
            for start, end in _ESCAPED_HIDDEN.in_text(hay)
        ]
    if markup:
        found = [replace(match, severity=min(match.severity, _WARNING)) for match in found]
    return tuple(found)


def _match(rule: str, start: int, end: int, message: str, severity: Severity = _WARNING) -> Match:
    return Match(detector=f"unicode.{rule}", severity=severity, start=start, end=end, message=message)


def _base64(hay: Haystack) -> Iterator[Match]:
    """U015: base64 that decodes to words, or to base64 that does."""
    for start, end in _BASE64.in_text(hay):
        plain = decode_base64(hay.text[start:end])
        inner = decode_base64(plain.strip()) if plain and len(plain) >= MIN_BASE64_CHARS // 2 else None
        for reading in (plain, inner):
            if reading is not None and _WORDS.search(reading):
                yield _match("U015", start, end, f"base64 that reads {visible(reading, 60)!r}")
                break


def _comments(text: str) -> Iterator[Match]:
    """U016: HTML comments, which a page does not show; one that is never closed hides the rest."""
    start = text.find("<!--")
    while start >= 0:
        end = text.find("-->", start + 4)
        message = "HTML comment" if end >= 0 else "HTML comment that is not closed"
        end = end + 3 if end >= 0 else len(text)
        yield _match("U016", start, end, message)
        start = text.find("<!--", end)


def _remote(hay: Haystack) -> Iterator[Match]:
    """U017: images and elements that are fetched from elsewhere when the text is shown."""
    text = hay.text
    if "![" in text:
        for start, end in _IMAGE.in_text(hay, 1):
            yield _fetched(text, start, end, "remote image")
        for start, end in _IMAGE_BY_REFERENCE.in_text(hay):
            yield _match("U017", start, end, "image by reference")
    if "<" in text and "//" in text:
        for start, end in _REMOTE_ELEMENT.in_text(hay, 1):
            yield _fetched(text, start, end, "remote element")


def _fetched(text: str, start: int, end: int, what: str) -> Match:
    """A remote address; one that has room for data is an error."""
    address = text[start:end]
    query = address.partition("?")[2]
    if _PLACEHOLDER.search(address):
        return _match("U017", start, end, f"{what} with a placeholder in its address", _ERROR)
    if len(query) > LONG_QUERY_CHARS:
        return _match("U017", start, end, f"{what} with a query of {len(query):,} characters", _ERROR)
    return _match("U017", start, end, what)
