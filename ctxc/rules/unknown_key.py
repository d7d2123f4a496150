"""A key that the file's kind does not have.

Why: A misspelt key would be ignored, and with it the budget, the tier or the condition that it was meant to set.

Bad:

    # file: templates/t.yaml
    template_id: t
    version: 1
    sections:
      - {id: policy, source: literal, text: Answer briefly., requried: true}

Good:

    # file: templates/t.yaml
    template_id: t
    version: 1
    sections:
      - {id: policy, source: literal, text: Answer briefly., required: true}

Mend: Write the key as the message suggests, or remove it; `ctxc schema KIND` lists the keys.
"""

from __future__ import annotations

import re

from ctxc.model.finding import Edit, Finding, Fix
from ctxc.parse.spots import slice_of
from ctxc.rules.engine import Context, rule

_MEANT = re.compile(r'did you mean "(?P<key>[A-Za-z_][\w-]*)"\?')


def mend(context: Context, finding: Finding) -> Fix | None:
    """The key that was most likely meant, in the quotes that stand there."""
    meant, span = _MEANT.search(finding.message), finding.location.span
    if meant is None or span is None:
        return None
    written = slice_of(context.text(finding.location.path), span)
    quote = written[:1] if written[:1] in ("'", '"') else ""
    edit = Edit(location=finding.location, text=f"{quote}{meant['key']}{quote}")
    return Fix(title=f"write {meant['key']}", edits=(edit,), safe=False)


RULE = rule(__name__, __doc__, emitter="loading", fix=mend, fixable="unsafe")
