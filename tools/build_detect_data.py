"""Write the data tables of ``ctxc/detect/data`` from their recorded sources.

``python tools/build_detect_data.py unicode`` takes properties from the ``regex`` package (Unicode Character Database;
its version is stored in the file). ``python tools/build_detect_data.py injections FILE`` takes the rows of a payload
collection whose licence says that they belong to this project. ``python tools/build_detect_data.py prefilters`` takes
from ``secrets_rules.toml`` what each rule is searched by, and its severity.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterable
from importlib.metadata import metadata, version
from pathlib import Path

DATA = Path(__file__).resolve().parent.parent / "ctxc" / "detect" / "data"

PROPERTIES = {
    "extended_pictographic": r"\p{Extended_Pictographic}",
    "unassigned": r"\p{Cn}",
    "format": r"\p{Cf}",
    "mark": r"[\p{Mn}\p{Me}]",
    "virama": r"\p{Canonical_Combining_Class=9}",
    "han": r"\p{Script=Han}",
    "latin": r"[\p{Script=Latin}&&\p{L}]",
    "cyrillic": r"[\p{Script=Cyrillic}&&\p{L}]",
    "greek": r"[\p{Script=Greek}&&\p{L}]",
    "armenian": r"[\p{Script=Armenian}&&\p{L}]",
    "cherokee": r"[\p{Script=Cherokee}&&\p{L}]",
}


def ranges(codes: Iterable[int]) -> str:
    """Sorted code points as ``a9,ae,2194-2199``."""
    spans: list[list[int]] = []
    for code in codes:
        if spans and spans[-1][1] == code - 1:
            spans[-1][1] = code
        else:
            spans.append([code, code])
    return ",".join(f"{a:x}" if a == b else f"{a:x}-{b:x}" for a, b in spans)


def unicode_version() -> str:
    """The Unicode version that the installed ``regex`` says it supports."""
    text = str(metadata("regex").get_payload())
    marker = "This module supports Unicode "
    start = text.index(marker) + len(marker)
    return text[start:].split(" ", 1)[0].rstrip(".").strip()


def build_unicode() -> str:
    """The table of properties as JSON text."""
    import regex

    def having(pattern: str) -> Callable[[int], bool]:
        compiled = regex.compile(pattern, regex.V1)
        return lambda code: compiled.match(chr(code)) is not None

    everything = [c for c in range(0x110000) if not 0xD800 <= c <= 0xDFFF]
    tables = {name: ranges(filter(having(pattern), everything)) for name, pattern in PROPERTIES.items()}
    head = {
        "unicode": unicode_version(),
        "source": f"Unicode Character Database, through the regex package {version('regex')}",
        "licence": "Unicode-3.0 (https://www.unicode.org/license.txt)",
    }
    return json.dumps({**head, "tables": tables}, indent=0, ensure_ascii=True) + "\n"


def build_injections(source: Path) -> str:
    """The project's own payload rows, one a line, with only the keys that are used."""
    lines = []
    for line in source.read_text(encoding="utf-8").split("\n"):
        if not line:
            continue
        row = json.loads(line)
        if row["licence"].startswith("project-own"):
            kept = {key: row[key] for key in ("id", "channel", "kind", "text")}
            lines.append(json.dumps(kept, ensure_ascii=True, sort_keys=True))
    return "\n".join(lines) + "\n"


def build_prefilters() -> str:
    """Prefilter and severity of each shipped rule, in the order of the rules."""
    from ctxc.detect.secret_rules import shipped_rules

    rows = [json.dumps([rule.prefilter, rule.severity.name]) for rule in shipped_rules()]
    return "[\n" + ",\n".join(rows) + "\n]\n"


def main(arguments: list[str]) -> int:
    """Run one of the builders; returns the exit status."""
    match arguments:
        case ["unicode"]:
            name, text = "unicode.json", build_unicode()
        case ["injections", source]:
            name, text = "injections.jsonl", build_injections(Path(source))
        case ["prefilters"]:
            name, text = "secret_prefilters.json", build_prefilters()
        case _:
            print(__doc__, file=sys.stderr)
            return 2
    target = DATA / name
    target.write_text(text, encoding="utf-8", newline="\n")
    print(f"{target.relative_to(DATA.parent.parent.parent)}: {len(text)} bytes")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
