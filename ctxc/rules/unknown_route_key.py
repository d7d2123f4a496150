"""A condition on a route key that no template names and no fixture gives.

Why: A key that a route lacks does not match, so the fragment, the section or the reply is never used; mostly the key is
misspelt.

Bad:

    # file: templates/t.yaml
    template_id: t
    version: 1
    route: [product_family]
    sections:
      - {id: fragments, source: fragments}
    # file: fragments/motor.md
    ---
    fragment_id: family.motor
    version: 1
    kind: family
    load_mode: route_match
    applies_when: {product_familly: [motor]}
    ---
    A motor claim is about one vehicle.

Good:

    # file: templates/t.yaml
    template_id: t
    version: 1
    route: [product_family]
    sections:
      - {id: fragments, source: fragments}
    # file: fragments/motor.md
    ---
    fragment_id: family.motor
    version: 1
    kind: family
    load_mode: route_match
    applies_when: {product_family: [motor]}
    ---
    A motor claim is about one vehicle.

Mend: Write the key as the routes have it, or name it under `route:` of the template.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from ctxc.base.spans import Origin
from ctxc.model.finding import Finding
from ctxc.parse.problems import did_you_mean
from ctxc.rules._known import FIXTURES, all_known
from ctxc.rules._routes import known_keys, newest
from ctxc.rules._texts import templates
from ctxc.rules.engine import Context, rule


def check(context: Context) -> Iterator[Finding]:
    """Keys of ``applies_when``, of a section's ``when`` and of deterministic routes."""
    known = known_keys(context)
    if known == {"files"} or not all_known(context, "template", *FIXTURES):
        return  # nothing says yet which keys a route has
    for where, conditions in _conditions(context):
        for key in conditions:
            if key not in known:
                yield RULE.finding(
                    context,
                    f"no route has the key {key!r}{did_you_mean(key, known - {'files'})}",
                    at=where.child(key),
                    key=True,
                    help=f"known: {', '.join(sorted(known))}; name a new one under `route:` of the template",
                    data={"key": key, "known": sorted(known)},
                )


def _conditions(context: Context) -> Iterator[tuple[Origin, Mapping[str, Any]]]:
    for fragment in newest(context).values():
        yield fragment.origin.child("applies_when"), fragment.applies_when
    seen: set[Origin] = set()
    for template in templates(context):
        for spec in template.sections:
            if spec.when and spec.origin not in seen:
                seen.add(spec.origin)
                yield spec.origin.child("when"), spec.when
        for number, route in enumerate(template.deterministic):
            yield template.at("deterministic", number, "when"), route["when"]


RULE = rule(__name__, __doc__, check)
