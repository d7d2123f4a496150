"""A checkpoint, a bucket or the `static` of a request profile that names no section.

Why: A mark or a share that belongs to nothing has no effect, and its author believes that it has one.

Bad:

    # file: templates/t.yaml
    template_id: t
    version: 1
    checkpoints: [polcy]
    sections:
      - {id: policy, source: literal, text: Answer briefly., cacheable: true}

Good:

    # file: templates/t.yaml
    template_id: t
    version: 1
    checkpoints: [policy]
    sections:
      - {id: policy, source: literal, text: Answer briefly., cacheable: true}

Mend: Write the id of a section of the template (of a bucket: or a kind; under `static`: or a kind, a group of
fragments, or the id of one).
"""

from __future__ import annotations

from ctxc.rules.engine import rule

RULE = rule(__name__, __doc__, emitter="loading")
