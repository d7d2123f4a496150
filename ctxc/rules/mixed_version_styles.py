"""An object whose versions are written in two styles.

Why: `2`, `v3` and `1.4.0` have no order among each other, so nobody can say which is newer or how large a bump is.

Bad:

    # file: templates/t1.yaml
    template_id: t
    version: 1
    sections:
      - {id: policy, source: literal, text: Answer briefly.}
    # file: templates/t2.yaml
    template_id: t
    version: 1.1.0
    sections:
      - {id: policy, source: literal, text: Answer in one sentence.}

Good:

    # file: templates/t1.yaml
    template_id: t
    version: 1.0.0
    sections:
      - {id: policy, source: literal, text: Answer briefly.}
    # file: templates/t2.yaml
    template_id: t
    version: 1.1.0
    sections:
      - {id: policy, source: literal, text: Answer in one sentence.}

Mend: Write all of them in one style.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from ctxc.model.finding import Finding
from ctxc.rules._objects import Item, objects
from ctxc.rules.engine import Context, rule

_STYLES = (
    ("a number", re.compile(r"\d+\Z")),
    ("v and a number", re.compile(r"v\d+\Z")),
    ("three parts", re.compile(r"v?\d+\.\d+\.\d+(?:[-+].*)?\Z")),
    ("two parts", re.compile(r"v?\d+\.\d+\Z")),
    ("a date", re.compile(r"\d{4}-\d{2}-\d{2}\Z")),
)


def style(version: str) -> str:
    """How a version is written."""
    return next((name for name, pattern in _STYLES if pattern.match(version)), "other text")


def check(context: Context) -> Iterator[Finding]:
    """Versions of one id, in file order, whose style is not that of the first."""
    first: dict[tuple[str, str], Item] = {}
    for item in objects(context):
        if not item.version:
            continue
        known = first.setdefault((item.kind, item.id), item)
        if style(known.version) != style(item.version):
            yield RULE.finding(
                context,
                f"{item.kind} {item.id!r} has version {item.version} ({style(item.version)}) here "
                f"and {known.version} ({style(known.version)}) elsewhere",
                at=item.origin.child("version"),
                help="write all versions of an object in one style",
                related=[(known.origin.child("version"), f"version {known.version}")],
            )


RULE = rule(__name__, __doc__, check)
