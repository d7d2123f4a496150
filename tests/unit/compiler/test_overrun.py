"""The limit of a fragment is one of its text in o200k_base, whichever model it is compiled for."""

from __future__ import annotations

import pytest
from world import compiled, fixture, fragment, project, provider, spec

from ctxc import tokens
from ctxc.model.package import Outcome
from ctxc.model.provider import TokenizerRef
from ctxc.model.section import Kind

TEXTS = {
    "words that cl100k_base knows and o200k_base does not": "GitHub stricter payloads breakpoints " * 60,
    "prose": "For a refund, name the deadline and what has to be sent back. " * 9,
    "letters of three bytes": "答复期限为三十天。" * 20,
}
MODELS = {
    "the same vocabulary": (TokenizerRef(id="o200k_base", method="exact"), {}),
    "another": (TokenizerRef(id="cl100k_base", method="exact"), {}),
    "half of it": (TokenizerRef(id="o200k_base", method="calibrated", factor_bp=5_000), {}),
    "twice": (TokenizerRef(id="o200k_base", method="calibrated", factor_bp=20_000), {}),
    "an estimate": (TokenizerRef(id="o200k_base", method="heuristic"), {"estimate": True}),
}


@pytest.mark.parametrize("text", TEXTS.values(), ids=TEXTS)
@pytest.mark.parametrize("model", MODELS.values(), ids=MODELS)
def test_a_fragment_may_have_what_it_allows_itself_and_no_token_more(model, text):
    tokenizer, framing = model
    size = tokens.get("o200k_base").count(text.strip())

    def package_of(limit):
        made = project(
            sections=[spec("prompt", Kind.FRAGMENT, source="fragments")],
            files={"a.md": text.strip()},
            fragments=[fragment("a", "a.md", max_tokens=limit)],
            providers=[provider(tokenizer=tokenizer, framing={"per_message": 3, **framing})],
        )
        return compiled(made, fixture(user="hi"))

    assert package_of(size).outcome is Outcome.COMPILED
    assert package_of(None).outcome is Outcome.COMPILED
    refused = package_of(size - 1)
    assert refused.outcome is Outcome.INVALID
    finding = refused.findings[0]
    assert finding.message == f"fragment 'a' (route) has {size:,} tokens, 1 over its max_tokens of {size - 1:,}"
    assert finding.data == {"tokens": size, "limit": size - 1}
