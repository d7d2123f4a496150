"""Pack a list of sections with promptbudget, counted with tiktoken; run by an interpreter that has both.

    python benchmarks/promptbudget_driver.py SECTIONS.json

TIKTOKEN_CACHE_DIR has to hold the vocabulary, because tiktoken would fetch it otherwise.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path


def main() -> None:
    """Pack and say how much was kept."""
    import tiktoken
    from promptbudget import Section, pack

    data = json.loads(Path(sys.argv[1]).read_text(encoding="utf-8"))
    encode = tiktoken.get_encoding("o200k_base").encode_ordinary
    sections = [
        Section(
            s["name"],
            s["text"],
            priority=1000 if s["required"] else s["priority"],
            strategy="all_or_nothing" if s["required"] else "lowest_score_first",
        )
        for s in data["sections"]
    ]
    result = pack(sections, budget=data["budget"], reserved_output=0, tokenizer=lambda text: len(encode(text)))
    print(json.dumps({"used": result.used_tokens, "budget": data["budget"], "dropped": len(result.dropped())}))


if __name__ == "__main__":
    main()
