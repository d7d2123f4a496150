"""A number that no JSON has: NaN, an infinity, or one of more than 4,300 digits.

Why: Python reads it and no other language does; a request that holds it is refused.

Bad:

    # file: templates/t.json
    {"template_id": "t", "version": 1, "sections": [{"id": "policy", "source": "literal", "text": "x",
     "max_tokens": NaN}]}

Good:

    # file: templates/t.json
    {"template_id": "t", "version": 1, "sections": [{"id": "policy", "source": "literal", "text": "x",
     "max_tokens": 40}]}

Mend: Write a finite number, or null.
"""

from __future__ import annotations

from ctxc.rules.engine import rule

RULE = rule(__name__, __doc__, emitter="loading")
