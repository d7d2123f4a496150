"""A message of a recorded conversation that has no form which a provider knows.

Why: It would be sent and refused, or sent with another meaning.

Bad:

    # file: templates/t.yaml
    template_id: t
    version: 1
    sections:
      - {id: history, source: runtime}
    # file: tests/fixtures/f.yaml
    fixture_id: f
    template: t
    inputs:
      history:
        - {role: narrator, content: It was a dark night.}

Good:

    # file: templates/t.yaml
    template_id: t
    version: 1
    sections:
      - {id: history, source: runtime}
    # file: tests/fixtures/f.yaml
    fixture_id: f
    template: t
    inputs:
      history:
        - {role: user, content: Good morning.}

Mend: Use the roles and content parts of the OpenAI or the Anthropic form.
"""

from __future__ import annotations

from ctxc.rules.engine import rule

RULE = rule(__name__, __doc__, emitter="loading")
