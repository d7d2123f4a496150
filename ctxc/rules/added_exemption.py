"""A waiver, a suppression or an entry of the baseline that was not there at the base.

Why: An exemption that comes ahead of what it is for silences nothing yet, and so nobody looks at it; the change that
needs it is then judged by a base that has it. So each is told in the change that adds it, with what it exempts, who
answers for it and until when. A policy may make it an error, and waive it for the one file in which exemptions are
decided.

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
    # file: policies/p.yaml
    policy_id: p
    version: 1
    waivers:
      - {rule: CTX201, path: tests/fixtures/f.yaml, owner: desk, reason: until the split, created: 2026-11-01,
          expires: 2026-12-31}
    # file: base/policies/p.yaml
    policy_id: p
    version: 1

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
    # file: policies/p.yaml
    policy_id: p
    version: 1
    waivers:
      - {rule: CTX201, path: tests/fixtures/f.yaml, owner: desk, reason: until the split, created: 2026-11-01,
          expires: 2026-12-31}
    # file: base/policies/p.yaml
    policy_id: p
    version: 1
    waivers:
      - {rule: CTX201, path: tests/fixtures/f.yaml, owner: desk, reason: until the split, created: 2026-11-01,
          expires: 2026-12-31}

Mend: Bring it in a change of its own, with the review that it needs, or mend what it is about.
"""

from __future__ import annotations

from collections.abc import Iterator

from ctxc.base.spans import Location
from ctxc.base.values import dataclass
from ctxc.model.contract import Waiver
from ctxc.model.finding import Finding
from ctxc.model.project import Project
from ctxc.rules._ground import ground, place_of_settings, version_changes
from ctxc.rules.engine import Context, Place, rule

_HELP = "decide on it by itself: from the next change on it silences what it speaks of"


@dataclass(frozen=True, slots=True, kw_only=True)
class Exemption:
    """Something that silences findings. ``kind`` is waiver, inline, file, config or baseline; ``rules`` are codes or
    names as written, ``about`` says of what it speaks. Only a waiver has an ``owner``; ``until`` is empty where it has
    no end. ``before`` is the end that a waiver of the same had at the base; ``count`` is of findings of a baseline.
    """

    kind: str
    rules: tuple[str, ...]
    about: str
    at: Place
    owner: str = ""
    reason: str = ""
    until: str = ""
    before: str = ""
    count: int = 0


def check(context: Context) -> Iterator[Finding]:
    """Waivers and entries of ``per-file-ignores``, and what the gate found in comments, front matter and baseline."""
    known = ground(context)
    for one in (*_waivers(context), *_configured(context), *known.exempted):
        yield RULE.finding(
            context, _told(one), at=one.at, help=_HELP,
            data={
                "kind": one.kind, "rules": list(one.rules), "about": one.about, "owner": one.owner,
                "reason": one.reason, "until": one.until, "count": one.count,
            },
        )  # fmt: skip


def _told(one: Exemption) -> str:
    rules = ", ".join(one.rules)
    end = f"until {one.until}" if one.until else "without an end"
    who = ": ".join(t for t in (one.owner, one.reason) if t)
    why = f" ({who})" if who else ""
    match one.kind:
        case "waiver" if one.before:
            return f"this waiver of {rules} for {one.about} lasts {end} in place of {one.before}{why}"
        case "waiver":
            return f"this waiver is new: {rules} for {one.about} {end}{why}"
        case "baseline":
            number = f"{one.count:,} finding{'s' if one.count > 1 else ''}"
            return f"the baseline accepts {number} more: {rules} for {one.about} {end}{why}"
        case _:
            return f"this suppression is new: {rules} for {one.about} {end}{why}"


def _waivers(context: Context) -> Iterator[Exemption]:
    """Waivers of which the base has none, or one that ends sooner."""
    if not any(c.kind == "policy" for c in version_changes(context)):
        return
    base = ground(context).base_project
    ends: dict[tuple[str, ...], str] = {}
    for waiver in _all(base) if base is not None else ():
        ends[_about(waiver)] = max(waiver.expires, ends.get(_about(waiver), ""))
    for waiver in _all(context.project):
        before = ends.get(_about(waiver), "")
        if waiver.expires > before:
            yield Exemption(
                kind="waiver", rules=(waiver.rule,), about=waiver.path or waiver.fingerprint, at=waiver.origin,
                owner=waiver.owner, reason=waiver.reason, until=waiver.expires, before=before,
            )  # fmt: skip


def _all(project: Project) -> Iterator[Waiver]:
    for versions in project.policies.values():
        yield from versions[-1].waivers


def _about(waiver: Waiver) -> tuple[str, ...]:
    return (waiver.rule, waiver.path, waiver.fingerprint)


def _configured(context: Context) -> Iterator[Exemption]:
    settings = ground(context).settings
    if settings is None:
        return
    before, after = (s.per_file_ignores for s in settings)
    for glob, words in after.items():
        added = tuple(w for w in words if w not in before.get(glob, ()))
        if added:
            place: Location = place_of_settings(context)
            yield Exemption(kind="config", rules=added, about=glob, at=place, reason="per-file-ignores")


RULE = rule(__name__, __doc__, check, needs="change")
