"""A template whose `renderer` does not exist.

Why: The renderer decides how untrusted text is wrapped; without one nothing may be rendered.

Bad:

    # file: templates/t.yaml
    template_id: t
    version: 1
    provider: text
    renderer: chat_message_v3
    sections:
      - {id: policy, source: literal, text: Answer briefly.}

Good:

    # file: templates/t.yaml
    template_id: t
    version: 1
    provider: text
    renderer: chat_messages_v3
    sections:
      - {id: policy, source: literal, text: Answer briefly.}

Mend: Write one of the names that the message lists, or leave the key out.
"""

from __future__ import annotations

from collections.abc import Iterator

from ctxc.compiler.wrappers import wrapper_ids
from ctxc.model.finding import Finding
from ctxc.parse.problems import did_you_mean
from ctxc.rules._texts import templates
from ctxc.rules.engine import Context, rule


def check(context: Context) -> Iterator[Finding]:
    """Renderers that are no file of the package."""
    known = wrapper_ids()
    for template in templates(context):
        if template.renderer not in known:
            yield RULE.finding(
                context,
                f"there is no renderer {template.renderer!r}{did_you_mean(template.renderer, known)}",
                at=template.at("renderer"),
                help=f"known: {', '.join(known)}",
            )


RULE = rule(__name__, __doc__, check)
