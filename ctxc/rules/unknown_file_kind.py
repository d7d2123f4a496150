"""A manifest that has none of the keys which say what a file is.

Why: It lies where templates, fragments or policies lie and would be passed over silently.

Bad:

    # file: templates/t.yaml
    templateid: t
    version: 1

Good:

    # file: templates/t.yaml
    template_id: t
    version: 1
    sections:
      - {id: policy, source: literal, text: Answer briefly.}

Mend: Add the key that ends in `_id`, name the file where it is used, or move it out of the configured folders.
"""

from __future__ import annotations

from ctxc.rules.engine import rule

RULE = rule(__name__, __doc__, emitter="loading")
