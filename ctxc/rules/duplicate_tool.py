"""Two tools of one set with the same name.

Why: A model calls tools by name; one of the two would never be called, and which one that is depends on the
provider.

Bad:

    # file: templates/t.yaml
    template_id: t
    version: 1
    provider: openai
    model: gpt-4.1
    sections:
      - {id: policy, source: literal, text: Answer briefly.}
      - {id: tools, source: templates/tools.json}
    # file: templates/tools.json
    [{"name": "search", "description": "Search claims.", "input_schema": {"type": "object"}},
     {"name": "search", "description": "Search documents.", "input_schema": {"type": "object"}}]

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
    [{"name": "search_claims", "description": "Search claims.", "input_schema": {"type": "object"}},
     {"name": "search_documents", "description": "Search documents.", "input_schema": {"type": "object"}}]

Mend: Give one of them another name; tools of two servers need a prefix.
"""

from __future__ import annotations

from ctxc.rules.engine import rule

RULE = rule(__name__, __doc__, emitter="loading", detectors=("T107",))
