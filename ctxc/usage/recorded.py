"""What providers report of a call (``usage``), in one form.

OpenAI's ``prompt_tokens`` and Gemini's ``promptTokenCount`` hold everything, cached tokens included; Anthropic's
``input_tokens`` and Bedrock's ``inputTokens`` only what stands behind the last mark: total = read + written + input.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ctxc.model.usage import Recorded


def read_usage(usage: Mapping[str, Any]) -> Recorded | None:
    """A provider's usage in our form; None where it is of none of the known shapes."""
    if "prompt_tokens" in usage:
        return _whole(usage, "prompt_tokens", "completion_tokens", _map(usage.get("prompt_tokens_details")))
    if "promptTokenCount" in usage:
        read = _int(usage, "cachedContentTokenCount")
        output = _int(usage, "candidatesTokenCount") + _int(usage, "thoughtsTokenCount")
        return Recorded(input=_int(usage, "promptTokenCount"), read=read, written=0, output=output)
    if "totalTokenCount" in usage:
        # The answer to storing a prefix: all of it is stored.
        total = _int(usage, "totalTokenCount")
        return Recorded(input=total, read=0, written=total)
    if "inputTokens" in usage:
        read, written = _int(usage, "cacheReadInputTokens"), _int(usage, "cacheWriteInputTokens")
        by_ttl: dict[str, int] = {}
        for detail in usage.get("cacheDetails") or ():
            ttl = _map(detail).get("ttl")
            if isinstance(ttl, str):
                by_ttl[ttl] = by_ttl.get(ttl, 0) + _int(_map(detail), "inputTokens")
        return Recorded(
            input=_int(usage, "inputTokens") + read + written,
            read=read,
            written=written,
            output=_int(usage, "outputTokens"),
            written_by_ttl=by_ttl,
        )
    if "input_tokens" in usage:
        if "cache_read_input_tokens" in usage or "cache_creation_input_tokens" in usage:
            return _anthropic(usage)
        return _whole(usage, "input_tokens", "output_tokens", _map(usage.get("input_tokens_details")))
    return None


def total_input(usage: Mapping[str, Any]) -> int:
    """All input tokens of a usage, whatever share was cached; 0 where the shape is not known."""
    found = read_usage(usage)
    return found.input if found is not None else 0


def _anthropic(usage: Mapping[str, Any]) -> Recorded:
    read, written = _int(usage, "cache_read_input_tokens"), _int(usage, "cache_creation_input_tokens")
    split = _map(usage.get("cache_creation"))
    by_ttl = {
        ttl: _int(split, key)
        for ttl, key in (("5m", "ephemeral_5m_input_tokens"), ("1h", "ephemeral_1h_input_tokens"))
        if _int(split, key)
    }
    return Recorded(
        input=_int(usage, "input_tokens") + read + written,
        read=read,
        written=written,
        output=_int(usage, "output_tokens"),
        written_by_ttl=by_ttl,
    )


def _whole(usage: Mapping[str, Any], total: str, output: str, details: Mapping[str, Any]) -> Recorded:
    return Recorded(
        input=_int(usage, total),
        read=_int(details, "cached_tokens") or _int(usage, "prompt_cache_hit_tokens"),
        written=_int(details, "cache_write_tokens"),
        output=_int(usage, output),
    )


def _map(value: object) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


def _int(data: Mapping[str, Any], key: str) -> int:
    value = data.get(key)
    return value if type(value) is int and value >= 0 else 0
