"""What the strings of a tool definition say: T101 to T105, T108, T113 and T115.

Every string is read: descriptions, titles, enums, defaults, examples, property names, annotations. A definition is
instruction text to a model, so it is judged as trusted text, and what asks, hides or leaks there is an error.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping

from ctxc.detect.canonical import read_normalised
from ctxc.detect.hidden_text import find_hidden_text
from ctxc.detect.leaks import find_internal_urls
from ctxc.detect.match import Match
from ctxc.detect.patterns import haystack
from ctxc.detect.phrases import phrases, screen
from ctxc.detect.pii import find_personal_data
from ctxc.detect.role_tokens import find_role_tokens
from ctxc.detect.secrets import find_secrets
from ctxc.detect.tool_definition import Text, problem, texts
from ctxc.detect.unicode import find_unicode
from ctxc.model.finding import Severity

PHRASES = "tool_phrases.toml"
_ERROR, _WARNING = Severity.ERROR, Severity.WARNING
_MARKUP = re.compile(r"(?i)<(?:script|iframe|object|embed|style|meta|link|svg|img|form|input)\b[^<>]{0,200}>")
_TOOL_NAME = re.compile(r"[a-z][a-z0-9]*(?:_[a-z0-9]+)+")


def find_in_texts(tool: Mapping[str, object], *, key: bytes, own_names: Collection[str] = ()) -> Iterator[Match]:
    """The matches in all strings of one definition; ``own_names`` are the tools that it may speak about."""
    for text in texts(tool):
        yield from _hidden(text)
        yield from _markup(text)
        yield from _control(text)
        yield from _said(text, own_names)
        yield from _leaked(text, key)


def _hidden(text: Text) -> Iterator[Match]:
    """T103: hidden and deceptive characters."""
    if text.text.isascii() and text.text.isprintable():
        return
    context = "identifier" if text.role in ("name", "key") else "trusted"
    for match in find_unicode(text.text, context=context):  # type: ignore[arg-type]
        if match.severity == _ERROR and match.detector <= "unicode.U014":
            rule = match.detector.removeprefix("unicode.")
            yield problem("T103", _ERROR, f"{match.message} ({rule})", text.pointer, match.start, match.end)


def _markup(text: Text) -> Iterator[Match]:
    """T104: comments and active or invisible markup."""
    if "<" not in text.text and "[" not in text.text and ":" not in text.text:
        return
    for match in find_hidden_text(text.text, markup=True):
        if match.detector == "unicode.U016":
            yield problem("T104", _ERROR, match.message, text.pointer, match.start, match.end)
    for element in _MARKUP.finditer(text.text):
        yield problem("T104", _ERROR, "markup that a page would act on", text.pointer, *element.span())


def _control(text: Text) -> Iterator[Match]:
    """T105: control tokens. Role markers in plain words (``user:``) are ordinary in documentation."""
    for match in find_role_tokens(text.text):
        family = match.detector.removeprefix("role.")
        if family not in ("plain-roles", "claude-text"):
            yield problem("T105", _ERROR, f"{match.message} ({family})", text.pointer, match.start, match.end)


def _said(text: Text, own_names: Collection[str]) -> Iterator[Match]:
    """T101, T102, T108, T115: what the text asks for."""
    spoken = re.sub(r"[_-]", " ", text.text) if text.role in ("key", "name") else text.text
    reading = read_normalised(spoken)
    hay = haystack(reading.text)
    for index in screen(PHRASES).which(hay.data):
        phrase = phrases(PHRASES)[index]
        code = _code(phrase.id, text)
        if code is None:
            continue
        for low, high in phrase.pattern.in_text(hay):
            start, end = reading.original(low, high)
            if code == "T102" and not _speaks_of_others(spoken[start:end], own_names):
                continue
            yield problem(code, _ERROR, phrase.what, text.pointer, start, end)


def _code(phrase: str, text: Text) -> str | None:
    """The code of a phrase in a string of this role; None where it is at home."""
    if phrase == "shell":
        return "T108" if text.role == "value" else None
    if phrase in ("T101", "T102"):
        return phrase if text.role == "description" else "T108" if phrase == "T101" else None
    if phrase == "T108":
        return None if text.role in ("description", "name") else phrase
    return phrase


def _speaks_of_others(said: str, own_names: Collection[str]) -> bool:
    """True if a name in the text looks like a tool's and is none of the set's own."""
    names = _TOOL_NAME.findall(said.lower())
    own = {name.lower() for name in own_names}
    return any(name not in own for name in names)


def _leaked(text: Text, key: bytes) -> Iterator[Match]:
    """T113: secrets, identity and account numbers, internal addresses."""
    found = [*find_secrets(text.text, key=key), *find_personal_data(text.text, key=key)]
    if not text.pointer.endswith(("/$ref", "/$id")):  # T110 speaks of those
        found += find_internal_urls(text.text, key=key)
    for match in found:
        if match.severity == _ERROR:
            what = f"{match.message} ({match.detector})"
            yield problem("T113", _ERROR, what, text.pointer, match.start, match.end)
