"""The default block form: ``[EVIDENCE | untrusted | id="E1" source="..."]`` to ``[/EVIDENCE]``."""

from __future__ import annotations

import re

_HEADER = re.compile(r"^\[([A-Z_]+) \| (trusted|semi_trusted|untrusted) \|(.*)\]$")
_ATTRIBUTE = re.compile(r' ([a-z_]+)="(?:[^"\\]|\\.)*"')


class _ChatMessages:
    def open(self, kind: str, trust: str, attributes: tuple[tuple[str, str], ...]) -> str:
        named = " ".join([f"{k}={v}" for k, v in attributes])
        return f"[{kind.upper()} | {trust} | {named}]"

    def close(self, kind: str) -> str:
        return f"[/{kind.upper()}]"

    def read(self, line: str) -> tuple[str, str, tuple[str, ...]] | None:
        match = _HEADER.match(line)
        if match is None or _ATTRIBUTE.sub("", match[3]):
            return None
        return match[1].lower(), match[2], tuple(_ATTRIBUTE.findall(match[3]))


WRAPPER = _ChatMessages()
