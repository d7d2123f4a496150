"""More blocks between two cache marks than the provider looks back.

Why: A read walks back 20 positions from a mark, the mark itself being the first. An entry that lies further back is
not found, silently, and everything before it is paid for again.

Bad:

    # file: templates/t.yaml
    template_id: t
    version: 1
    provider: anthropic
    model: claude-sonnet-4-5
    checkpoints: [s01, s22]
    sections:
      - {id: s01, kind: policy, source: literal, text: Rule 1., cacheable: true}
      - {id: s02, kind: policy, source: literal, text: Rule 2., cacheable: true}
      - {id: s03, kind: policy, source: literal, text: Rule 3., cacheable: true}
      - {id: s04, kind: policy, source: literal, text: Rule 4., cacheable: true}
      - {id: s05, kind: policy, source: literal, text: Rule 5., cacheable: true}
      - {id: s06, kind: policy, source: literal, text: Rule 6., cacheable: true}
      - {id: s07, kind: policy, source: literal, text: Rule 7., cacheable: true}
      - {id: s08, kind: policy, source: literal, text: Rule 8., cacheable: true}
      - {id: s09, kind: policy, source: literal, text: Rule 9., cacheable: true}
      - {id: s10, kind: policy, source: literal, text: Rule 10., cacheable: true}
      - {id: s11, kind: policy, source: literal, text: Rule 11., cacheable: true}
      - {id: s12, kind: policy, source: literal, text: Rule 12., cacheable: true}
      - {id: s13, kind: policy, source: literal, text: Rule 13., cacheable: true}
      - {id: s14, kind: policy, source: literal, text: Rule 14., cacheable: true}
      - {id: s15, kind: policy, source: literal, text: Rule 15., cacheable: true}
      - {id: s16, kind: policy, source: literal, text: Rule 16., cacheable: true}
      - {id: s17, kind: policy, source: literal, text: Rule 17., cacheable: true}
      - {id: s18, kind: policy, source: literal, text: Rule 18., cacheable: true}
      - {id: s19, kind: policy, source: literal, text: Rule 19., cacheable: true}
      - {id: s20, kind: policy, source: literal, text: Rule 20., cacheable: true}
      - {id: s21, kind: policy, source: literal, text: Rule 21., cacheable: true}
      - {id: s22, kind: policy, source: literal, text: Rule 22., cacheable: true}

Good:

    # file: templates/t.yaml
    template_id: t
    version: 1
    provider: anthropic
    model: claude-sonnet-4-5
    checkpoints: [s01, s03]
    sections:
      - {id: s01, kind: policy, source: literal, text: Rule 1., cacheable: true}
      - {id: s02, kind: policy, source: literal, text: Rule 2., cacheable: true}
      - {id: s03, kind: policy, source: literal, text: Rule 3., cacheable: true}

Mend: Put a checkpoint between them, or join sections.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

from ctxc.model.finding import Finding
from ctxc.model.fragment import GROUPS
from ctxc.model.lookup import candidates
from ctxc.model.template import Template
from ctxc.rules._known import with_profile
from ctxc.rules._prefix import prefix, targets
from ctxc.rules._routes import fixtures_by_route, index
from ctxc.rules.engine import Context, rule


def check(context: Context) -> Iterator[Finding]:
    """Blocks between the marks of a template: one a section, one a fragment that a fixture's route loads."""
    for template in with_profile(context):
        if len(template.checkpoints) < 2:
            continue
        looks = [(t, t.row.cache.get("lookback")) for t in targets(context, template)]
        found = min(((n, t) for t, n in looks if isinstance(n, int) and n > 0), key=lambda p: p[0], default=None)
        if found is None:
            continue
        for fragments in _routes(context, template):
            gap = _widest(context, template, fragments)
            if gap is not None and gap[0] >= found[0]:
                blocks, name = gap
                yield RULE.finding(
                    context,
                    f"{blocks} blocks stand between the checkpoint after {name!r} and the one before it; "
                    f"{found[1].provider.id} looks back {found[0]}",
                    at=template.at("checkpoints", template.checkpoints.index(name)),
                    help="put a checkpoint between them, or join sections",
                    data={"blocks": blocks, "lookback": found[0]},
                )
                break


def _routes(context: Context, template: Template) -> Iterator[tuple[str, ...]]:
    """Groups of the fragments that each route of the template's fixtures loads; none where it has no fixture."""
    yield ()
    if any(s.source == "fragments" for s in template.sections):
        for fixture in fixtures_by_route(context).values():
            named = candidates(context.project.templates, fixture.template)
            if named and named[-1] is template:
                yield tuple(f.kind for f in index(context).candidates(fixture.route))


def _widest(context: Context, template: Template, fragments: tuple[str, ...]) -> tuple[int, str] | None:
    """The largest distance between two successive marks, in blocks, and the later mark."""
    names: list[str] = []
    for spec in prefix(context, template):
        if spec.source == "fragments":
            ordered = sorted(fragments, key=GROUPS.index)
            names.extend(ordered)
            if ordered:
                names[-1] = f"{names[-1]}\0{spec.id}"
        else:
            names.append(spec.id)
    last: dict[str, int] = {}
    for place, name in enumerate(names):
        for part in name.split("\0"):
            last[part] = place
    marks = sorted((last[c], c) for c in template.checkpoints if c in last)
    gaps = [(later - earlier, name) for (earlier, _), (later, name) in pairwise(marks)]
    return max(gaps, default=None)


RULE = rule(__name__, __doc__, check, detectors=("R7",))
