"""A file with more values than a file may hold, or larger than 1 MiB (16 MiB for what a fixture reads).

Why: A prompt of 1 MiB is larger than every window, and a file without a bound is a way to stop a build.

Bad:

    # file: templates/t.yaml (repeated 260000 times)
    - 0

Good:

    # file: templates/t.json
    {"template_id": "t", "version": 1, "sections": [{"id": "policy", "source": "literal", "text": "Answer briefly."}]}

Mend: Split the file, or keep what is not shown to a model outside the configured folders.
"""

from __future__ import annotations

from ctxc.rules.engine import rule

RULE = rule(__name__, __doc__, emitter="loading")
