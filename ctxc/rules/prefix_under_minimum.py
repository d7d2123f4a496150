"""A static prefix that is shorter than the provider's minimum, or than the policy wants.

Why: A prefix under the minimum is not cached at all, and nothing says so: neither an error nor a field of the answer.

Bad:

    # file: templates/t.yaml
    template_id: t
    version: 1
    provider: text
    sections:
      - {id: policy, source: literal, text: Answer briefly., cacheable: true}
    # file: tests/fixtures/f.yaml
    fixture_id: f
    template: t
    # file: policies/p.yaml
    policy_id: p
    version: 1
    gates: {prefix: {min_tokens: 1024}}

Good:

    # file: templates/t.yaml
    template_id: t
    version: 1
    provider: text
    sections:
      - {id: policy, source: literal, text: "Answer briefly, name the source of every statement.", cacheable: true}
    # file: tests/fixtures/f.yaml
    fixture_id: f
    template: t
    # file: policies/p.yaml
    policy_id: p
    version: 1
    gates: {prefix: {min_tokens: 10}}

Mend: Put more of what never changes into the prefix (examples, the tool set, fragments of one route), or do without it.
"""

from __future__ import annotations

from collections.abc import Iterator

from ctxc.model.finding import Finding
from ctxc.rules._ground import origin_of, selected, settings, told
from ctxc.rules.engine import Context, rule
from ctxc.rules.prefix_unstable import Group, group_of


def check(context: Context) -> Iterator[Finding]:
    """Prefixes whose count, at the bottom of its band, is under the minimum and its margin; each profile once."""
    for policy, prefix in settings(context, "prefix"):
        wanted = prefix.get("min_tokens")
        if wanted is None:
            continue
        seen: set[Group] = set()
        for measured in selected(context, policy, prefix.get("where", {})):
            least = measured.prefix_minimum if wanted == "provider" else int(wanted)
            least += -(-least * int(100 * prefix.get("margin_percent", 0)) // 10_000)
            group = group_of(measured, "request_profile")
            if measured.prefix_low >= least or group in seen:
                continue
            seen.add(group)
            whose = f"the minimum of {measured.provider}" if wanted == "provider" else "the policy's minimum"
            yield told(
                context,
                RULE,
                policy,
                ("prefix", "min_tokens"),
                f"the prefix of {measured.profile or measured.template} has {measured.prefix_low:,} tokens at least; "
                f"{whose} is {least:,}",
                at=origin_of(context, measured.fixture),
                help="put more of what never changes into the prefix, or do without a cache",
                fixture=measured.fixture,
                data={"tokens": measured.prefix, "low": measured.prefix_low, "limit": least},
            )


RULE = rule(__name__, __doc__, check, needs="packages")
