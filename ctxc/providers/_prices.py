"""Prices of a model: those that a profile's row states, else those of the dated extract that ships with the package.

A price is a decimal text in US dollars for a million tokens: ``input``, ``output``, ``cache_read``, ``cache_write`` (by
time to live), and ``above``: what holds instead for a request of more input tokens than a limit.
``tools/build_prices.py`` writes the extract; nothing here is from memory.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

from ctxc.model.provider import ModelRow
from ctxc.providers._read import as_map, as_text

_DATED = re.compile(r"-(?:[0-9]{8}|[0-9]{4}-[0-9]{2}-[0-9]{2}|[0-9]{4}|latest)$")
_REGION = re.compile(r"^(?:us|eu|apac|jp|au|global|us-gov)\.")
_REVISION = re.compile(r"-v[0-9]+(?::[0-9]+)?$")


@cache
def extract() -> Mapping[str, Any]:
    """The extract: ``source``, ``version``, ``date``, ``currency``, ``per_tokens``, ``tables``."""
    text = Path(__file__).with_name("prices.json").read_text(encoding="utf-8")
    found: Mapping[str, Any] = json.loads(text)
    return found


def prices_of(row: ModelRow, model: str) -> Mapping[str, Any] | None:
    """Prices of a model with the ``source`` and ``date`` they are of, or None where nobody states them.

    A row that states ``input`` and ``output`` itself is taken at its word. A name that ends in a date, a revision or
    begins with a region is looked up as it stands first, then without.
    """
    if "input" in row.prices and "output" in row.prices:
        return row.prices
    table = as_map(as_map(extract()["tables"]).get(as_text(row.prices.get("extract"))))
    for name in dict.fromkeys((as_text(row.prices.get("as")) or model, *_shorter(model))):
        if name in table:
            return {**table[name], "model": name, "source": extract()["source"], "date": extract()["date"]}
    return None


def _shorter(model: str) -> list[str]:
    found = [model]
    for pattern in (_REGION, _REVISION, _DATED):
        found.append(pattern.sub("", found[-1]))
    found.append(_DATED.sub("", model))
    return found
