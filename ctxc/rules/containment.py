"""A payload that leaves its place: the structure of a request changes, a label is lost, or data comes out altered.

Why: Untrusted text that can close its block, open another or forge a role speaks with somebody else's authority. This
is structure and can be proven for every renderer and every payload; that a model will not follow a text cannot.

Bad:

    # file: templates/t.yaml
    template_id: t
    version: 1
    provider: house
    sections:
      - {id: policy, source: literal, text: Answer briefly.}
      - {id: user, source: runtime}
    # file: templates/house.yaml
    provider_id: house
    version: "1"
    shape: chat_template
    platform: house
    as_of: "2026-11-30"
    sources: [house rules]
    models:
      - pattern: "*"
        window: 8000
        tokenizer: {id: o200k_base, method: exact}
        framing:
          template_source: "<|system|>{% for m in messages %}{{ m.content }}\\n{% endfor %}<|assistant|>\\n"
          specials: ["<|system|>", "<|assistant|>"]
          roles: {"<|system|>": system, "<|assistant|>": assistant}
    # file: tests/fixtures/f.yaml
    fixture_id: f
    template: t
    inputs: {user: When is the refund due?}

Good:

    # file: templates/t.yaml
    template_id: t
    version: 1
    provider: house
    sections:
      - {id: policy, source: literal, text: Answer briefly.}
      - {id: user, source: runtime}
    # file: templates/house.yaml
    provider_id: house
    version: "1"
    shape: chat_template
    platform: house
    as_of: "2026-11-30"
    sources: [house rules]
    models:
      - pattern: "*"
        window: 8000
        tokenizer: {id: o200k_base, method: exact}
        framing:
          template_source: "{% for m in messages %}<|{{ m.role }}|>\\n{{ m.content }}\\n{% endfor %}<|assistant|>\\n"
          specials: ["<|system|>", "<|user|>", "<|assistant|>"]
          roles: {"<|system|>": system, "<|user|>": user, "<|assistant|>": assistant}
    # file: tests/fixtures/f.yaml
    fixture_id: f
    template: t
    inputs: {user: When is the refund due?}

Mend: Use a renderer of this package, or a chat template that opens a turn for each message and pastes its content as it
is. `ctxc explain FIXTURE SECTION` shows how a section is written.
"""

from __future__ import annotations

from collections.abc import Iterator

from ctxc.base.spans import Location, Origin
from ctxc.model.finding import Finding
from ctxc.rules._ground import ground, origin_of
from ctxc.rules._trials import Breach, breaches
from ctxc.rules.engine import Context, rule

_WHAT = {
    "structure": "the structure of the request changes",
    "normalised": "the structure changes after NFKC",
    "data": "the text does not come out word for word",
    "token": "a control token or role marker stands in the request as it is written",
    "escape": "a character that closes or hides stands in the request as it is written",
    "label": "the labels in the request are not those of the trust manifest",
    "placement": "its text stands in the system or tools zone",
}


def place_of(context: Context, breach: Breach) -> Origin | Location:
    """Where the section of a breach comes from; the fixture where it is not known."""
    measured = ground(context).head.get(breach.fixture)
    section = next((s for s in measured.sections if s.id == breach.section), None) if measured is not None else None
    if section is not None and section.path:
        return Origin(section.path, section.pointer)
    return origin_of(context, breach.fixture)


def named(breach: Breach) -> str:
    """The payloads of a breach, the first of them by id."""
    more = f" and {breach.count - len(breach.payloads):,} more" if breach.count > len(breach.payloads) else ""
    return ", ".join(breach.payloads) + more


def check(context: Context) -> Iterator[Finding]:
    """Every section and renderer in which a payload is not contained."""
    for breach in breaches(context, *_WHAT):
        whose = f"section {breach.section!r} is" if breach.section else "untrusted text is"
        by = f" with payload {named(breach)}" if breach.count else ""
        yield RULE.finding(
            context,
            f"{whose} not contained in {breach.renderer}: {_WHAT[breach.what]}{by}",
            at=place_of(context, breach),
            help="use a renderer of this package, or a chat template that opens a turn for each message",
            fixture=breach.fixture,
            data={"section": breach.section, "renderer": breach.renderer, "what": breach.what, "count": breach.count,
                  "payloads": list(breach.payloads)},
        )  # fmt: skip


RULE = rule(__name__, __doc__, check, needs="packages")
