"""Encoders for text that somebody else wrote, one for each place in which ctxc may print it.

Everything that is read is untrusted, and a report is read by terminals, CI log parsers, Markdown renderers and XML
parsers. Each function below makes a text inert in one of these places and keeps it readable.
"""

from __future__ import annotations

import re
from functools import lru_cache

from ctxc.base import escaping


def visible(text: str, *, newlines: bool = False) -> str:
    """Text of a human format: what a reader cannot see, or a terminal would act on, is written as an escape.

    Backslashes stay single, so that a path or a pattern reads as it stands in the file.
    """
    if text.isascii() and text.isprintable():
        return text
    return escaping.visible(text, newlines=newlines, backslashes=False)


def shorten(text: str, limit: int) -> str:
    """At most ``limit`` code points of a text, with an ellipsis where something was left out."""
    return text if len(text) <= limit else text[: max(0, limit - 1)] + "…"


_COMMAND = re.compile(r"##(\w*)\[")  # ##[error] of GitHub and Azure, ##vso[task.setvariable], ##teamcity[testFailed]


def guard_log(text: str) -> str:
    """Human output that is safe in the log of a CI system: no line of it is a command to what reads the log.

    The runner of GitHub Actions matches ``::command::`` after trimming white space at the start of a line, and the
    older ``##[command]`` anywhere in a line (read in ActionCommand.cs), so a prefix alone is no defence against that.
    """
    text = _COMMAND.sub(r"##\1\\[", text)
    return re.sub(r"(?m)^(\s*)::", r"\1\\::", text)


def guard_json(text: str) -> str:
    """JSON text in which no such command can stand, equal in value: ``[`` of ``##[`` inside strings is escaped."""
    return _COMMAND.sub(r"##\1\\u005b", text)


def annotation_data(text: str) -> str:
    """The message of a workflow command."""
    text = _COMMAND.sub(r"##\1\\[", visible(text, newlines=True))
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def annotation_property(text: str) -> str:
    """A property (file, title) of a workflow command."""
    text = _COMMAND.sub(r"##\1\\[", visible(text))
    return text.replace("%", "%25").replace(":", "%3A").replace(",", "%2C")


def markdown_code(text: str, limit: int = 300) -> str:
    """A Markdown code span that the text cannot leave."""
    text = shorten(visible(text), limit)
    longest = max((len(run) for run in re.findall("`+", text)), default=0)
    fence = "`" * (longest + 1)
    pad = " " if not text or text[0] in "` " or text[-1] in "` " else ""
    return f"{fence}{pad}{text}{pad}{fence}"


_MARKDOWN_ACTIVE = re.compile(r"[&<>\"'`|@#\[\]*_~\\$:!(){}]|\b(?:gh-(?=\d)|www\.)", re.IGNORECASE)
_APART = "&#8203;"  # a space without width


def _inert(found: re.Match[str]) -> str:
    """One of those as references. GitHub looks for mentions and numbers of issues in the page that it has made of the
    Markdown, where a reference is a character again; only a character between keeps ``@`` from its name."""
    text = found.group()
    apart = _APART if text[-1] in "@#-" else ""
    return f"{text[:-1]}&#{ord(text[-1])};{apart}"


def markdown_text(text: str, limit: int = 1000) -> str:
    """Plain words inside Markdown (a table cell too): no markup, no mention, no reference, no link, no HTML."""
    return _MARKDOWN_ACTIVE.sub(_inert, shorten(visible(text), limit))


# What is not #x9, #xA, #xD, [#x20-#xD7FF], [#xE000-#xFFFD] or [#x10000-#x10FFFF] (XML 1.0, 2.2 Characters), written as
# what it is, for it compiles twenty times faster than its complement.
_XML_ILLEGAL = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")


def xml_text(text: str) -> str:
    """Character data or an attribute value of XML 1.0; what XML cannot carry becomes a visible escape."""
    text = _XML_ILLEGAL.sub(lambda m: f"\\u{{{ord(m.group()):x}}}", visible(text, newlines=True))
    text = text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    text = _COMMAND.sub(r"##\1&#91;", text)
    return text.replace('"', "&quot;").replace("'", "&#39;").replace("\n", "&#10;")


def sarif_message(text: str, limit: int = 1000) -> str:
    """The text of a SARIF message: brackets would be links and braces placeholders."""
    text = shorten(visible(text), limit)
    return text.replace("\\", "\\\\").replace("[", "\\[").replace("]", "\\]").replace("{", "{{").replace("}", "}}")


def uri_path(path: str) -> str:
    """A relative URI reference for a path of the project, percent-encoded."""
    from urllib.parse import quote

    # A colon is encoded too, and a slash in front, so that no part of a path is read as a scheme, a host or the root.
    name = path.lstrip("/")
    return "%2F" * (len(path) - len(name)) + quote(name, safe="/-._~", errors="surrogatepass")


def cells(text: str) -> int:
    """Columns that a text takes on a terminal: two for East Asian wide characters, none for combining marks."""
    return len(text) if text.isascii() else sum(map(_columns, text))


@lru_cache(maxsize=4096)
def _columns(char: str) -> int:
    from unicodedata import category, east_asian_width

    # Vowels and finals of Hangul that follow an initial are drawn in its place.
    if category(char) in ("Mn", "Me") or "\u1160" <= char <= "\u11ff":
        return 0
    return 2 if east_asian_width(char) in "WF" else 1


def pad(text: str, width: int, *, right: bool = False) -> str:
    """A text filled with blanks to a width in columns."""
    fill = " " * max(0, width - cells(text))
    return fill + text if right else text + fill


def clip(text: str, width: int) -> str:
    """A text cut to a width in columns, with an ellipsis where something was left out."""
    if cells(text) <= width:
        return text
    kept: list[str] = []
    used = 0
    for char in text:
        size = cells(char)
        if used + size > width - 1:
            break
        kept.append(char)
        used += size
    return "".join(kept) + "…"
