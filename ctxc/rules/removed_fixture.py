"""A fixture that the base had and that is gone.

Why: What a fixture showed is no longer checked, and nothing else says so: fewer checks look like the same green tick.

Bad:

    # file: templates/t.yaml
    template_id: t
    version: 1
    provider: text
    sections:
      - {id: policy, source: literal, text: Answer briefly.}
    # file: tests/fixtures/f.yaml
    fixture_id: f
    template: t
    # file: base/tests/fixtures/g.yaml
    fixture_id: g
    template: t

Good:

    # file: templates/t.yaml
    template_id: t
    version: 1
    provider: text
    sections:
      - {id: policy, source: literal, text: Answer briefly.}
    # file: tests/fixtures/f.yaml
    fixture_id: f
    template: t
    # file: tests/fixtures/g.yaml
    fixture_id: g
    template: t

Mend: Keep it, or say in the change why what it showed need not hold any more.
"""

from __future__ import annotations

from collections.abc import Iterator

from ctxc.base.spans import Location
from ctxc.model.finding import Finding
from ctxc.rules._ground import ground
from ctxc.rules.engine import Context, rule


def check(context: Context) -> Iterator[Finding]:
    """Fixtures of the base that head does not have; turns of a conversation count by themselves."""
    known = ground(context)
    if known.base is None:
        return
    broken = set(context.project.broken)
    for name in sorted(known.base.keys() - context.project.fixtures.keys() - set(known.renamed.values())):
        before = known.base[name]
        if before.path in broken:
            continue  # it could not be loaded, which is said elsewhere
        yield RULE.finding(
            context,
            f"fixture {name!r} was removed: what it showed of template {before.template!r} is no longer checked",
            at=Location(before.path),
            help="keep it, or say in the change why it is not needed any more",
            fixture=name,
            data={"template": before.template, "expectations": before.stated},
        )


RULE = rule(__name__, __doc__, check, needs="change")
