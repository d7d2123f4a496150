"""A fixture whose route selects two fragments that conflict with each other.

Why: The model would be given two sets of rules that exclude each other.

Bad:

    # file: templates/t.yaml
    template_id: t
    version: 1
    provider: text
    sections:
      - {id: fragments, source: fragments}
    # file: fragments/motor.md
    ---
    fragment_id: family.motor
    version: 1
    kind: family
    load_mode: route_match
    applies_when: {product_family: [motor]}
    conflicts_with: [family.home]
    ---
    A motor claim is about one vehicle.
    # file: fragments/home.md
    ---
    fragment_id: family.home
    version: 1
    kind: family
    load_mode: route_match
    applies_when: {product_family: [home]}
    ---
    A buildings claim is about what is fixed.
    # file: tests/fixtures/f.yaml
    fixture_id: f
    template: t
    route: {product_family: [motor, home]}

Good:

    # file: templates/t.yaml
    template_id: t
    version: 1
    provider: text
    sections:
      - {id: fragments, source: fragments}
    # file: fragments/motor.md
    ---
    fragment_id: family.motor
    version: 1
    kind: family
    load_mode: route_match
    applies_when: {product_family: [motor]}
    conflicts_with: [family.home]
    ---
    A motor claim is about one vehicle.
    # file: fragments/home.md
    ---
    fragment_id: family.home
    version: 1
    kind: family
    load_mode: route_match
    applies_when: {product_family: [home]}
    ---
    A buildings claim is about what is fixed.
    # file: tests/fixtures/f.yaml
    fixture_id: f
    template: t
    route: {product_family: motor}

Mend: Narrow `applies_when` of one of them, or split the request.
"""

from __future__ import annotations

from ctxc.rules.engine import rule

RULE = rule(__name__, __doc__, emitter="compiling")
