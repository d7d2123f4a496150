"""What importing the detectors costs, and what their data files promise."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import ctxc.detect
from ctxc.detect import data
from ctxc.detect.chars import having
from ctxc.detect.match import Match, in_order, keyed_digest, masked
from ctxc.model.finding import Severity

MODULES = sorted(
    f"ctxc.detect.{path.stem}" for path in Path(ctxc.detect.__file__).parent.glob("*.py") if path.stem != "__init__"
)


def test_importing_every_detector_imports_no_re2() -> None:
    code = f"import sys\nfor name in {MODULES!r}: __import__(name)\n"
    code += "heavy = {'re2', 'yaml', 'jsonschema', 'regex', 'tiktoken', 'rich', 'tomllib', 'html.entities'}\n"
    code += "print(sorted(heavy & set(sys.modules)))"
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert len(MODULES) > 25
    assert ran.stdout.strip() == "[]"


def test_the_unicode_table_says_where_it_is_from() -> None:
    head = json.loads(data.read("unicode.json"))
    assert head["unicode"].split(".")[0].isdigit() and int(head["unicode"].split(".")[0]) >= 17
    assert "Unicode-3.0" in head["licence"]
    assert "\U0001f600" in having("extended_pictographic")
    assert "1" not in having("extended_pictographic")
    assert "" not in having("han")
    assert "\u0378" in having("unassigned")


def test_masks_and_order() -> None:
    match = masked("x", Severity.ERROR, 3, 9, "m", value="a\u202ebcdefghijkl", key=b"k")
    assert (match.prefix, match.length) == ("a\\u{202e}b", 13)
    assert match.digest == keyed_digest(b"k", "a\u202ebcdefghijkl")
    assert len(keyed_digest(b"", "")) == 12
    assert keyed_digest(b"k", "\ud800") != keyed_digest(b"k", "\ufffd")
    other = Match(detector="a", severity=Severity.INFO, start=1, end=2, message="")
    assert in_order([match, other, match]) == (other, match)
