"""A path that leads to one file beside the manifest and to another in the fragments folder.

Why: Nobody can say which of the two the model is shown.

Bad:

    # file: fragments/claims/manifest.yaml
    fragments:
      - {fragment_id: core.tone, version: 1, path: tone.md, kind: core, load_mode: always}
    # file: fragments/claims/tone.md
    Write plainly.
    # file: fragments/tone.md
    Write warmly.

Good:

    # file: fragments/claims/manifest.yaml
    fragments:
      - {fragment_id: core.tone, version: 1, path: tone.md, kind: core, load_mode: always}
    # file: fragments/claims/tone.md
    Write plainly.

Mend: Rename one of the files, or write the path from the root.
"""

from __future__ import annotations

from ctxc.rules.engine import rule

RULE = rule(__name__, __doc__, emitter="loading")
