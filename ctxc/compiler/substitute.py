"""Logic-less variables: ``{{name}}`` in application text, one pass, strict.

Only what looks like a name is a variable; every other brace is text, so a JSON example stays byte for byte. A name with
dots (``{{env.TOKEN}}``) never has a value: there is nothing to reach into. ``${{ github.sha }}`` belongs to a workflow
and is text. ``{{{{name}}}}`` writes a literal ``{{name}}``. A value is never looked at again, whatever it contains.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

_VARIABLE = re.compile(
    r"\{\{\{\{(?P<literal>[^{}\n]*)\}\}\}\}"
    r"|\{\{[ \t]*(?P<name>[A-Za-z_][A-Za-z0-9_]*)[ \t]*\}\}"
    r"|(?<!\$)\{\{[ \t]*(?P<path>[A-Za-z_][A-Za-z0-9_]*(?:\.[A-Za-z_][A-Za-z0-9_]*)+)[ \t]*\}\}"
)
DOTTED_HELP = "a variable is one name without dots; `{{{{name}}}}` writes the braces themselves"


class UnknownVariable(Exception):
    """A variable that no value is given for, from ``offset`` to before ``end`` in code points of the text."""

    def __init__(self, name: str, offset: int, end: int) -> None:
        super().__init__(name)
        self.name = name
        self.offset = offset
        self.end = end


def variables(text: str) -> tuple[str, ...]:
    """Names of the variables that a text uses, in order, each once."""
    if "{{" not in text:
        return ()
    found = (match["name"] or match["path"] for match in _VARIABLE.finditer(text))
    return tuple(dict.fromkeys(name for name in found if name))


def place_of(text: str, name: str) -> tuple[int, int]:
    """Where a text first uses a variable that it uses: start and end in code points."""
    return next(m.span() for m in _VARIABLE.finditer(text) if name in (m["name"], m["path"]))


def substitute(text: str, values: Mapping[str, str]) -> str:
    """The text with its variables replaced; raises UnknownVariable at the first without a value."""
    if "{{" not in text:
        return text
    parts: list[str] = []
    last = 0
    for match in _VARIABLE.finditer(text):
        parts.append(text[last : match.start()])
        last = match.end()
        name = match["name"] or match["path"]
        if name is None:
            parts.append("{{" + match["literal"] + "}}")
        elif name in values:
            parts.append(values[name])
        else:
            raise UnknownVariable(name, match.start(), match.end())
    parts.append(text[last:])
    return "".join(parts)
