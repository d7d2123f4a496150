"""Blocks as elements: ``<evidence trust="untrusted" id="E1" source="...">`` to ``</evidence>``."""

from __future__ import annotations

import re

_HEADER = re.compile(r'^<([a-z_]+) trust="(trusted|semi_trusted|untrusted)"(.*)>$')
_ATTRIBUTE = re.compile(r' ([a-z_]+)="(?:[^"\\]|\\.)*"')


class _Xml:
    def open(self, kind: str, trust: str, attributes: tuple[tuple[str, str], ...]) -> str:
        named = "".join([f" {k}={v}" for k, v in attributes])
        return f'<{kind} trust="{trust}"{named}>'

    def close(self, kind: str) -> str:
        return f"</{kind}>"

    def read(self, line: str) -> tuple[str, str, tuple[str, ...]] | None:
        match = _HEADER.match(line)
        if match is None or _ATTRIBUTE.sub("", match[3]):
            return None
        return match[1], match[2], tuple(_ATTRIBUTE.findall(match[3]))


WRAPPER = _Xml()
