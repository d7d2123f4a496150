"""A path whose spelling differs from the file's in case or Unicode form.

Why: It works on a machine that ignores case, and fails on the server that does not.

Bad:

    # file: templates/t.yaml
    template_id: t
    version: 1
    sections:
      - {id: policy, source: policies/House.md}
    # file: policies/house.md
    Answer briefly.

Good:

    # file: templates/t.yaml
    template_id: t
    version: 1
    sections:
      - {id: policy, source: policies/house.md}
    # file: policies/house.md
    Answer briefly.

Mend: Write it as it is spelt on disk.
"""

from __future__ import annotations

from ctxc.rules.engine import rule

RULE = rule(__name__, __doc__, emitter="loading")
