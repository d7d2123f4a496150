"""What counting costs: loading, counting, the cache, cutting. Prints ratios within one run; milliseconds are a report.

    python benchmarks/bench_tokens.py [--rounds 9]

Whole processes are compared with ``python -c pass``, everything else with ``tiktoken.Encoding.encode_ordinary`` on the
same texts in the same process. Rounds are interleaved and medians printed.
"""

from __future__ import annotations

import argparse
import base64
import json
import os
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping
from hashlib import sha1
from pathlib import Path
from statistics import median

from ctxc import tokens
from ctxc.compiler.truncate import truncate_json, truncate_text
from ctxc.tokens.vocabulary import VOCABULARIES, load_ranks

URL = "https://openaipublic.blob.core.windows.net/encodings/{}.tiktoken"
COUNT = "from ctxc import tokens; tokens.get('{}').count('x')"
STOCK = "import tiktoken; tiktoken.get_encoding('{}').encode_ordinary('x')"
WARM = """
import sys
from pathlib import Path
from ctxc import tokens
with tokens.open_store(Path(sys.argv[1])) as store:
    tokens.get("o200k_base", store).count("x")
"""
LOOKUP = """
import json, sys
from pathlib import Path
from ctxc import tokens
texts = json.loads(Path(sys.argv[2]).read_text())
with tokens.open_store(Path(sys.argv[1])) as store:
    tokens.get("o200k_base", store).count_many(texts)
"""


def main() -> None:
    """Run everything and print one table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=9)
    rounds = parser.parse_args().rounds
    with tempfile.TemporaryDirectory() as folder:
        processes(Path(folder), rounds)
        in_process(Path(folder), rounds)


def processes(folder: Path, rounds: int) -> None:
    """Whole processes: loading cold, the stock loader beside it, and not loading at all."""
    stock_cache = folder / "stock"
    stock_cache.mkdir()
    for name, vocabulary in VOCABULARIES.items():
        ranks = load_ranks(vocabulary)
        data = b"".join(b"%s %d\n" % (base64.b64encode(token), rank) for token, rank in ranks.items())
        (stock_cache / sha1(URL.format(name).encode()).hexdigest()).write_bytes(data)
    texts_file = folder / "texts.json"
    texts_file.write_text(json.dumps(sections(2_000)))
    warm = str(folder / "warm")
    run(WARM, warm)
    run(LOOKUP, warm, str(texts_file))
    cases: dict[str, Callable[[], object]] = {"python -c pass": lambda: run("pass")}
    for name in VOCABULARIES:
        cases[f"{name}: first count"] = lambda name=name: run(COUNT.format(name))
        cases[f"{name}: tiktoken, its file cached"] = lambda name=name: run(
            STOCK.format(name), TIKTOKEN_CACHE_DIR=str(stock_cache)
        )
    cases["o200k_base: first count, warm cache"] = lambda: run(WARM, warm)
    cases["o200k_base: 2,000 sections, warm cache"] = lambda: run(LOOKUP, warm, str(texts_file))
    show("whole process", measure(cases, rounds))


def in_process(folder: Path, rounds: int) -> None:
    """One process, the encoder loaded: 2,000 sections of about 450 tokens, then cuts."""
    texts = sections(2_000)
    encode = tokens.get("o200k_base")._encoding().encode_ordinary  # type: ignore[attr-defined]
    filled = folder / "filled"
    with tokens.open_store(filled) as store:
        tokens.get("o200k_base", store).count_many(texts)

    def warm() -> None:
        with tokens.open_store(filled) as store:
            tokens.get("o200k_base", store).count_many(texts)
            assert store.misses == 0

    def cold() -> None:
        with tempfile.TemporaryDirectory() as empty, tokens.open_store(Path(empty)) as store:
            tokens.get("o200k_base", store).count_many(texts)

    cases: dict[str, Callable[[], object]] = {
        "tiktoken, one after the other": lambda: [len(encode(text)) for text in texts],
        "count_many, nothing stored": lambda: tokens.get("o200k_base").count_many(texts),
        "count_many, filling a cache": cold,
        "count_many, from a cache": warm,
    }
    show("2,000 sections, 4 MB", measure(cases, rounds))
    long = "".join(texts)[:1_000_000]
    value = {"status": "ok", "rows": [{"id": n, "note": text} for n, text in enumerate(texts[:400])]}
    cases = {"tiktoken, the whole text once": lambda: encode(long)}
    cases["prefix of 8,000 tokens"] = lambda: tokens.get("o200k_base").prefix(long, 8_000)
    cases["suffix of 8,000 tokens"] = lambda: tokens.get("o200k_base").suffix(long, 8_000)
    for strategy in ("tail", "head", "middle", "lines", "evidence"):
        cases[f"{strategy} to 8,000 tokens"] = lambda strategy=strategy: truncate_text(
            long, 8_000, strategy, tokens.get("o200k_base"), keep=["clause 77", "1,234"]
        )
    cases["json (0.8 MB) to 8,000 tokens"] = lambda: truncate_json(value, 8_000, tokens.get("o200k_base"))
    show("a text of 1 MB", measure(cases, rounds))


def sections(number: int) -> list[str]:
    """Texts of about 2,000 characters, a third of them Chinese, the same in every run."""
    rnd = random.Random(17)
    words = [
        "the",
        "claim",
        "was",
        "filed",
        "under",
        "clause 77",
        "amounts",
        "to",
        "1,234",
        "EUR",
        "[ev_17]",
        ".",
        "\n",
    ]
    made = []
    for n in range(number):
        if n % 3 == 2:
            made.append("".join(rnd.choice("索赔应在保单规定的期限内提交并附相关证明材料。，") for _ in range(700)))
        else:
            made.append(" ".join(f"{rnd.choice(words)}{rnd.randint(0, 99) or ''}" for _ in range(330)))
    return made


def run(code: str, *arguments: str, **environment: str) -> None:
    """One process of this interpreter."""
    subprocess.run([sys.executable, "-c", code, *arguments], check=True, env={**os.environ, **environment})


def measure(cases: Mapping[str, Callable[[], object]], rounds: int) -> dict[str, float]:
    """Median seconds of each case, rounds interleaved."""
    taken: dict[str, list[float]] = {name: [] for name in cases}
    for _ in range(rounds):
        for name, case in cases.items():
            start = time.perf_counter()
            case()
            taken[name].append(time.perf_counter() - start)
    return {name: median(seconds) for name, seconds in taken.items()}


def show(title: str, seconds: Mapping[str, float]) -> None:
    """A table; the first row is what the others are compared with."""
    base = next(iter(seconds.values()))
    print(f"\n{title:44}{'ratio':>9}{'ms':>10}")
    for name, value in seconds.items():
        print(f"  {name:42}{value / base:9.2f}{value * 1000:10.1f}")


if __name__ == "__main__":
    main()
