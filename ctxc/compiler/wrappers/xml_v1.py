"""Blocks as elements: ``<evidence trust="untrusted" id="E1" source="...">`` to ``</evidence>``."""

from __future__ import annotations


class _Xml:
    def open(self, kind: str, trust: str, attributes: tuple[tuple[str, str], ...]) -> str:
        named = "".join(f" {k}={v}" for k, v in attributes)
        return f'<{kind} trust="{trust}"{named}>'

    def close(self, kind: str) -> str:
        return f"</{kind}>"


WRAPPER = _Xml()
