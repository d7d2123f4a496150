"""The least that compiling a project of ``gen_project.py`` can be: what ``ctxc compile`` is measured against.

    python benchmarks/reference_loop.py PROJECT [--cache FILE]

Reads every file, parses manifests and fixtures with libyaml, counts each different text once (with ``--cache`` the
counts are kept in one sqlite table, so that a second run loads no vocabulary), keeps what fits, writes canonical JSON
of one package a fixture and hashes it. No schema, no positions, no findings, no trust, no wrapper, no provider, no
verification, no trail of decisions: a floor, not a compiler. Prints what it did and the CPU seconds of each step.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import sqlite3
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import yaml

Value = dict[str, Any]


class Clock:
    """CPU seconds by step."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}

    @contextmanager
    def step(self, name: str) -> Iterator[None]:
        """Add what happens inside to a step."""
        start = time.process_time()
        try:
            yield
        finally:
            self.seconds[name] = self.seconds.get(name, 0.0) + time.process_time() - start


class Counts:
    """Tokens by the SHA-256 of a text, with a table of them on disk."""

    def __init__(self, file: str, clock: Clock) -> None:
        self.clock = clock
        self.known: dict[bytes, int] = {}
        self.fresh: dict[bytes, int] = {}
        self.encode: Callable[[str], list[int]] | None = None
        self.table: sqlite3.Connection | None = None
        if file:
            self.table = sqlite3.connect(file)
            self.table.execute("PRAGMA journal_mode = WAL")
            self.table.execute("PRAGMA synchronous = NORMAL")
            self.table.execute("CREATE TABLE IF NOT EXISTS counts (key BLOB PRIMARY KEY, value INTEGER) WITHOUT ROWID")
            self.known = dict(self.table.execute("SELECT key, value FROM counts"))

    def of(self, text: str) -> tuple[str, int]:
        """Digest and tokens of a text."""
        key = hashlib.sha256(text.encode()).digest()
        tokens = self.known.get(key)
        if tokens is None:
            if self.encode is None:
                self.encode = self._encoder()
            tokens = self.known[key] = self.fresh[key] = len(self.encode(text))
        return key.hex(), tokens

    def _encoder(self) -> Callable[[str], list[int]]:
        with self.clock.step("load the vocabulary"):
            import tiktoken

            from ctxc.tokens.tokenizers.o200k_base import PATTERN
            from ctxc.tokens.vocabulary import O200K, load_ranks

            ranks = load_ranks(O200K)
            encoding = tiktoken.Encoding("o200k_base", pat_str=PATTERN, mergeable_ranks=ranks, special_tokens={})
        return encoding.encode_ordinary

    def close(self) -> None:
        """Write what is new."""
        if self.table is not None:
            self.table.executemany("INSERT OR IGNORE INTO counts VALUES (?, ?)", self.fresh.items())
            self.table.commit()


def parse(data: bytes) -> Value:
    """A YAML document, by libyaml: strings stay strings, a key that stands twice is refused."""
    loader = yaml.CSafeLoader(data)
    try:
        value: Value = _value(loader, loader.get_single_node())
        return value
    finally:
        loader.dispose()


def _value(loader: yaml.CSafeLoader, node: yaml.Node) -> Any:
    if isinstance(node, yaml.MappingNode):
        found = {}
        for key, value in node.value:
            if key.value in found:
                raise ValueError(f"{key.value} stands twice")
            found[key.value] = _value(loader, value)
        return found
    if isinstance(node, yaml.SequenceNode):
        return [_value(loader, v) for v in node.value]
    return node.value if node.tag == "tag:yaml.org,2002:str" else loader.construct_object(node)


def read(root: Path) -> dict[str, bytes]:
    """Every file of the project by its path, sorted."""
    found: dict[str, bytes] = {}

    def walk(folder: str, prefix: str) -> None:
        for entry in sorted(os.scandir(folder), key=lambda e: e.name):
            if entry.is_dir():
                walk(entry.path, f"{prefix}{entry.name}/")
            else:
                with open(entry.path, "rb") as file:
                    found[prefix + entry.name] = file.read()

    walk(str(root), "")
    return found


