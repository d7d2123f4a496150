"""Syntax of another template language in a text: the model sees it as it stands.

Why: Only `{{name}}` is filled here. A condition, a loop, a filter or an include that came along from elsewhere is sent
to the model, which may or may not guess what it was meant to become.

Bad:

    # file: templates/t.yaml
    template_id: t
    version: 1
    provider: text
    variables: {name: Ada}
    sections:
      - {id: policy, source: policies/house.md}
    # file: policies/house.md
    {% if name %}Greet {{ name | upper }}.{% endif %}

Good:

    # file: templates/t.yaml
    template_id: t
    version: 1
    provider: text
    variables: {name: Ada}
    sections:
      - {id: policy, source: policies/house.md}
    # file: policies/house.md
    Greet {{ name }}. A filter is written as `{{ name | upper }}`.

Mend: Say it in sections with `when`, or in fragments that the route selects; put what is meant as text between
backticks.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from ctxc.model.finding import Finding
from ctxc.rules._texts import application_texts
from ctxc.rules.engine import Context, rule

_WORDS = (
    "if|elif|else|endif|for|endfor|set|endset|include|extends|block|endblock|macro|endmacro|import|from|raw|endraw|with"
)
_SYNTAX = re.compile(
    rf"\{{%[-+]?\s*(?:{_WORDS})\b[^%\n]{{0,200}}%\}}"  # Jinja, Liquid
    r"|\{\{[#/^>&]\s*[\w.]+[^{}\n]{0,200}\}\}"  # Mustache, Handlebars
    r"|(?<!\$)\{\{[-~]?\s*[A-Za-z_][\w.]*\s*(?:\|\s*[A-Za-z_]|\(|\[)[^{}\n]{0,200}\}\}"  # a filter, a call, an item
    r"|<%[=-]?\s[^%\n]{1,200}%>"  # ERB, EJS
)
_FENCE = re.compile(r" {0,3}(```+|~~~+)")
_INLINE = re.compile(r"(?<!`)(`{1,3})(?!`)[^`\n]{1,300}\1(?!`)")
_SHOWN = 40


def check(context: Context) -> Iterator[Finding]:
    """The first place of each text; what stands in code is meant as it is."""
    for shown in application_texts(context):
        if "{" not in shown.text and "<%" not in shown.text:
            continue
        found = list(_SYNTAX.finditer(shown.text))
        if found:
            code = _code(shown.text)
            found = [m for m in found if not any(start <= m.start() < end for start, end in code)]
        if found:
            text = found[0][0] if len(found[0][0]) <= _SHOWN else found[0][0][: _SHOWN - 1] + "…"
            more = f", and {len(found) - 1} more" if len(found) > 1 else ""
            yield RULE.finding(
                context,
                f"{shown.what} holds syntax that nothing here reads: {text}{more}",
                at=shown.place(context, *found[0].span()),
                help="only `{{name}}` is filled: use `when` or fragments by route; put text that is meant in backticks",
                data={"places": len(found)},
            )


def _code(text: str) -> list[tuple[int, int]]:
    """Where fences and code spans of a Markdown text begin and end."""
    found: list[tuple[int, int]] = []
    fence, began, at = "", 0, 0
    for line in text.splitlines(keepends=True):
        mark = _FENCE.match(line)
        if fence:
            if mark and mark[1].startswith(fence) and not line[mark.end() :].strip():
                found.append((began, at + len(line)))
                fence = ""
        elif mark:
            fence, began = mark[1], at
        else:
            found += [(at + m.start(), at + m.end()) for m in _INLINE.finditer(line)]
        at += len(line)
    return [*found, (began, at)] if fence else found


RULE = rule(__name__, __doc__, check)
