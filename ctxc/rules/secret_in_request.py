"""A secret in a request: the request is left out of the output.

Why: What is printed, stored as an artefact of CI or sent is read by others, and a model repeats what it was shown. A
warning beside a printed secret would come too late.

Bad:

    # file: templates/t.yaml
    template_id: t
    version: 1
    provider: text
    sections:
      - {id: task, source: runtime}
    # file: tests/fixtures/f.yaml
    fixture_id: f
    template: t
    inputs:
      task: Rotate ghp⟨U+005F⟩6KvT2mQx9LwZr4YbNd8Hs1JpFe7UcGa0RiXo today.
      user: Please do.

Good:

    # file: templates/t.yaml
    template_id: t
    version: 1
    provider: text
    sections:
      - {id: task, source: runtime}
    # file: tests/fixtures/f.yaml
    fixture_id: f
    template: t
    inputs:
      task: Rotate ${GITHUB_TOKEN} today.
      user: Please do.

Mend: Revoke it, and write a placeholder where the fixture or the source holds it.
"""

from __future__ import annotations

from ctxc.rules.engine import rule

RULE = rule(__name__, __doc__, emitter="compiling", detectors=("secret.*",))
