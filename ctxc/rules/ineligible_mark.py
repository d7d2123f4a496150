"""A cache mark after a section that cannot carry one: it is not stable, has no text, or stands where the provider
takes no mark.

Why: A mark after something that changes is paid for with every request and never read; on an empty block it is an
error 400.

Bad:

    # file: templates/t.yaml
    template_id: t
    version: 1
    provider: anthropic
    model: claude-sonnet-4-5
    checkpoints: [state]
    sections:
      - {id: policy, source: literal, text: Answer briefly., cacheable: true}
      - {id: state, source: runtime}

Good:

    # file: templates/t.yaml
    template_id: t
    version: 1
    provider: anthropic
    model: claude-sonnet-4-5
    checkpoints: [policy]
    sections:
      - {id: policy, source: literal, text: Answer briefly., cacheable: true}
      - {id: state, source: runtime}

Mend: Name the last section of the stable prefix, or mark the section `cacheable: true` where it is stable.
"""

from __future__ import annotations

from collections.abc import Iterator

from ctxc.model.finding import Finding
from ctxc.model.fragment import GROUPS
from ctxc.model.section import Kind, Zone
from ctxc.model.template import SectionSpec, Template
from ctxc.rules._known import with_profile
from ctxc.rules._prefix import is_stable, targets, zone_of
from ctxc.rules._texts import is_file, read
from ctxc.rules.engine import Context, rule

_EMPTY = "has no text"
_HELP = (
    "name the last stable section, or mark this one `cacheable: true` if it is stable",
    "write its text, or name the last stable section that has one",
)


def check(context: Context) -> Iterator[Finding]:
    """Each checkpoint against the section (or the group of fragments) that it names."""
    for template in with_profile(context):
        by_id = {s.id: s for s in template.sections}
        fragments = next((s for s in template.sections if s.source == "fragments"), None)
        for number, name in enumerate(template.checkpoints):
            spec = by_id.get(name) or (fragments if name in GROUPS else None)
            reason = _reason(context, template, spec) if spec is not None else ""
            if spec is not None and reason:
                yield RULE.finding(
                    context,
                    f"the checkpoint after {name!r} marks a section that {reason}",
                    at=template.at("checkpoints", number),
                    help=_HELP[reason == _EMPTY],
                    related=[(spec.origin, f"section {spec.id}")],
                    data={"section": spec.id},
                )


def _reason(context: Context, template: Template, spec: SectionSpec) -> str:
    if zone_of(spec) not in (Zone.SYSTEM, Zone.TOOLS):
        return f"stands in the {zone_of(spec).value} zone and differs from request to request"
    if not is_stable(context, template, spec):
        return "is not stable (`cacheable`)"
    text = spec.text if spec.source == "literal" else read(context, spec.source) if is_file(spec) else None
    if text is not None and not text.strip():
        return _EMPTY
    for found in targets(context, template):
        placements = found.row.cache.get("placements")
        place = "tools" if spec.kind is Kind.TOOLS else "system"
        if found.row.cache.get("mode") == "explicit" and isinstance(placements, list) and place not in placements:
            return f"{found.provider.id} takes no mark on ({place}; it takes them in {', '.join(map(str, placements))})"
    return ""


RULE = rule(__name__, __doc__, check, detectors=("R4", "R9"))
