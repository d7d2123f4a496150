"""The default block form: ``[EVIDENCE | untrusted | id="E1" source="..."]`` to ``[/EVIDENCE]``."""

from __future__ import annotations


class _ChatMessages:
    def open(self, kind: str, trust: str, attributes: tuple[tuple[str, str], ...]) -> str:
        named = " ".join(f"{k}={v}" for k, v in attributes)
        return f"[{kind.upper()} | {trust} | {named}]"

    def close(self, kind: str) -> str:
        return f"[/{kind.upper()}]"


WRAPPER = _ChatMessages()
