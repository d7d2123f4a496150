"""A fragment that no request can load.

Why: It is kept, reviewed and translated, and no model ever reads it; whoever wrote it believes that its rules hold.

Bad:

    # file: templates/t.yaml
    template_id: t
    version: 1
    route: [task]
    sections:
      - {id: policy, source: literal, text: Answer briefly.}
    # file: fragments/tone.md
    ---
    fragment_id: core.tone
    version: 1
    kind: core
    load_mode: always
    ---
    Write plainly.

Good:

    # file: templates/t.yaml
    template_id: t
    version: 1
    route: [task]
    sections:
      - {id: policy, source: literal, text: Answer briefly.}
      - {id: fragments, source: fragments}
    # file: fragments/tone.md
    ---
    fragment_id: core.tone
    version: 1
    kind: core
    load_mode: always
    ---
    Write plainly.

Mend: Let a template take fragments (`source: fragments`), give every condition at least one value, and let a fragment
that is only loaded with another be named in its `requires`.
"""

from __future__ import annotations

from collections.abc import Iterator

from ctxc.model.finding import Finding
from ctxc.rules._known import all_known
from ctxc.rules._routes import ids, newest
from ctxc.rules._texts import templates
from ctxc.rules.engine import Context, rule


def check(context: Context) -> Iterator[Finding]:
    """Fragments without a section that takes them, and fragments with a condition that has no value."""
    known = newest(context)
    taken = any(s.source == "fragments" for t in templates(context) for s in t.sections)
    if known and not taken and context.project.templates and all_known(context, "template"):
        first = min(known.values(), key=lambda f: f.origin)
        yield RULE.finding(
            context,
            f"no template takes fragments: none of the {len(known)} can be loaded",
            at=first.origin.child("fragment_id"),
            help="add a section with `source: fragments` to a template",
            data={"fragments": sorted(known)},
        )
        return
    needed = {name for f in known.values() for name in ids(context, f.requires)}
    named = {name for f in context.project.fixtures.values() for name in ids(context, f.inputs.fragments)}
    for fragment in known.values():
        empty = [key for key, values in fragment.applies_when.items() if not values]
        if empty and fragment.id not in needed | named:
            yield RULE.finding(
                context,
                f"fragment {fragment.id!r} asks for a route whose {empty[0]!r} has one of no values: nothing matches",
                at=fragment.origin.child("applies_when", empty[0]),
                help="list the values, or remove the condition",
                data={"fragment": fragment.id, "key": empty[0]},
            )


RULE = rule(__name__, __doc__, check)
