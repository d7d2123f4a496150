"""Stable sections after the last cache mark.

Why: They are the same in every request and are paid for in full every time, because no entry ends after them.

Bad:

    # file: templates/t.yaml
    template_id: t
    version: 1
    provider: anthropic
    model: claude-sonnet-4-5
    checkpoints: [policy]
    sections:
      - {id: policy, source: literal, text: Answer briefly., cacheable: true}
      - {id: rules, kind: policy, source: literal, text: Name the source., cacheable: true}
      - {id: user, source: runtime}

Good:

    # file: templates/t.yaml
    template_id: t
    version: 1
    provider: anthropic
    model: claude-sonnet-4-5
    checkpoints: [rules]
    sections:
      - {id: policy, source: literal, text: Answer briefly., cacheable: true}
      - {id: rules, kind: policy, source: literal, text: Name the source., cacheable: true}
      - {id: user, source: runtime}

Mend: Name the last stable section as a checkpoint; without any checkpoint the mark stands there by itself.
"""

from __future__ import annotations

from collections.abc import Iterator

from ctxc.model.finding import Finding
from ctxc.model.fragment import GROUPS
from ctxc.rules._known import with_profile
from ctxc.rules._prefix import prefix, targets
from ctxc.rules.engine import Context, rule


def check(context: Context) -> Iterator[Finding]:
    """The last checkpoint of a template against the end of its stable prefix."""
    for template in with_profile(context):
        stable = prefix(context, template)
        found = next((t for t in targets(context, template) if t.row.cache.get("mode") == "explicit"), None)
        if found is None or not stable or not template.checkpoints:
            continue
        ids = [s.id for s in stable]
        fragments = next((n for n, s in enumerate(stable) if s.source == "fragments"), -1)
        places = [ids.index(c) if c in ids else fragments if c in GROUPS else -1 for c in template.checkpoints]
        last = max(places)
        if 0 <= last < len(stable) - 1:
            rest = stable[last + 1 :]
            yield RULE.finding(
                context,
                f"{len(rest)} stable section{'s' if len(rest) > 1 else ''} of template {template.id!r} stand after the "
                f"last checkpoint, {rest[0].id!r} first",
                at=template.at("checkpoints"),
                help=f"name {stable[-1].id!r} as the last checkpoint",
                related=[(rest[0].origin, f"section {rest[0].id}")],
                data={"sections": [s.id for s in rest]},
            )


RULE = rule(__name__, __doc__, check, detectors=("R6",))
