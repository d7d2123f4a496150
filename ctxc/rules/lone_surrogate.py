r"""Half of a surrogate pair, written as a JSON escape.

Why: It is no character: it cannot be encoded as UTF-8, and a request that holds it fails when it is sent.

Bad:

    # file: templates/t.json
    {"template_id": "t", "version": 1, "sections": [{"id": "policy", "source": "literal",
     "text": "Answer \ud800 briefly."}]}

Good:

    # file: templates/t.json
    {"template_id": "t", "version": 1, "sections": [{"id": "policy", "source": "literal",
     "text": "Answer \ud83d\ude00 briefly."}]}

Mend: Write the character itself, or both halves of its pair.
"""

from __future__ import annotations

from ctxc.rules.engine import rule

RULE = rule(__name__, __doc__, emitter="loading")
