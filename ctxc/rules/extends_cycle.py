"""Templates that extend each other in a circle.

Why: There is no first template to begin with.

Bad:

    # file: templates/a.yaml
    template_id: a
    version: 1
    extends: b
    sections:
      - {id: policy, source: literal, text: Answer briefly.}
    # file: templates/b.yaml
    template_id: b
    version: 1
    extends: a
    sections:
      - {id: task, source: runtime}

Good:

    # file: templates/a.yaml
    template_id: a
    version: 1
    extends: b
    sections:
      - {id: policy, source: literal, text: Answer briefly.}
    # file: templates/b.yaml
    template_id: b
    version: 1
    sections:
      - {id: task, source: runtime}

Mend: Remove one `extends` of the circle that the message names.
"""

from __future__ import annotations

from ctxc.rules.engine import rule

RULE = rule(__name__, __doc__, emitter="loading")
