"""A variable that a template declares and no text of it uses.

Why: Either the text lost it, or it is misspelt there and stays in the request as two braces.

Bad:

    # file: templates/t.yaml
    template_id: t
    version: 1
    provider: text
    variables: {brand: Meridian}
    sections:
      - {id: policy, source: literal, text: Answer briefly.}

Good:

    # file: templates/t.yaml
    template_id: t
    version: 1
    provider: text
    variables: {brand: Meridian}
    sections:
      - {id: policy, source: literal, text: "You speak for {{brand}}. Answer briefly."}

Mend: Use it as `{{name}}`, or remove it.
"""

from __future__ import annotations

from collections.abc import Iterator

from ctxc.compiler.substitute import variables
from ctxc.model.finding import Finding
from ctxc.rules._known import all_known
from ctxc.rules._routes import newest
from ctxc.rules._texts import is_file, read, templates
from ctxc.rules.engine import Context, rule


def check(context: Context) -> Iterator[Finding]:
    """Declared variables that neither the template's own texts nor any fragment uses."""
    in_fragments: set[str] | None = None
    for template in templates(context):
        if not template.variables:
            continue
        own = [read(context, s.source) if is_file(s) else s.text for s in template.sections]
        texts = [text for text in own if text is not None]
        if len(texts) < len(own):
            continue  # a text that cannot be read may use any of them
        used = {name for text in texts for name in variables(text)}
        if any(s.source == "fragments" for s in template.sections):
            if not all_known(context, "fragment"):
                continue
            if in_fragments is None:
                in_fragments = {n for f in newest(context).values() for n in variables(context.body(f.text_path))}
            used |= in_fragments
        for name in template.variables:
            if name not in used:
                yield RULE.finding(
                    context,
                    f"variable {name!r} is used in no text of template {template.id!r}",
                    at=template.at("variables", name),
                    key=True,
                    help=f"write {{{{{name}}}}} where it belongs, or remove it",
                )


RULE = rule(__name__, __doc__, check)
