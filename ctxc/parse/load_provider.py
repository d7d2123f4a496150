"""Provider profiles, shipped and of the project. A project's profile may extend a shipped one or take its place."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ctxc.base.canonical import digest_json
from ctxc.base.spans import Origin
from ctxc.model.provider import ModelRow, ProviderProfile, TokenizerRef
from ctxc.parse.context import File, child, text_of

REQUIRED = ("version", "shape", "platform", "as_of", "models")


def merge(base: Mapping[str, Any], own: Mapping[str, Any]) -> dict[str, Any]:
    """The keys of both, the own winning; the own models come first, so that they are found first."""
    merged = {**base, **own}
    merged["models"] = [*own.get("models", ()), *base.get("models", ())]
    merged.pop("extends", None)
    return merged


def read_provider(value: Mapping[str, Any], file: File, base: ProviderProfile | None = None) -> ProviderProfile | None:
    """A provider profile; ``base`` is what it extends. None where it is not complete (which is reported)."""
    if base is None:
        missing = [k for k in REQUIRED if k not in value]
        for key in missing:
            file.problem("missing-key", f'the key "{key}" is missing', f"add `{key}:`, or `extends:` a shipped profile")
        if missing:
            return None
    rows = [
        row
        for number, item in enumerate(value.get("models", ()))
        if (row := _row(item, file, child("/models", number))) is not None
    ]
    models = (*rows, *(base.models if base else ()))
    version = text_of(value.get("version")) or (base.version if base else "")
    profile = ProviderProfile(
        id=value["provider_id"],
        version=version,
        shape=value.get("shape") or (base.shape if base else ""),
        platform=value.get("platform") or (base.platform if base else ""),
        as_of=text_of(value.get("as_of")) or (base.as_of if base else ""),
        sources=(*value.get("sources", ()), *(base.sources if base else ())),
        models=models,
        default_model=value.get("default_model") or (base.default_model if base else ""),
        limits={**(base.limits if base else {}), **value.get("limits", {})},
        schema_subset=value.get("schema_subset") or (base.schema_subset if base else {}),
        invalidation=tuple(value.get("invalidation", ())) or (base.invalidation if base else ()),
        content_hash=digest_json([dict(value), base.content_hash if base else ""]),
        origin=file.origin(),
    )
    return profile if models or base else None


def _row(value: Mapping[str, Any], file: File, at: str) -> ModelRow | None:
    missing = [k for k in ("window", "tokenizer") if k not in value]
    for key in missing:
        file.problem("missing-key", f'the key "{key}" is missing', f"add `{key}:`", at=at)
    if missing:
        return None
    return ModelRow(
        pattern=value["pattern"],
        window=value["window"],
        max_output=value.get("max_output"),
        max_input=value.get("max_input"),
        output_in_window=value.get("output_in_window", True),
        tokenizer=_tokenizer(value["tokenizer"]),
        framing=value.get("framing", {}),
        images=value.get("images", {}),
        cache=value.get("cache", {}),
        prices=value.get("prices", {}),
        latency=value.get("latency", {}),
        capabilities=frozenset(value.get("capabilities", ())),
        unverified=tuple(value.get("unverified", ())),
        alternatives=tuple(_tokenizer(t) for t in value.get("alternatives", ())),
        origin=Origin(file.path, at),
    )


def _tokenizer(value: Mapping[str, Any]) -> TokenizerRef:
    return TokenizerRef(
        id=value["id"],
        method=value["method"],
        factor_bp=value.get("factor_bp", 10_000),
        error_low_bp=value.get("error_low_bp", 0),
        error_high_bp=value.get("error_high_bp", 0),
        file=value.get("file", "").removeprefix("./"),
        size=value.get("size", 0),
    )
