"""A tool set that no request profile and no template uses.

Why: Dead schemas are reviewed, versioned and pinned, and no model can call them.

Bad:

    # file: templates/t.yaml
    template_id: t
    version: 1
    provider: openai
    model: gpt-4.1
    sections:
      - {id: policy, source: literal, text: Answer briefly.}
    # file: templates/tools.yaml
    toolset_id: house_tools
    version: 1
    tools: [{name: find_service, description: Find a service., input_schema: {type: object}}]

Good:

    # file: templates/t.yaml
    template_id: t
    version: 1
    provider: openai
    model: gpt-4.1
    sections:
      - {id: policy, source: literal, text: Answer briefly.}
      - {id: tools, source: templates/tools.yaml}
    # file: templates/tools.yaml
    toolset_id: house_tools
    version: 1
    tools: [{name: find_service, description: Find a service., input_schema: {type: object}}]

Mend: Name it in a request profile or as the source of a tools section, or remove it.
"""

from __future__ import annotations

from collections.abc import Iterator

from ctxc.model.finding import Finding
from ctxc.model.lookup import candidates
from ctxc.rules._known import FIXTURES, all_known
from ctxc.rules._texts import templates
from ctxc.rules._tools import toolsets, used
from ctxc.rules.engine import Context, rule


def check(context: Context) -> Iterator[Finding]:
    """Tool sets to which neither a template nor a profile that is used leads."""
    project = context.project
    if not project.templates or not all_known(context, "template", "profile", *FIXTURES):
        return
    reached = {t.origin.path for template in templates(context) for t in used(context, template)}
    for profile in (p for versions in project.profiles.values() for p in versions):
        if not project.fixtures:  # without fixtures nothing says which profiles are used
            reached.update(t.origin.path for t in candidates(project.toolsets, profile.toolset))
    for toolset in toolsets(context):
        if toolset.origin.path not in reached:
            yield RULE.finding(
                context,
                f"no request can have tool set {toolset.id!r}",
                at=toolset.origin.child("toolset_id"),
                help="name it in a request profile that a template or a fixture uses, or remove it",
            )


RULE = rule(__name__, __doc__, check)
