"""A Markdown file in a configured folder that nothing names.

Why: It looks like a part of the prompt and reaches no model; mostly it was meant to be loaded.

Bad:

    # file: templates/t.yaml
    template_id: t
    version: 1
    provider: text
    sections:
      - {id: policy, source: literal, text: Answer briefly.}
    # file: fragments/tone.md
    Write plainly.

Good:

    # file: templates/t.yaml
    template_id: t
    version: 1
    provider: text
    sections:
      - {id: policy, source: fragments/tone.md}
    # file: fragments/tone.md
    Write plainly.

Mend: Name it in a manifest or in a section, give it front matter, or move it elsewhere.
"""

from __future__ import annotations

from collections.abc import Iterator

from ctxc.base.spans import Origin
from ctxc.model.finding import Finding
from ctxc.rules._files import listed
from ctxc.rules._known import FIXTURES, all_known
from ctxc.rules._texts import is_file, templates
from ctxc.rules.engine import Context, rule

_NOT_PROMPTS = frozenset({"readme", "changelog", "license", "contributing"})


def check(context: Context) -> Iterator[Finding]:
    """Markdown under the folders of templates, fragments and policies that is no definition and no source."""
    if not all_known(context, "template", "fragment", *FIXTURES):
        return
    settings = context.project.settings
    named = {f.text_path for versions in context.project.fragments.values() for f in versions}
    named.update(s.source for t in templates(context) for s in t.sections if is_file(s))
    named.update(path for f in context.project.fixtures.values() for path in f.inputs.files)
    for path in listed(context, (*settings.templates, *settings.fragments, *settings.policies)):
        if not path.lower().endswith((".md", ".markdown")) or path in named or path in context.project.broken:
            continue
        if path.rpartition("/")[2].partition(".")[0].lower() not in _NOT_PROMPTS:
            yield RULE.finding(
                context,
                "nothing names this file: no model is shown it",
                at=Origin(path),
                help="name it in a manifest or a section, or move it out of this folder",
            )


RULE = rule(__name__, __doc__, check, tier="strict")
