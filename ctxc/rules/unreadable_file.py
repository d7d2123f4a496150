"""A file that is there and cannot be read: a link that leaves the project, a device, missing permission, a name that
means something else on another platform.

Why: What cannot be read would be missing from a request without a word.

Bad:

    # file: templates/t.yaml
    template_id: t
    version: 1
    sections:
      - {id: policy, source: policies/shared.md}
    # link: policies/shared.md -> ../../shared/policy.md

Good:

    # file: templates/t.yaml
    template_id: t
    version: 1
    sections:
      - {id: policy, source: policies/shared.md}
    # file: policies/house.md
    Answer briefly.
    # link: policies/shared.md -> house.md

Mend: Copy the file into the project, or let the link stay inside it (at most eight hops).
"""

from __future__ import annotations

from ctxc.rules.engine import rule

RULE = rule(__name__, __doc__, emitter="loading")
