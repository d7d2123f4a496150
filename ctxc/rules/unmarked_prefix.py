"""A template for a provider that caches only what is marked, with nothing marked as stable.

Why: Policy, contract and tools are the same in every request and are paid for in full every time.

Bad:

    # file: templates/t.yaml
    template_id: t
    version: 1
    provider: anthropic
    model: claude-sonnet-4-5
    sections:
      - {id: policy, source: policies/house.md}
      - {id: user, source: runtime}
    # file: policies/house.md (repeated 400 times)
    Answer briefly, and name the source of every statement.

Good:

    # file: templates/t.yaml
    template_id: t
    version: 1
    provider: anthropic
    model: claude-sonnet-4-5
    sections:
      - {id: policy, source: policies/house.md, cacheable: true}
      - {id: user, source: runtime}
    # file: policies/house.md (repeated 400 times)
    Answer briefly, and name the source of every statement.

Mend: Add `cacheable: true` to the sections that do not change from request to request, or name them under `static`
of the request profile.
"""

from __future__ import annotations

from collections.abc import Iterator

from ctxc.model.finding import Finding
from ctxc.model.section import Zone
from ctxc.rules._known import with_profile
from ctxc.rules._prefix import prefix, targets, zone_of
from ctxc.rules._texts import is_file
from ctxc.rules.engine import Context, rule

_EXPLICIT = ("explicit", "implicit_latest_message")
_CHARACTERS_A_TOKEN = (
    6  # at least so many tokens may be counted on without counting: texts have four characters a token
)


def check(context: Context) -> Iterator[Finding]:
    """Templates without a stable section whose own texts are long enough to be worth caching."""
    for template in with_profile(context):
        if prefix(context, template):
            continue
        own = [s for s in template.sections if (is_file(s) or s.source == "literal") and zone_of(s) is Zone.SYSTEM]
        length = sum(len(s.text if s.source == "literal" else context.body(s.source)) for s in own)
        for found in targets(context, template):
            least = found.row.cache.get("min_tokens")
            if found.row.cache.get("mode") not in _EXPLICIT or not isinstance(least, int):
                continue
            if length >= least * _CHARACTERS_A_TOKEN:
                yield RULE.finding(
                    context,
                    f"{found.model} caches what is marked, and template {template.id!r} marks nothing as stable",
                    at=own[0].origin,
                    help="add `cacheable: true` to the sections that do not change",
                    data={"model": found.model, "sections": [s.id for s in own]},
                )
                break


RULE = rule(__name__, __doc__, check, detectors=("R6",))
