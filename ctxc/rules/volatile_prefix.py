"""A value that differs from request to request, in the part of the prompt that is meant to be stable.

Why: A cached prefix ends at its first difference: a date on line 3 makes every token after it be paid for in full.
Of 52 public reports of lost caches, 15 were this.

Bad:

    # file: templates/t.yaml
    template_id: t
    version: 1
    provider: text
    sections:
      - {id: policy, source: policies/house.md, cacheable: true}
      - {id: user, source: runtime}
    # file: policies/house.md
    Current time: 2026-11-30 10:04:31
    Answer briefly.

Good:

    # file: templates/t.yaml
    template_id: t
    version: 1
    provider: text
    sections:
      - {id: policy, source: policies/house.md, cacheable: true}
      - {id: task, source: runtime}
      - {id: user, source: runtime}
    # file: policies/house.md
    Answer briefly. The current time stands in the task.

Mend: Pass the value in a section that is not stable (`task`, `state`), or take it out.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from ctxc.base.canonical import digest_json
from ctxc.base.spans import Origin
from ctxc.model.finding import Finding, Severity
from ctxc.model.section import Authority, Kind, Zone
from ctxc.model.template import SectionSpec, Template
from ctxc.rules._known import with_profile
from ctxc.rules._prefix import prefix, stable_names, zone_of
from ctxc.rules._routes import newest
from ctxc.rules._texts import Shown, is_file, search, strings
from ctxc.rules._tools import used
from ctxc.rules.engine import Context, rule

if TYPE_CHECKING:
    from ctxc.detect.match import Match

_HELP = "pass it in a section that is not stable (task, state), or take it out"


def check(context: Context) -> Iterator[Finding]:
    """Texts of stable sections, tools and contracts, and stable sections whose source is the request itself."""
    from ctxc.detect.volatile import find_volatile

    tenants = {f.principal.tenant for f in context.project.fixtures.values() if f.principal and f.principal.tenant}
    shown: dict[tuple[str, str], Shown] = {}
    searched: set[frozenset[str] | None] = set()
    for template in with_profile(context):
        for spec in prefix(context, template):
            from_request = spec.source == "retrieval" or spec.source.startswith("runtime")
            # Contract and tools of a request profile are written as runtime too, and are files of the project.
            if from_request and spec.kind not in (Kind.CONTRACT, Kind.TOOLS):
                yield _from_request(context, spec)
            if spec.source == "fragments":
                names = stable_names(context, template, spec)
                if not searched.isdisjoint((None, names)):
                    continue  # they stand in it already
                searched.add(names)
            for text in _texts(context, template, spec):
                shown.setdefault((text.origin.path, text.origin.pointer), text)
        if any(zone_of(s) is Zone.TOOLS or s.cacheable for s in template.sections):
            for toolset in used(context, template):
                for tool in toolset.tools:
                    described = strings({"description": tool.description}, tool.origin, f"tool {tool.name!r}")
                    for text in described:
                        if not text.key:
                            shown.setdefault((text.origin.path, text.origin.pointer), text)

    def find(text: str) -> Iterator[Match]:
        return (m for m in find_volatile(text, tenants=tenants) if m.severity > Severity.INFO)

    about = f"volatile {digest_json(sorted(tenants))}"
    for text, match in search(context, about, shown.values(), find):
        yield RULE.finding(
            context,
            f"{match.message} in {text.what}, which is part of the stable prefix",
            at=text.place(context, match.start, match.end),
            help=_HELP,
            data={"detector": match.detector},
        )


def _from_request(context: Context, spec: SectionSpec) -> Finding:
    return RULE.finding(
        context,
        f"section {spec.id!r} is marked as stable and comes with the request ({spec.source})",
        at=spec.origin.child("source"),
        help="remove `cacheable: true`, or take the text from a file of the project",
        data={"detector": "volatile.source"},
    )


def _texts(context: Context, template: Template, spec: SectionSpec) -> Iterator[Shown]:
    if spec.source == "literal":
        at = spec.origin.child("text")
        yield Shown(text=spec.text, origin=at, authority=Authority.T1, what=f"section {spec.id!r}")
    elif spec.source == "fragments":
        names = stable_names(context, template, spec)
        for fragment in newest(context).values():
            if names is not None and names.isdisjoint((fragment.kind, fragment.id)):
                continue
            yield Shown(
                text=context.body(fragment.text_path), origin=Origin(fragment.text_path), authority=Authority.T1,
                what=f"fragment {fragment.id!r}", body=True,
            )  # fmt: skip
    elif is_file(spec):
        yield Shown(
            text=context.body(spec.source), origin=Origin(spec.source), authority=Authority.T1,
            what=f"section {spec.id!r}", body=True,
        )  # fmt: skip


RULE = rule(__name__, __doc__, check, detectors=("R1", "R13", "volatile.*"))
