"""A waiver that cannot count: too long, too broad, ended before it began, or of a rule that does not exist.

Why: A waiver is an exception that ends. One that is valid for years, or for every file of a folder, is a rule of its
own that nobody decided.

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
    gates: {budget: {ceilings: [{max_input_tokens: 500}]}}
    waivers:
      - {rule: CTX201, path: "**", owner: desk, reason: for now, created: 2026-10-01, expires: 2028-10-01}

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
    gates: {budget: {ceilings: [{max_input_tokens: 500}]}}
    waivers:
      - {rule: CTX201, path: tests/fixtures/f.yaml, owner: desk, reason: until the split, created: 2026-11-01,
          expires: 2026-12-31}

Mend: Name one file (or the finding's fingerprint) and an end within 180 days; mend what it is about before then.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date

from ctxc.model.contract import Policy, Waiver
from ctxc.model.finding import Finding
from ctxc.model.project import Project
from ctxc.parse.problems import did_you_mean
from ctxc.rules import codes_of
from ctxc.rules.engine import Context, rule

MAX_DAYS = 180
"""The longest that a waiver may last; a policy may say less (``gates.waivers.max_days``)."""

SOON_DAYS = 14
"""Days before its end from which on a waiver is announced."""


def faults(project: Project, policy: Policy, waiver: Waiver, now: str) -> Iterator[tuple[str, str]]:
    """What keeps a waiver from counting: the key that is wrong, and why."""
    created, expires = day(waiver.created), day(waiver.expires)
    if created is None or expires is None:
        return  # loading says that it is no day
    most = min(MAX_DAYS, int((policy.gates.get("waivers") or {}).get("max_days", MAX_DAYS)))
    if (expires - created).days > most:
        yield "expires", f"it lasts {(expires - created).days:,} days, {most} are allowed"
    if expires < created:
        yield "expires", "it ends before it begins"
    today = day(now)
    if today is not None and created > today:
        yield "created", f"it was made on {waiver.created}, which is still to come"
    broad = _broad(waiver.path)
    if broad:
        yield "path", broad
    if not any(codes_of([waiver.rule]).values()) and waiver.rule not in forbidden_ids(project):
        near = did_you_mean(waiver.rule, [*forbidden_ids(project)])
        yield "rule", f"there is no rule {waiver.rule!r}{near}"


def is_valid(project: Project, policy: Policy, waiver: Waiver, now: str) -> bool:
    """Whether a waiver can count at all; whether it has ended is another question."""
    if day(waiver.created) is None or day(waiver.expires) is None or not (waiver.path or waiver.fingerprint):
        return False
    return next(faults(project, policy, waiver, now), None) is None


def day(text: str) -> date | None:
    """A day, or None for a text that is none."""
    try:
        return date.fromisoformat(text)
    except ValueError:
        return None


def forbidden_ids(project: Project) -> frozenset[str]:
    """Ids of everything that some policy of the project forbids."""
    entries = (e for v in project.policies.values() for p in v for e in p.gates.get("forbidden") or ())
    return frozenset(e["id"] for e in entries)


def _broad(path: str) -> str:
    """Why a path is not narrow; a wild card may stand for a part of a file's name, below a folder that is named."""
    if not path or not any(c in path for c in "*?["):
        return "" if "/" in path or "." in path or not path else "it is a whole folder: name one file"
    folder, _, name = path.rpartition("/")
    if any(c in folder for c in "*?[") or "**" in path or not folder:
        return "it is valid for whole folders: name one file"
    return "it is valid for every file of a folder: name one" if name.strip("*?.") in ("", "md", "yaml", "json") else ""


def check(context: Context) -> Iterator[Finding]:
    """Every waiver of the newest version of each policy."""
    for versions in context.project.policies.values():
        policy = versions[-1]
        for waiver in policy.waivers:
            for key, why in faults(context.project, policy, waiver, context.now):
                yield RULE.finding(
                    context,
                    f"this waiver of {waiver.rule} does not count: {why}",
                    at=waiver.origin.child(key),
                    help="name one file or one finding, and an end within 180 days",
                    data={"rule": waiver.rule, "owner": waiver.owner},
                )


RULE = rule(__name__, __doc__, check)
