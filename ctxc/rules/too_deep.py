"""Lists and mappings nested deeper than 64 levels.

Why: Nobody writes that by hand; it is made to exhaust the stack of whoever reads it.

Bad:

    # file: templates/t.json
    [[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]

Good:

    # file: templates/t.json
    {"template_id": "t", "version": 1, "sections": [{"id": "policy", "source": "literal", "text": "Answer briefly."}]}

Mend: Flatten the value.
"""

from __future__ import annotations

from ctxc.rules.engine import rule

RULE = rule(__name__, __doc__, emitter="loading")
