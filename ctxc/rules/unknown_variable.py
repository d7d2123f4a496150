"""A text that uses a variable which nothing gives a value.

Why: Inputs never fill a template; what the template does not declare and the route does not have is an error when a
request is made.

Bad:

    # file: templates/t.yaml
    template_id: t
    version: 1
    provider: text
    variables: {brand: Meridian}
    sections:
      - {id: policy, source: literal, text: "You speak for {{brnad}}."}

Good:

    # file: templates/t.yaml
    template_id: t
    version: 1
    provider: text
    variables: {brand: Meridian}
    sections:
      - {id: policy, source: literal, text: "You speak for {{brand}}."}

Mend: Declare it under `variables:` of the template, or give it in the route. `{{{{name}}}}` writes the braces
themselves.
"""

from __future__ import annotations

from collections.abc import Iterator

from ctxc.base.spans import Origin
from ctxc.compiler.substitute import DOTTED_HELP, place_of, variables
from ctxc.model.finding import Finding
from ctxc.model.section import Authority
from ctxc.parse.problems import did_you_mean
from ctxc.rules._routes import known_keys, newest
from ctxc.rules._texts import Shown, authority_of, is_file, templates
from ctxc.rules.engine import Context, rule


def check(context: Context) -> Iterator[Finding]:
    """Variables of a template's own texts that it does not declare, and of fragments that no template declares."""
    keys = known_keys(context) - {"files"}
    declared: set[str] = set()
    told: set[tuple[str, str]] = set()
    for template in templates(context):
        own = {*template.variables, *keys}
        declared |= own
        for spec in template.sections:
            if is_file(spec):
                shown = Shown(
                    text=context.body(spec.source), origin=Origin(spec.source), authority=authority_of(spec),
                    what=f"section {spec.id!r}", body=True,
                )  # fmt: skip
            elif spec.source == "literal":
                at = spec.origin.child("text")
                shown = Shown(text=spec.text, origin=at, authority=authority_of(spec), what=f"section {spec.id!r}")
            else:
                continue
            yield from _missing(context, shown, own, f"template {template.id!r}", told)
    if context.project.templates:
        for fragment in newest(context).values():
            shown = Shown(
                text=context.body(fragment.text_path), origin=Origin(fragment.text_path), authority=Authority.T1,
                what=f"fragment {fragment.id!r}", body=True,
            )  # fmt: skip
            yield from _missing(context, shown, declared, "no template", told)


def _missing(
    context: Context, shown: Shown, known: set[str], owner: str, told: set[tuple[str, str]]
) -> Iterator[Finding]:
    for name in variables(shown.text):
        place = (f"{shown.origin}", name)
        if name in known or place in told:
            continue
        told.add(place)
        start, end = place_of(shown.text, name)
        says = "declares it" if owner == "no template" else "does not declare it"
        yield RULE.finding(
            context,
            f"{shown.what} uses {{{{{name}}}}}, and {owner} {says}{did_you_mean(name, known)}",
            at=shown.place(context, start, end),
            help=DOTTED_HELP
            if "." in name
            else f"declare it under `variables:` or `route:`; known: {', '.join(sorted(known)) or 'none'}",
            data={"variable": name},
        )


RULE = rule(__name__, __doc__, check)
