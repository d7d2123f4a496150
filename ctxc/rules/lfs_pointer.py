"""A Git LFS pointer where the content is needed.

Why: The model would be shown three lines about a file in place of the file.

Bad:

    # file: policies/house.md
    version https://git-lfs.github.com/spec/v1
    oid sha256:4d7a214614ab2935c943f9e0ff69d22eadbb8f32b1258daaa5e2ca24d17e2393
    size 12345
    # file: templates/t.yaml
    template_id: t
    version: 1
    sections:
      - {id: policy, source: policies/house.md}

Good:

    # file: policies/house.md
    Answer briefly.
    # file: templates/t.yaml
    template_id: t
    version: 1
    sections:
      - {id: policy, source: policies/house.md}

Mend: Run `git lfs pull`, or keep what a model is shown out of LFS.
"""

from __future__ import annotations

from ctxc.rules.engine import rule

RULE = rule(__name__, __doc__, emitter="loading")
