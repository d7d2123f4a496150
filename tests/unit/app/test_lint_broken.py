"""A folder of 300 broken files: lint says something of each, and never ends in a traceback."""

from __future__ import annotations

import json
import random
import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from xml.etree import ElementTree

import pytest
from lint_world import NOW, judge, write
from shell import clean_environment

from ctxc.model.finding import Severity

FILES = 300

Damage = Callable[[bytes, random.Random], bytes]

TEMPLATE = """\
template_id: {id}
version: 1.0.0
provider: openai
model: gpt-4.1
budget:
  output_reserve: 1000
sections:
  - id: policy
    source: literal
    text: |
      Answer briefly.
      Name the source.
  - {{id: user, source: runtime}}
"""
FIXTURE = """\
fixture_id: {id}
template: t
route: {{task: [claims, letters]}}
inputs:
  user: "What is open?"
  evidence:
    - {{id: E1, source: "doc://a", version: "1", locator: p. 1, text: Damage is covered.}}
"""
FRAGMENT = """\
---
fragment_id: {id}
version: 1.0.0
kind: core
load_mode: always
---
# Rules

Say what is missing.
"""
HISTORY = '{{"role": "user", "content": "{id}: what is open?"}}\n{{"role": "assistant", "content": "Nothing."}}\n'
TOOLS = """\
{{
  "toolset_id": "{id}",
  "version": "1.0.0",
  "tools": [{{"name": "find", "description": "Find a claim.", "input_schema": {{"type": "object"}}}}]
}}
"""
KINDS = {
    "templates/{}.yaml": TEMPLATE,
    "tests/fixtures/{}.yaml": FIXTURE,
    "fragments/{}.md": FRAGMENT,
    "tests/fixtures/{}.jsonl": HISTORY,
    "policies/{}.json": TOOLS,
}


def at_line(data: bytes, r: random.Random) -> int:
    """The start of some line but the first."""
    starts = [i + 1 for i, b in enumerate(data) if b == 10 and i + 1 < len(data)]
    return r.choice(starts)


def insert(what: bytes) -> Damage:
    def damage(data: bytes, r: random.Random) -> bytes:
        at = at_line(data, r)
        return data[:at] + what + data[at:]

    return damage


