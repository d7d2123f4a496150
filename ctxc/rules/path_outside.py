"""A path that leaves the project, or that is no portable path at all.

Why: What lies outside has no version here, and a template that comes with a pull request could read any file of the
machine.

Bad:

    # file: templates/t.yaml
    template_id: t
    version: 1
    sections:
      - {id: policy, source: ../secrets/policy.md}

Good:

    # file: templates/t.yaml
    template_id: t
    version: 1
    sections:
      - {id: policy, source: policies/house.md}
    # file: policies/house.md
    Answer briefly.

Mend: Copy the file into the project and write its path with `/`, without `..`.
"""

from __future__ import annotations

from ctxc.rules.engine import rule

RULE = rule(__name__, __doc__, emitter="loading")
