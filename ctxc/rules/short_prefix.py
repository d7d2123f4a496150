"""A stable prefix that is too short for the provider to cache.

Why: Below the minimum nothing is cached, silently: the marks cost nothing and bring nothing. Measured minimums have
differed from documented ones, so leave a margin.

Bad:

    # file: templates/t.yaml
    template_id: t
    version: 1
    provider: anthropic
    model: claude-sonnet-4-5
    checkpoints: [policy]
    sections:
      - {id: policy, source: literal, text: Answer briefly., cacheable: true}
      - {id: user, source: runtime}

Good:

    # file: templates/t.yaml
    template_id: t
    version: 1
    provider: anthropic
    model: claude-sonnet-4-5
    sections:
      - {id: policy, source: literal, text: Answer briefly.}
      - {id: user, source: runtime}

Mend: Put more of what is stable in front (tools, contract, fragments), or take the marks away.
"""

from __future__ import annotations

from collections.abc import Iterator

from ctxc.base.canonical import canonical
from ctxc.model.finding import Finding, Severity
from ctxc.model.lookup import candidates
from ctxc.model.template import Template
from ctxc.rules._counts import Target
from ctxc.rules._known import with_profile
from ctxc.rules._prefix import prefix, stable_names, targets
from ctxc.rules._routes import newest
from ctxc.rules._texts import is_file
from ctxc.rules.engine import Context, rule

_MODES = ("explicit", "implicit_interval", "implicit_latest_message")
_WRAPPER = 60  # bytes of the block around a section, more than any renderer writes


def check(context: Context) -> Iterator[Finding]:
    """The most tokens that a template's stable sections can have, against each model's minimum."""
    for template in with_profile(context):
        if not prefix(context, template):
            continue
        texts = None
        for found in targets(context, template):
            least = found.row.cache.get("min_tokens")
            mode = found.row.cache.get("mode")
            # A minimum that was not verified may not be claimed; without any marks nothing was meant to be cached.
            if not isinstance(least, int) or mode not in _MODES or "cache.min_tokens" in found.row.unverified:
                continue
            if mode != "explicit" and not template.checkpoints:
                continue
            texts = _texts(context, template) if texts is None else texts
            most = _most(context, found, texts, least)
            if most is not None and most < least:
                # Without marks a provider caches by itself: too short is a fact, not a mistake.
                marked = mode == "explicit" and bool(template.checkpoints)
                yield RULE.finding(
                    context,
                    f"the stable prefix of template {template.id!r} has at most {most:,} tokens; "
                    f"{found.model} caches from {least:,}",
                    at=template.at("checkpoints" if template.checkpoints else "template_id"),
                    key=bool(template.checkpoints),
                    help="put more of what is stable in front, or take the marks away",
                    severity=None if marked else Severity.INFO,
                    data={"most": most, "least": least, "model": found.model},
                )
                break


def _texts(context: Context, template: Template) -> list[str]:
    """Everything that can stand in the prefix, fragments of all routes together."""
    found: list[str] = []
    for spec in prefix(context, template):
        if spec.source == "literal":
            found.append(spec.text)
        elif spec.source == "fragments":
            own = stable_names(context, template, spec)
            stable = (f for f in newest(context).values() if own is None or not own.isdisjoint((f.kind, f.id)))
            found.extend(context.body(f.text_path) for f in stable)
        elif is_file(spec):
            found.append(context.body(spec.source))
    profile = next(iter(candidates(context.project.profiles, template.request_profile)[-1:]), None)
    names = [s.source for s in template.sections] + ([profile.toolset] if profile else [])
    for name in names:
        for toolset in candidates(context.project.toolsets, name)[-1:]:
            found.extend(canonical([t.name, t.description, dict(t.input_schema)]) for t in toolset.tools)
    contract = profile.output_contract if profile is not None and profile.output_contract else template.output_contract
    for made in candidates(context.project.contracts, contract)[-1:]:
        found.append(canonical([made.description, dict(made.schema), dict(made.refusal), dict(made.citations)]))
    return found


def _most(context: Context, found: Target, texts: list[str], least: int) -> int | None:
    """An upper bound of the tokens; None where it is over the minimum without counting."""
    ref = found.row.tokenizer
    count = context.tokenizers(ref)
    rough = sum(len(t) for t in texts) // 12  # no vocabulary needs fewer than a token for twelve characters of text
    if rough > least:
        return None
    tokens = sum(count.count_many(texts)) + len(texts) * _WRAPPER // 2
    return tokens * ref.factor_bp * (10_000 + ref.error_high_bp) // 100_000_000


RULE = rule(__name__, __doc__, check, detectors=("R8",))