# What any file of ours must not hold.
ANYWHERE: dict[str, Damage] = {
    "no UTF-8": insert(b"caf\xe9\n"),
    "conflict": insert(b"<<<<<<< HEAD\na: 1\n=======\na: 2\n>>>>>>> topic\n"),
    "control code": insert(b"# \x1b[2J\n"),
    "null": lambda data, r: data[:-1] + b"\0\n",
    "UTF-16": lambda data, r: data.decode().encode("utf-16"),
    "pointer": lambda data, r: b"version https://git-lfs.github.com/spec/v1\noid sha256:" + b"ab" * 32 + b"\nsize 9\n",
    "tag characters": insert("# \U000e0069\U000e0067\U000e006e\n".encode()),
    "secret": lambda data, r: data + b"# ghp" + b"_6KvT2mQx9LwZr4YbNd8Hs1JpFe7UcGa0RiXo\n",
}
YAML: dict[str, Damage] = {
    "tab": insert(b"\tversion: 2\n"),
    "key twice": lambda data, r: data + data[: data.index(b"\n") + 1],
    "unknown key": lambda data, r: data + b"colour: red\n",
    "open bracket": lambda data, r: data + b"extra: [a, b\n",
    "open quote": lambda data, r: data + b'extra: "a\n',
    "tag": lambda data, r: data + b"extra: !!python/object/apply:os.system [ls]\n",
    "alias of nothing": lambda data, r: data + b"extra: *nothing\n",
    "alias bomb": lambda data, r: (
        data
        + b"a0: &a0 [x, x]\n"
        + b"".join(b"a%d: &a%d [%s]\n" % (n, n, b", ".join([b"*a%d" % (n - 1)] * 9)) for n in range(1, 12))
    ),
    "alias of itself": lambda data, r: data + b"extra: &x [*x]\n",
    "two documents": lambda data, r: data + b"---\n" + data,
    "deep": lambda data, r: data + b"extra: " + b"[" * 20_000 + b"\n",
    "wrong type": lambda data, r: data.replace(b"version: 1.0.0", b"version: [1]").replace(
        b"template: t", b"template: {}"
    ),
    "cut": lambda data, r: data[: data.index(b"\n") - 1 - r.randrange(3)].replace(b":", b""),
    "list": lambda data, r: b"- " + data.replace(b"\n", b"\n  ").rstrip() + b"\n",
    "merge": lambda data, r: data + b"<<: 5\n",
    "odd key": lambda data, r: data + b"? [a, b]\n: c\n",
    "surrogate": lambda data, r: data + b'extra: "\\ud83d"\n',
    "number": lambda data, r: data + b"extra: " + b"9" * 5_000 + b"\n",
}
JSON: dict[str, Damage] = {
    "last comma": lambda data, r: data.replace(b"}]", b"},]"),
    "quotes": lambda data, r: data.replace(b'"', b"'"),
    "NaN": lambda data, r: data.replace(b'"Find a claim."', b"NaN"),
    "key twice": lambda data, r: data.replace(b'"version"', b'"toolset_id": "x",\n  "version"'),
    "cut": lambda data, r: data[: r.randrange(len(data) // 2, len(data) - 4)],
    "deep": lambda data, r: b"[" * 100_000,
    "escape": lambda data, r: data.replace(b"Find", b"\\x46ind"),
    "line break": lambda data, r: data.replace(b"a claim", b"a\nclaim"),
    "comment": lambda data, r: b"// tools\n" + data,
    "two values": lambda data, r: data + data,
    "number": lambda data, r: data.replace(b'"1.0.0"', b"1e999999"),
}
LINES: dict[str, Damage] = {
    "bad line": lambda data, r: data.replace(b"}\n{", b"}\n{oops}\n{"),
    "cut": lambda data, r: data[: r.randrange(10, data.index(b"\n") - 2)],
    "no object": lambda data, r: data + b"[1, 2\n",
    "key twice": lambda data, r: data.replace(b'"content"', b'"role": "user", "content"'),
}
MARKDOWN: dict[str, Damage] = {
    "no end": lambda data, r: data.replace(b"---\n# Rules", b"# Rules"),
    "bad front matter": lambda data, r: data.replace(b"kind: core", b"kind: [core"),
    "no id": lambda data, r: data.replace(b"fragment_id", b"fragmentid"),
    "wrong kind": lambda data, r: data.replace(b"kind: core", b"kind: cores"),
    "nothing": lambda data, r: data[: data.index(b"# Rules")],
    "key twice": lambda data, r: data.replace(b"kind: core", b"kind: core\nkind: core"),
}
BY_SUFFIX: Mapping[str, Mapping[str, Damage]] = {".yaml": YAML, ".json": JSON, ".jsonl": LINES, ".md": MARKDOWN}


def broken(count: int) -> dict[str, tuple[str, bytes]]:
    """So many files with what is wrong with each; the same ones each time."""
    r = random.Random(20261130)
    made: dict[str, tuple[str, bytes]] = {}
    ways = [
        (name, kind, text, damage)
        for name, text in KINDS.items()
        for kind, damage in {**ANYWHERE, **BY_SUFFIX["." + name.rpartition(".")[2]]}.items()
    ]
    for number in range(count):
        name, kind, text, damage = ways[number % len(ways)]
        good = text.format(id=f"b{number:03}").encode()
        bad = damage(good, r)
        assert bad != good, kind
        made[name.format(f"b{number:03}")] = (kind, bad)
    return made


@pytest.fixture(scope="module")
def files() -> dict[str, tuple[str, bytes]]:
    return broken(FILES)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory, files: dict[str, tuple[str, bytes]]) -> Path:
    return write(tmp_path_factory.mktemp("broken"), {path: data for path, (_, data) in files.items()})


def shell(folder: Path, *arguments: str) -> subprocess.CompletedProcess[bytes]:
    command = [sys.executable, "-m", "ctxc", "lint", "--no-cache", *arguments]
    return subprocess.run(
        command, cwd=folder, env=clean_environment() | {"CTXC_NOW": NOW}, capture_output=True, check=False
    )


def test_each_of_them_is_named_as_what_must_be_mended(folder: Path, files: dict[str, tuple[str, bytes]]) -> None:
    named = {f.location.path for f in judge(folder).report.findings if f.severity > Severity.INFO}
    missing = {path: kind for path, (kind, _) in files.items() if path not in named}
    assert missing == {}
    assert len(files) == FILES


def test_no_format_ends_in_a_traceback(folder: Path, files: dict[str, tuple[str, bytes]]) -> None:
    for name in ("text", "json", "sarif", "junit", "github"):
        done = shell(folder, "--format", name)
        assert (done.returncode, done.stderr) == (1, b""), name
        text = done.stdout.decode("utf-8")
        if name in ("json", "sarif"):
            json.loads(text)
        if name == "junit":
            ElementTree.fromstring(text)
        if name != "github":  # which shows a limited number of annotations
            assert [p for p in files if p not in text] == []


def test_a_folder_that_no_setting_names_is_judged_as_well(tmp_path: Path, files: dict[str, tuple[str, bytes]]) -> None:
    """Where only the folder is named, what lies in it is told apart by what it says it is."""
    flat = {f"heap/{n:03}{Path(p).suffix}": data for n, (p, (_, data)) in enumerate(files.items())}
    done = shell(write(tmp_path, flat), "heap", "--format", "json")
    assert (done.returncode, done.stderr) == (1, b"")
    named = {f["path"] for f in json.loads(done.stdout)["findings"]}
    assert sorted(set(flat) - named) == []


def test_mending_them_ends_and_breaks_nothing_else(
    folder: Path, tmp_path: Path, files: dict[str, tuple[str, bytes]]
) -> None:
    """What ``--fix`` does to broken files is a change that a second run has nothing to add to."""
    root = write(tmp_path, {path: data for path, (_, data) in files.items()})
    first = shell(root, "--fix", "--unsafe-fixes", "--format", "json")
    assert first.returncode == 1
    assert b"Traceback" not in first.stderr
    before = {p: (root / p).read_bytes() for p in files}
    second = shell(root, "--fix", "--unsafe-fixes", "--format", "json")
    assert {p: (root / p).read_bytes() for p in files} == before
    assert second.stdout == shell(root, "--format", "json").stdout
