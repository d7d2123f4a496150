"""Aliases that together stand for more than a file may hold.

Why: Nine levels of nine aliases are a few hundred bytes and a billion values: the file loads at once and then hangs
whoever prints it.

Bad:

    # file: templates/t.yaml
    a: &a [x, x, x, x, x, x, x, x, x, x]
    b: &b [*a, *a, *a, *a, *a, *a, *a, *a, *a, *a]
    c: &c [*b, *b, *b, *b, *b, *b, *b, *b, *b, *b]
    d: &d [*c, *c, *c, *c, *c, *c, *c, *c, *c, *c]
    e: [*d, *d, *d, *d, *d, *d, *d, *d, *d, *d]

Good:

    # file: templates/t.yaml
    template_id: t
    version: 1
    sections:
      - {id: policy, source: literal, text: &rule Answer briefly.}
      - {id: reminder, kind: task, source: literal, text: *rule}

Mend: Write the values out, or let fewer aliases stand inside one another.
"""

from __future__ import annotations

from ctxc.rules.engine import rule

RULE = rule(__name__, __doc__, emitter="loading")
