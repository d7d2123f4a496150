"""The merge key `<<`.

Why: YAML 1.2 has none; what a reader of the file sees would differ from what another parser makes of it.

Bad:

    # file: templates/t.yaml
    template_id: t
    version: 1
    sections:
      - &first {id: policy, source: literal, text: Answer briefly.}
      - {<<: *first, id: task, source: runtime}

Good:

    # file: templates/t.yaml
    template_id: t
    version: 1
    sections:
      - {id: policy, source: literal, text: Answer briefly.}
      - {id: task, source: runtime}

Mend: Write the keys out; a template can take over another with `extends`.
"""

from __future__ import annotations

from ctxc.rules.engine import rule

RULE = rule(__name__, __doc__, emitter="loading")
