"""Tokenizers by name: found by their files, cheap to get, loaded late."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from ctxc import tokens
from ctxc.base.errors import MissingTokenizer
from ctxc.model.counting import Tokenizer

SHIPPED = ("cl100k_base", "estimate_000", "o200k_base", "o200k_harmony")
"""Those that count with what is in this package."""


def test_every_file_is_a_tokenizer() -> None:
    assert tokens.ids() == ("cl100k_base", "ctok_3_0", "ctok_4_7", "ctok_4_8", *SHIPPED[1:])
    for name in SHIPPED:
        tokenizer: Tokenizer = tokens.get(name)
        assert tokenizer.id == name
        assert len(bytes.fromhex(tokenizer.digest)) == 32
        assert tokenizer.method == ("heuristic" if name == "estimate_000" else "exact")


def test_digests_are_fixed_and_shared_only_where_plain_text_counts_the_same() -> None:
    digests = {name: tokens.get(name).digest for name in SHIPPED}
    assert digests["o200k_base"] == digests["o200k_harmony"]
    assert len(set(digests.values())) == 3
    # Stored counts and snapshots carry these: they may only change together with what is counted.
    assert digests["o200k_base"] == "46a7f6495d6e3237a6e16ad4a19dbb6f66d9a7aba45b39971c4c160e5a9372e4"
    assert digests["cl100k_base"] == "c75bc6eca9c41377d6a37a2c0f8498c8d2bc96f32d3b967b6e06f31557962972"


@pytest.mark.parametrize(
    ("name", "near"),
    [("o200k", "did you mean o200k_base?"), ("../o200k_base", "did you mean"), ("", "known:"), ("cache", "known:")],
)
def test_an_unknown_name_is_refused_with_what_there_is(name: str, near: str) -> None:
    with pytest.raises(MissingTokenizer, match="there is no tokenizer") as caught:
        tokens.get(name)
    assert near in caught.value.help
    assert "cl100k_base, ctok_3_0, ctok_4_7, ctok_4_8, estimate_000, o200k_base, o200k_harmony" in caught.value.help


def in_new_process(code: str, *arguments: str) -> dict[str, object]:
    probe = (
        "import json, sys\n"
        f"{code}\n"
        "heavy = [m for m in ('tiktoken', 'regex', 'sqlite3') if m in sys.modules]\n"
        "print(json.dumps({'heavy': heavy, 'result': result}))"
    )
    done = subprocess.run([sys.executable, "-c", probe, *arguments], capture_output=True, text=True, check=True)
    answer: dict[str, object] = json.loads(done.stdout)
    return answer


def test_getting_a_tokenizer_and_its_digest_imports_nothing_heavy() -> None:
    answer = in_new_process(f"from ctxc import tokens\nresult = [tokens.get(n).digest[:8] for n in {SHIPPED}]")
    assert answer["heavy"] == []


def test_a_warm_run_counts_and_cuts_without_the_encoder(tmp_path: Path) -> None:
    code = (
        "from pathlib import Path\n"
        "from ctxc import tokens\n"
        "text = 'The claim was filed on 2026-10-31. ' * 200 + '中文' * 50\n"
        "with tokens.open_store(Path(sys.argv[1])) as store:\n"
        "    t = tokens.get('o200k_base', store)\n"
        "    result = [t.count(text), *t.count_many(['a', 'b c', text]), t.prefix(text, 100), t.suffix(text, 100)]\n"
        "    result += [store.misses]"
    )
    cold = in_new_process(code, str(tmp_path))
    warm = in_new_process(code, str(tmp_path))
    assert "tiktoken" in cold["heavy"]  # type: ignore[operator]
    assert warm["heavy"] == ["sqlite3"]
    assert isinstance(cold["result"], list) and isinstance(warm["result"], list)
    assert warm["result"][:-1] == cold["result"][:-1]
    assert warm["result"][-1] == 0 < cold["result"][-1]
