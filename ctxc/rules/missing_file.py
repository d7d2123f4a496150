"""A path that leads to no file.

Why: The text would be missing from the request.

Bad:

    # file: templates/t.yaml
    template_id: t
    version: 1
    sections:
      - {id: policy, source: policies/huose.md}
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

Mend: Write the path of a file that exists. A `source` is relative to the project root, a manifest's `path` to the
manifest, else to the fragments folder.
"""

from __future__ import annotations

from ctxc.rules.engine import rule

RULE = rule(__name__, __doc__, emitter="loading")
