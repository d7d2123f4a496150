"""A template that needs what the interface or the model cannot carry.

Why: The provider would refuse the request, or leave the tools out.

Bad:

    # file: templates/t.yaml
    template_id: t
    version: 1
    provider: text
    sections:
      - {id: policy, source: literal, text: Answer briefly.}
      - {id: tools, source: templates/tools.json}
    # file: templates/tools.json
    [{"name": "find_service", "description": "Find a service.", "input_schema": {"type": "object", "properties": {}}}]
    # file: tests/fixtures/f.yaml
    fixture_id: f
    template: t
    provider: silent
    # file: templates/silent.yaml
    provider_id: silent
    version: "1"
    shape: text
    platform: house
    as_of: "2026-11-30"
    sources: [house rules]
    models:
      - {pattern: "*", window: 8000, tokenizer: {id: o200k_base, method: exact}}

Good:

    # file: templates/t.yaml
    template_id: t
    version: 1
    provider: openai
    model: gpt-4.1
    sections:
      - {id: policy, source: literal, text: Answer briefly.}
      - {id: tools, source: templates/tools.json}
    # file: templates/tools.json
    [{"name": "find_service", "description": "Find a service.", "input_schema": {"type": "object", "properties": {}}}]
    # file: tests/fixtures/f.yaml
    fixture_id: f
    template: t

Mend: Use a provider or model with this capability, or a request profile without it.
"""

from __future__ import annotations

from ctxc.rules.engine import rule

RULE = rule(__name__, __doc__, emitter="compiling")
