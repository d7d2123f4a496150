"""Provider profiles, shipped and of the project. A project's profile may extend a shipped one or take its place."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from ctxc.base.canonical import digest_json
from ctxc.base.spans import Origin
from ctxc.model.provider import ModelRow, ProviderProfile, TokenizerRef
from ctxc.parse.context import File, child, text_of
from ctxc.parse.problems import did_you_mean

REQUIRED = ("version", "shape", "platform", "as_of", "models")
_ROW = ("window", "tokenizer")
_PLAIN = ("window", "max_output", "max_input", "output_in_window")
_GROUPS = ("framing", "images", "cache", "prices", "latency")


def read_provider(value: Mapping[str, Any], file: File, base: ProviderProfile | None = None) -> ProviderProfile | None:
    """A provider profile; ``base`` is what it extends. None where it is not complete (which is reported)."""
    if base is None:
        missing = [k for k in REQUIRED if k not in value]
        for key in missing:
            file.problem("missing-key", f'the key "{key}" is missing', f"add `{key}:`, or `extends:` a shipped profile")
        if missing:
            return None
    models = _models(value.get("models", ()), file, base.models if base else ())
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


def _models(items: Sequence[Mapping[str, Any]], file: File, base: Sequence[ModelRow]) -> tuple[ModelRow, ...]:
    """The rows of a profile: its own first, then those of what it extends.

    A row that leaves out window or tokenizer corrects the row of the same pattern, in that row's place.
    """
    own: list[ModelRow] = []
    rest = list(base)
    for number, item in enumerate(items):
        at = child("/models", number)
        missing = [k for k in _ROW if k not in item]
        if not missing:
            own.append(_row(item, file, at))
            _check_prices(own[-1], item, file, at)
            continue
        place = next((n for n, row in enumerate(rest) if row.pattern == item["pattern"]), None)
        if place is not None:
            rest[place] = _corrected(rest[place], item, file, at)
            _check_prices(rest[place], item, file, at)
            continue
        told = did_you_mean(item["pattern"], [r.pattern for r in base])
        for key in missing:
            help = f"add `{key}:`" + (f", or write the pattern of the row that this corrects{told}" if base else "")
            file.problem("missing-key", f'the key "{key}" is missing', help, at=at)
    return (*own, *rest)


def _check_prices(row: ModelRow, value: Mapping[str, Any], file: File, at: str) -> None:
    """Of one price alone nothing would be taken: both would come from the extract, without a word."""
    stated = [k for k in ("input", "output") if k in row.prices]
    if "prices" in value and len(stated) == 1:
        missing = "output" if stated == ["input"] else "input"
        file.problem(
            "missing-key", f'the key "{missing}" is missing', f"state both: add `{missing}:`", at=child(at, "prices")
        )


def _row(value: Mapping[str, Any], file: File, at: str) -> ModelRow:
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


def _corrected(row: ModelRow, value: Mapping[str, Any], file: File, at: str) -> ModelRow:
    """A row with what a correction says; of groups of facts (framing, cache ...) key by key, one level deep."""
    changes: dict[str, Any] = {k: value[k] for k in _PLAIN if k in value}
    changes |= {k: {**getattr(row, k), **value[k]} for k in _GROUPS if k in value}
    if "tokenizer" in value:
        changes["tokenizer"] = _tokenizer(value["tokenizer"])
    if "alternatives" in value:
        changes["alternatives"] = tuple(_tokenizer(t) for t in value["alternatives"])
    if "capabilities" in value:
        changes["capabilities"] = frozenset(value["capabilities"])
    if "unverified" in value:
        changes["unverified"] = tuple(value["unverified"])
    return replace(row, **changes, origin=Origin(file.path, at))


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
