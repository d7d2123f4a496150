"""A suppression that cannot be read, or stands where none counts.

Why: It does not count, and looks as if it did.

Bad:

    # file: templates/t.yaml
    template_id: t
    version: 1.10  # ctxc: ignore reason: the registry wants it so
    sections:
      - {id: policy, source: literal, text: Answer briefly.}

Good:

    # file: templates/t.yaml
    template_id: t
    version: 1.10  # ctxc: ignore[CTX019] reason: the registry wants it so
    sections:
      - {id: policy, source: literal, text: Answer briefly.}

Mend: Write `# ctxc: ignore[CODE] until=YYYY-MM-DD reason: TEXT`; `ignore-file[CODE]` stands before the first value;
in Markdown, use the front matter key `ctxc_ignore`.
"""

from __future__ import annotations

from ctxc.rules.engine import rule

RULE = rule(__name__, __doc__, emitter="suppressing")
