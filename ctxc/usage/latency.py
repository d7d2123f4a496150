"""A linear model of latency, declared in a provider profile. It is a model: nothing here was measured for a request.

``base_ms`` and milliseconds for a thousand tokens of uncached input, cached input and output.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ctxc.base.values import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Latency:
    """Whole milliseconds: until the first token of the answer, and until its last."""

    first_token_ms: int
    total_ms: int


def latency_of(model: Mapping[str, Any], *, uncached: int, cached: int = 0, output: int = 0) -> Latency | None:
    """What the declared model says of a request, rounded up; None where a profile declares none."""
    if not model:
        return None
    thousandths = (
        1000 * _ms(model, "base_ms")
        + uncached * _ms(model, "per_1000_uncached_ms")
        + cached * _ms(model, "per_1000_cached_ms")
    )
    whole = thousandths + output * _ms(model, "per_1000_output_ms")
    return Latency(first_token_ms=-(-thousandths // 1000), total_ms=-(-whole // 1000))


def _ms(model: Mapping[str, Any], key: str) -> int:
    value = model.get(key)
    return value if type(value) is int and value >= 0 else 0
