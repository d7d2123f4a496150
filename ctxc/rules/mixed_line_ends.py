"""A file with more than one kind of line end.

Why: Diffs show every line as changed when an editor makes them one kind. ctxc reads all of them as line feeds.

Bad:

    # file: fragments/tone.md
    ---⟨U+000D⟩
    fragment_id: core.tone
    version: 1
    kind: core
    load_mode: always
    ---
    Write plainly.

Good:

    # file: fragments/tone.md
    ---
    fragment_id: core.tone
    version: 1
    kind: core
    load_mode: always
    ---
    Write plainly.

Mend: Use one kind; `.editorconfig`, or `* text=auto` in `.gitattributes`, keeps it so.
"""

from __future__ import annotations

import re

from ctxc.base.spans import Span
from ctxc.model.finding import Edit, Finding, Fix
from ctxc.rules._files import raw
from ctxc.rules.engine import Context, rule

_END = re.compile(rb"\r\n|\r|\n")
_NAMES = {b"\r\n": "CRLF", b"\n": "LF", b"\r": "CR"}


def mend(context: Context, finding: Finding) -> Fix | None:
    """Every line end of a rarer kind becomes one of the most common (line feed where two are equally common)."""
    data = raw(context, finding.location.path)
    ends = [m[0] for m in _END.finditer(data)]
    if not ends:
        return None
    most = max((b"\n", b"\r\n", b"\r"), key=ends.count)
    lines = _END.split(data.removeprefix(b"\xef\xbb\xbf"))
    edits = []
    for number, end in enumerate(ends):
        if end != most:
            column = len(lines[number].decode("utf-8", "replace")) + 1
            span = Span(number + 1, column, number + 2, 1)
            edits.append(Edit(location=finding.location._replace(span=span), text=most.decode()))
    return Fix(title=f"end every line with {_NAMES[most]}", edits=tuple(edits), safe=True)


RULE = rule(__name__, __doc__, emitter="loading", fix=mend, fixable="safe")
