"""Logic-less variables: ``{{name}}`` in application text, one pass, strict.

Only names that look like names are variables; every other brace is text, so a JSON example stays byte for byte.
``{{{{name}}}}`` writes a literal ``{{name}}``. A value is never looked at again, whatever it contains.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

_VARIABLE = re.compile(r"\{\{\{\{(?P<literal>[^{}\n]*)\}\}\}\}|\{\{[ \t]*(?P<name>[A-Za-z_][A-Za-z0-9_]*)[ \t]*\}\}")


class UnknownVariable(Exception):
    """A variable that no value is given for; ``offset`` is in code points from the start of the text."""

    def __init__(self, name: str, offset: int) -> None:
        super().__init__(name)
        self.name = name
        self.offset = offset


def variables(text: str) -> tuple[str, ...]:
    """Names of the variables that a text uses, in order, each once."""
    seen: dict[str, None] = {}
    for match in _VARIABLE.finditer(text):
        if match["name"]:
            seen[match["name"]] = None
    return tuple(seen)


def substitute(text: str, values: Mapping[str, str]) -> str:
    """The text with its variables replaced; raises UnknownVariable at the first without a value."""
    if "{{" not in text:
        return text
    parts: list[str] = []
    last = 0
    for match in _VARIABLE.finditer(text):
        parts.append(text[last : match.start()])
        last = match.end()
        if match["name"] is None:
            parts.append("{{" + match["literal"] + "}}")
        elif match["name"] in values:
            parts.append(values[match["name"]])
        else:
            raise UnknownVariable(match["name"], match.start())
    parts.append(text[last:])
    return "".join(parts)
