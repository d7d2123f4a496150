"""A turn of a conversation, not the last, without the model's recorded reply.

Why: The next turn's history would be one that never happened.

Bad:

    # file: templates/t.yaml
    template_id: t
    version: 1
    sections:
      - {id: history, source: runtime}
      - {id: user, source: runtime}
    # file: tests/fixtures/c.yaml
    conversation_id: c
    template: t
    turns:
      - {fixture_id: c_1, inputs: {user: A car hit my bumper.}}
      - {fixture_id: c_2, inputs: {user: Yesterday.}}

Good:

    # file: templates/t.yaml
    template_id: t
    version: 1
    sections:
      - {id: history, source: runtime}
      - {id: user, source: runtime}
    # file: tests/fixtures/c.yaml
    conversation_id: c
    template: t
    turns:
      - {fixture_id: c_1, inputs: {user: A car hit my bumper.}, reply: When was that?}
      - {fixture_id: c_2, inputs: {user: Yesterday.}}

Mend: Add `reply:` to the turn.
"""

from __future__ import annotations

from ctxc.rules.engine import rule

RULE = rule(__name__, __doc__, emitter="loading")
