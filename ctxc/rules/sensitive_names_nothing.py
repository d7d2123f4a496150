"""A path under `sensitive` that leads to no input.

Why: The value that was meant is not hidden in snapshots.

Bad:

    # file: templates/t.yaml
    template_id: t
    version: 1
    sections:
      - {id: state, source: runtime}
    # file: tests/fixtures/f.yaml
    fixture_id: f
    template: t
    sensitive: [inputs.state.plate_numbr]
    inputs: {state: {plate_number: KX-411}}

Good:

    # file: templates/t.yaml
    template_id: t
    version: 1
    sections:
      - {id: state, source: runtime}
    # file: tests/fixtures/f.yaml
    fixture_id: f
    template: t
    sensitive: [inputs.state.plate_number]
    inputs: {state: {plate_number: KX-411}}

Mend: Write the path of the value as it stands below `inputs`.
"""

from __future__ import annotations

from ctxc.rules.engine import rule

RULE = rule(__name__, __doc__, emitter="loading")
