"""Write ``ctxc/providers/prices.json``: a dated extract of prices for the models that the shipped profiles know.

    python tools/build_prices.py                 # fetches the data package into a temporary folder with pip
    python tools/build_prices.py --data FILE     # from a copy of its data file

The data come from the package ``litellm`` (MIT), whose file names a source for each row. It is read here, when the
project is built, and never at run time. No price is written by hand. Prices are decimal texts in US dollars for a
million tokens, exact to the last digit of the source.
"""

from __future__ import annotations

import argparse
import json
import re
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from decimal import Decimal
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

import yaml

ROOT = Path(__file__).resolve().parent.parent
PROFILES = ROOT / "ctxc" / "providers" / "profiles"
TARGET = ROOT / "ctxc" / "providers" / "prices.json"
PACKAGE = "litellm"
MEMBER = "model_prices_and_context_window_backup.json"

TABLES: Mapping[str, tuple[tuple[str, ...], str]] = {
    # Name of our table: the source's providers, and the prefix that its model names may carry.
    "anthropic": (("anthropic",), ""),
    "bedrock": (("bedrock_converse", "bedrock"), ""),
    "deepseek": (("deepseek",), "deepseek/"),
    "gemini": (("gemini",), "gemini/"),
    "mistral": (("mistral",), "mistral/"),
    "openai": (("openai",), ""),
    "qwen": (("dashscope",), "dashscope/"),
}

PLAIN = {
    "input_cost_per_token": "input",
    "output_cost_per_token": "output",
    "cache_read_input_token_cost": "cache_read",
}
WRITES = {
    # Field of the source: the time to live that it prices, for providers whose default is 5 and 30 minutes.
    "cache_creation_input_token_cost": ("5m", "30m"),
    "cache_creation_input_token_cost_above_1hr": ("1h", "1h"),
    "cache_creation_input_token_cost_above_12hr": ("12h", "12h"),
}
ABOVE = re.compile(
    r"^(input|output|cache_read_input|cache_creation_input)(?:_token_cost|_cost_per_token)_above_(\d+)k_tokens$"
)
ABOVE_NAMES = {
    "input": "input",
    "output": "output",
    "cache_read_input": "cache_read",
    "cache_creation_input": "cache_write",
}


def fetch(folder: Path) -> tuple[str, bytes]:
    """Version and data file of the newest data package that pip finds."""
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--dest", str(folder), PACKAGE]
    subprocess.run(command, check=True)
    wheel = next(folder.glob(f"{PACKAGE}-*.whl"))
    version = wheel.name.split("-")[1]
    with zipfile.ZipFile(wheel) as archive:
        name = next(n for n in archive.namelist() if n.endswith("/" + MEMBER))
        return version, archive.read(name)


def patterns_of(table: str) -> tuple[str, ...]:
    """Model patterns of all shipped profiles whose rows take their prices from a table."""
    found: list[str] = []
    for path in sorted(PROFILES.glob("*.yaml")):
        for row in yaml.safe_load(path.read_text(encoding="utf-8"))["models"]:
            if row.get("prices", {}).get("extract") == table:
                found.append(row["pattern"])
    return tuple(dict.fromkeys(found))


def million(value: object) -> str | None:
    """A price for one token as the decimal text of the price for a million, or None where there is none."""
    if not isinstance(value, (int, Decimal)) or isinstance(value, bool):
        return None
    return format((Decimal(value) * 1_000_000).normalize(), "f")


def price_of(row: Mapping[str, Any], table: str) -> dict[str, Any]:
    """Our form of a row of the source."""
    found: dict[str, Any] = {}
    for field, name in PLAIN.items():
        price = million(row.get(field))
        if price is not None:
            found[name] = price
    writes = {}
    for field, (other, openai) in WRITES.items():
        price = million(row.get(field))
        if price not in (None, "0"):  # a write that costs nothing is no kind of write of its own
            writes[openai if table == "openai" else other] = price
    if writes:
        found["cache_write"] = writes
    above: dict[int, dict[str, Any]] = {}
    for field, value in row.items():
        match = ABOVE.match(field)
        price = million(value)
        if match and price is not None:
            name = ABOVE_NAMES[match.group(1)]
            default = {"30m" if table == "openai" else "5m": price}
            above.setdefault(int(match.group(2)) * 1000, {})[name] = default if name == "cache_write" else price
    if above:
        found["above"] = [{"input_tokens": limit, **dict(sorted(above[limit].items()))} for limit in sorted(above)]
    return found


def rows_of(data: Mapping[str, Any], table: str) -> Iterator[tuple[str, dict[str, Any]]]:
    """Model names and prices of a table."""
    providers, prefix = TABLES[table]
    patterns = patterns_of(table)
    for name, row in data.items():
        if not isinstance(row, dict) or row.get("litellm_provider") not in providers:
            continue
        if row.get("mode") not in ("chat", "responses") or name.startswith("ft:"):
            continue
        model = name.removeprefix(prefix)
        if not any(fnmatchcase(model, p) for p in patterns):
            continue
        price = price_of(row, table)
        # A row without a price, or of an experiment that was free, says nothing of what a request costs.
        if {"input", "output"} <= price.keys() and price["input"] != "0":
            yield model, price


def table_of(data: Mapping[str, Any], table: str) -> dict[str, Any]:
    """The rows of a table by model; a model that the source lists twice has to have one price."""
    found: dict[str, Any] = {}
    for model, price in rows_of(data, table):
        if found.setdefault(model, price) != price:
            raise SystemExit(f"{table}: two prices for {model}: {found[model]} and {price}")
    return dict(sorted(found.items()))


def main() -> None:
    """Command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, help=f"a copy of {MEMBER}")
    parser.add_argument("--version", help="version of the data package, where --data is given")
    parser.add_argument("--date", help="date of the extract (default: today in UTC)")
    parser.add_argument("--output", type=Path, default=TARGET)
    options = parser.parse_args()
    if options.data:
        version, raw = options.version or "unknown", options.data.read_bytes()
    else:
        with tempfile.TemporaryDirectory() as folder:
            version, raw = fetch(Path(folder))
    data = json.loads(raw, parse_float=Decimal)
    tables = {table: table_of(data, table) for table in sorted(TABLES)}
    extract = {
        "schema": "ctxc.prices/1",
        "source": f"{PACKAGE} {version}, {MEMBER}",
        "package": PACKAGE,
        "version": version,
        "licence": "MIT",
        "date": options.date or datetime.now(UTC).date().isoformat(),
        "currency": "USD",
        "per_tokens": 1_000_000,
        "tables": tables,
    }
    text = json.dumps(extract, indent=1, ensure_ascii=False) + "\n"
    temporary = options.output.with_suffix(".tmp")
    temporary.write_text(text, encoding="utf-8", newline="\n")
    temporary.replace(options.output)
    for table, rows in tables.items():
        print(f"{table}: {len(rows)} models")


if __name__ == "__main__":
    main()
