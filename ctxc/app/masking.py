"""What reports quote from files, with secrets and personal data made unreadable.

A code frame shows a whole line, and a message may quote a value, for whatever reason: neither may repeat a key that
stands there, whether or not a rule that looks for keys was asked for.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from ctxc.model.finding import Finding, Severity

if TYPE_CHECKING:
    from ctxc.detect.match import Match

_MASK = "*"
# A secret is at least this long; messages are searched only where they quote something of the kind.
_QUOTED = re.compile(r"[A-Za-z0-9_\-/+=.~]{16}")
# The digests of matches are not printed here, so the key that they would need is nobody's secret.
_KEY = b"masking"


class Sources:
    """Texts of files for code frames, masked; each is read and searched once."""

    def __init__(self, read: Callable[[str], str | None]) -> None:
        self._read = read
        self._texts: dict[str, str | None] = {}

    def __call__(self, path: str) -> str | None:
        """The text of a file, as long as the file's; None where it cannot be read."""
        if path not in self._texts:
            text = self._read(path)
            self._texts[path] = None if text is None else mask(text)
        return self._texts[path]


def mask(text: str) -> str:
    """The text with secrets and personal data as asterisks, but for what a match shows; of the same length."""
    from ctxc.detect.pii import find_personal_data
    from ctxc.detect.secrets import find_secrets

    found = (*find_secrets(text, key=_KEY), *find_personal_data(text, key=_KEY))
    return _without(text, (m for m in found if m.severity > Severity.INFO))


def mask_messages(findings: Iterable[Finding]) -> Iterator[Finding]:
    """The findings, with secrets that a message, a help, a pointer or the data quote as asterisks."""
    for finding in findings:
        message, help, data = mask_secrets(finding.message), mask_secrets(finding.help), mask_value(dict(finding.data))
        pointer = "/".join(map(mask_secrets, finding.location.pointer.split("/")))
        if (message, help, pointer, data) == (finding.message, finding.help, finding.location.pointer, finding.data):
            yield finding
        else:
            location = finding.location._replace(pointer=pointer)
            yield replace(finding, message=message, help=help, location=location, data=data)


def mask_value(value: Any) -> Any:
    """A plain value with the secrets in its texts as asterisks; keys of mappings stay as they are."""
    if isinstance(value, str):
        return mask_secrets(value)
    if isinstance(value, (list, tuple)):
        masked = [mask_value(v) for v in value]
        return masked if isinstance(value, list) else tuple(masked)
    if isinstance(value, dict):
        return {k: mask_value(v) for k, v in value.items()}
    return value


@lru_cache(maxsize=1024)
def mask_secrets(text: str) -> str:
    """The text with secrets as asterisks, but for what a match shows; of the same length."""
    if not _QUOTED.search(text):
        return text
    from ctxc.detect.secrets import find_secrets

    return _without(text, (m for m in find_secrets(text, key=_KEY) if m.severity > Severity.INFO))


def _without(text: str, matches: Iterable[Match]) -> str:
    pieces = []
    done = 0
    for start, end in sorted((m.start + _shown(m), m.end) for m in matches):
        if end > done:
            start = max(start, done)
            pieces += [text[done:start], re.sub(r"[^\r\n]", _MASK, text[start:end])]
            done = end
    return "".join([*pieces, text[done:]])


def _shown(match: Match) -> int:
    """How many characters of a value a match shows; none of an encoded one, whose own are other characters."""
    from ctxc.detect.match import SHOWN

    return 0 if match.via else min(SHOWN, match.length // 4)
