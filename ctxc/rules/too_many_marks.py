"""More cache marks than the provider takes.

Why: The fifth mark is an error 400 with Anthropic and Bedrock, in production (five public reports).

Bad:

    # file: templates/t.yaml
    template_id: t
    version: 1
    provider: anthropic
    model: claude-sonnet-4-5
    checkpoints: [a, b, c, d, e]
    sections:
      - {id: a, kind: policy, source: literal, text: Answer briefly., cacheable: true}
      - {id: b, kind: policy, source: literal, text: Name the source., cacheable: true}
      - {id: c, kind: policy, source: literal, text: Say what is missing., cacheable: true}
      - {id: d, kind: policy, source: literal, text: Promise no dates., cacheable: true}
      - {id: e, kind: policy, source: literal, text: Give no legal advice., cacheable: true}

Good:

    # file: templates/t.yaml
    template_id: t
    version: 1
    provider: anthropic
    model: claude-sonnet-4-5
    checkpoints: [b]
    sections:
      - {id: a, kind: policy, source: literal, text: Answer briefly., cacheable: true}
      - {id: b, kind: policy, source: literal, text: Name the source., cacheable: true}

Mend: Keep the checkpoints after which requests really differ; the last one belongs at the end of the stable prefix.
"""

from __future__ import annotations

from collections.abc import Iterator

from ctxc.model.finding import Finding
from ctxc.rules._known import with_profile
from ctxc.rules._prefix import targets
from ctxc.rules.engine import Context, rule


def check(context: Context) -> Iterator[Finding]:
    """Checkpoints of templates against the limit of each model that they are sent to."""
    for template in with_profile(context):
        for found in targets(context, template):
            most = found.row.cache.get("max_breakpoints")
            if isinstance(most, int) and len(template.checkpoints) > most > 0:
                yield RULE.finding(
                    context,
                    f"template {template.id!r} has {len(template.checkpoints)} checkpoints; "
                    f"{found.provider.id} takes {most} marks",
                    at=template.at("checkpoints", most),
                    help="keep those after which requests differ",
                    data={"marks": len(template.checkpoints), "limit": most, "provider": found.provider.id},
                )
                break


RULE = rule(__name__, __doc__, check, detectors=("R3",))