class Project:
    """Manifests, templates and fixtures, parsed, with the texts of the fragments counted."""

    def __init__(self, files: Mapping[str, bytes], counts: Counts, clock: Clock) -> None:
        parsed: dict[str, Value] = {}
        for name, prefix in (("parse manifests", ("fragments/", "templates/")), ("parse fixtures", ("tests/",))):
            with clock.step(name):
                parsed |= {p: parse(d) for p, d in files.items() if p.startswith(prefix) and p.endswith(".yaml")}
        self.fragments: dict[str, tuple[Value, str, str, int]] = {}
        self.always: list[str] = []
        self.by_variant: dict[str, list[str]] = {}
        with clock.step("hash and count fragments"):
            for path, manifest in parsed.items():
                if "fragment_id" not in manifest:
                    continue
                text = files[f"{os.path.dirname(path)}/{manifest['path']}"].decode()
                name = manifest["fragment_id"]
                self.fragments[name] = (manifest, text, *counts.of(text))
                if manifest["load_mode"] == "always":
                    self.always.append(name)
                for variant in manifest.get("applies_when", {}).get("variant", ()):
                    self.by_variant.setdefault(variant, []).append(name)
            self.policies = {p: (d.decode(), *counts.of(d.decode())) for p, d in files.items() if p.endswith(".md")}
        self.templates = {v["template_id"]: v for v in parsed.values() if "template_id" in v}
        self.fixtures = [v for v in parsed.values() if "fixture_id" in v]

    def chosen(self, fixture: Value) -> list[str]:
        """Ids of the fragments of a fixture: always, by route, by name, and what they require."""
        route = fixture["route"]
        found = dict.fromkeys(self.always)
        for name in self.by_variant.get(route["variant"], ()):
            when = self.fragments[name][0]["applies_when"]
            if route["product"] in when["product"] and route["task"] in when["task"]:
                found[name] = None
        found |= dict.fromkeys(fixture["inputs"]["fragments"])
        for name in list(found):
            found |= dict.fromkeys(self.fragments[name][0]["requires"])
        return sorted(found)


class Package:
    """What is kept of one fixture."""

    def __init__(self, template: Value) -> None:
        budget = template["budget"]
        self.left = budget["ceiling"]
        self.sections: list[Value] = []
        self.total = 0

    def keep(self, section: str, digest: str, tokens: int, room: int) -> bool:
        """Whether something fits into the request and into the room of its section; noted either way."""
        fits = tokens <= min(self.left, room)
        self.sections.append(
            {"section": section, "sha256": digest, "tokens": tokens, "decision": "kept" if fits else "dropped"}
        )
        if fits:
            self.left -= tokens
            self.total += tokens
        return fits


def compile_one(project: Project, fixture: Value, counts: Counts, clock: Clock) -> Value:
    """One package: what is required first, then the newest messages and the best evidence."""
    inputs, template = fixture["inputs"], project.templates[fixture["template"]]
    with clock.step("count the fixture's texts"):
        user, task = counts.of(inputs["user"]), counts.of(inputs["task"])
        history = [(n, m, *counts.of(m["content"])) for n, m in enumerate(inputs["history"])]
        evidence = [(e, *counts.of(e["text"])) for e in inputs["evidence"]]
    with clock.step("allocate"):
        package = Package(template)
        package.keep("user", *user, package.left)
        package.keep("task", *task, package.left)
        system: list[str] = []
        text, *policy = project.policies[template["sections"][0]["source"]]
        if package.keep("policy", *policy, package.left):
            system.append(text)
        for name in project.chosen(fixture):
            _, text, digest, tokens = project.fragments[name]
            if package.keep(f"fragments/{name}", digest, tokens, package.left):
                system.append(text)
        buckets = template["budget"]["buckets"]
        room, messages = buckets["history"]["soft"], []
        for number, message, digest, tokens in reversed(history):
            if package.keep(f"history/{number}", digest, tokens, room):
                room -= tokens
                messages.append(message)
        room, data = buckets["evidence"]["soft"], [inputs["task"]]
        for item, digest, tokens in sorted(evidence, key=lambda e: (-float(e[0]["score"]), e[0]["id"])):
            if package.keep(f"evidence/{item['id']}", digest, tokens, room):
                room -= tokens
                data.append(f'<evidence id="{item["id"]}">\n{item["text"]}</evidence>')
    return {
        "fixture": fixture["fixture_id"],
        "template": template["template_id"],
        "messages": [
            {"role": "system", "content": "\n\n".join(system)},
            *reversed(messages),
            {"role": "user", "content": "\n\n".join(data)},
            {"role": "user", "content": inputs["user"]},
        ],
        "sections": package.sections,
        "totals": {"tokens": package.total, "left": package.left},
    }


def main() -> None:
    """The command."""
    parser = argparse.ArgumentParser(description="The least that compiling a generated project can be.")
    parser.add_argument("project", type=Path)
    parser.add_argument("--cache", default="", help="file of stored counts")
    arguments = parser.parse_args()
    clock, whole, size = Clock(), hashlib.sha256(), 0
    with clock.step("read files"):
        files = read(arguments.project)
    with clock.step("open the cache"):
        counts = Counts(arguments.cache, clock)
    project = Project(files, counts, clock)
    encoder = json.JSONEncoder(ensure_ascii=False, sort_keys=True, separators=(",", ":"))
    for fixture in project.fixtures:
        package = compile_one(project, fixture, counts, clock)
        with clock.step("canonical JSON"):
            text = encoder.encode(package).encode()
        with clock.step("hash packages"):
            size += len(text)
            whole.update(hashlib.sha256(text).digest())
    with clock.step("write the cache"):
        counts.close()
    print(f"{whole.hexdigest()[:12]}: {len(project.fixtures)} fixtures, {len(project.fragments)} fragments,"
          f" {size / 1e6:.1f} MB, {len(counts.fresh)} texts encoded")  # fmt: skip
    for name, seconds in clock.seconds.items():
        print(f"  {name:28}{1000 * seconds:9.1f} ms")
    print(f"  {'all':28}{1000 * time.process_time():9.1f} ms")


if __name__ == "__main__":
    main()
