"""A reference without a version to something that has several, or a fragment of which routes load one of several.

Why: The last in file order is used, so a new file can change what every fixture means.

Bad:

    # file: templates/t1.yaml
    template_id: t
    version: 1
    sections:
      - {id: policy, source: literal, text: Answer briefly.}
    # file: templates/t2.yaml
    template_id: t
    version: 2
    sections:
      - {id: policy, source: literal, text: Answer in one sentence.}
    # file: tests/fixtures/f.yaml
    fixture_id: f
    template: t

Good:

    # file: templates/t1.yaml
    template_id: t
    version: 1
    sections:
      - {id: policy, source: literal, text: Answer briefly.}
    # file: templates/t2.yaml
    template_id: t
    version: 2
    sections:
      - {id: policy, source: literal, text: Answer in one sentence.}
    # file: tests/fixtures/f.yaml
    fixture_id: f
    template: t@2

Mend: Name the version: `id@version`; give fragments in several versions load_mode explicit.
"""

from __future__ import annotations

from ctxc.rules.engine import rule

RULE = rule(__name__, __doc__, emitter="loading")
