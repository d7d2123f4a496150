"""Secrets are never part of a report: both sides are masked before they are compared word by word.

Two secrets that differ have two names, so that a change of one stays visible; the names say nothing of their values.
"""

from __future__ import annotations

_KEY = b"ctxc.compare.masking"
"""No secret itself: these digests only tell two values of one comparison apart, and no report shows them."""


class Mask:
    """Masks the secrets of several texts; the same secret has the same name in all of them."""

    def __init__(self) -> None:
        self._names: dict[str, str] = {}

    def text(self, text: str) -> str:
        """The text with each secret replaced by its kind and a letter; line ends stay where they are."""
        from ctxc.detect.secrets import find_secrets
        from ctxc.model.finding import Severity

        found = [m for m in find_secrets(text, key=_KEY) if m.severity is Severity.ERROR]
        for match in reversed(found):
            inside = text[match.start : match.end]
            label = f"[{match.detector} {self._name(match.digest or inside)}]" + "\n" * inside.count("\n")
            text = text[: match.start] + label + text[match.end :]
        return text

    def _name(self, digest: str) -> str:
        """A, B, ... Z, AA, in the order in which values are met."""
        if digest not in self._names:
            number, name = len(self._names), ""
            while number >= 0:
                name = chr(ord("A") + number % 26) + name
                number = number // 26 - 1
            self._names[digest] = name
        return self._names[digest]
