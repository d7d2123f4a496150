"""A template for a model whose tokens are estimated.

Why: Ceilings are compared with the top of the estimate's band, and growth only with counts of the same method;
nobody should read such a number as a fact.

Bad:

    # file: templates/t.yaml
    template_id: t
    version: 1
    provider: anthropic
    model: claude-sonnet-4-5
    sections:
      - {id: policy, source: literal, text: Answer briefly.}

Good:

    # file: templates/t.yaml
    template_id: t
    version: 1
    provider: openai
    model: gpt-4.1
    sections:
      - {id: policy, source: literal, text: Answer briefly.}

Mend: Nothing has to be mended. Where `ctxc list tokenizers` names one that could count for the provider, ask for it
under `tokenizers` in the configuration.
"""

from __future__ import annotations

from collections.abc import Iterator

from ctxc.model.finding import Finding
from ctxc.rules._counts import target_of
from ctxc.rules._texts import templates
from ctxc.rules.engine import Context, rule


def check(context: Context) -> Iterator[Finding]:
    """Templates whose model row does not count exactly."""
    for template in templates(context):
        found = target_of(context, template)
        if found is None or found.row.tokenizer.method in ("exact", "reproduced"):
            continue
        ref = found.row.tokenizer
        better = [a.id for a in found.row.alternatives if a.factor_bp == 10_000]
        more = f"; `tokenizers` in the configuration can ask for {' or '.join(better)} instead" if better else ""
        yield RULE.finding(
            context,
            f"tokens of {found.model} are {ref.method} with {ref.id}: "
            f"-{ref.error_low_bp / 100:g} to +{ref.error_high_bp / 100:g} percent",
            at=template.at("model") if template.model else template.at("template_id"),
            help=f"read such a count as a band{more}",
            data={"method": ref.method, "low_bp": ref.error_low_bp, "high_bp": ref.error_high_bp},
        )


RULE = rule(__name__, __doc__, check, tier="audit", detectors=("R12",))
