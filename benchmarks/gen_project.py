"""Write a project of any size in ctxc's own formats: N fragments, M templates, K fixtures. Same arguments, same bytes.

    python benchmarks/gen_project.py OUT [--fragments 1000] [--templates 20] [--fixtures 1000] [--commits 0] [--seed 1]

Each fragment is a manifest in YAML and a Markdown text of 150 to 600 words, in three languages of which one is written
without blanks; each fixture has three to eight messages and two to four pieces of evidence, as block scalars. With
``--commits N`` the folder becomes a git repository: a first commit, and N - 1 more, each of which edits one percent of
the fragments. Dates and names are fixed, so that object ids are the same everywhere.
"""

from __future__ import annotations

import argparse
import os
import random
import subprocess
from collections.abc import Sequence
from pathlib import Path

_ENGLISH = """
claim policy owner evidence source answer request number date order limit notice report damage cover vehicle
building contents estimate repair invoice amount customer contract clause region language summary question check
never always before after only when every must may should keep state write cite name confirm refuse explain the
a of to and in for with on by from each one two three first last known open
"""
_GERMAN = """
der die das und mit von auf bei nach jede keine immer nie Vertrag Schaden Antwort Quelle Beleg Betrag Datum
Kunde Fahrzeug Gebäude Rechnung Zusage Frist Grenze prüfen nennen melden ablehnen bestätigen erklären größer
kürzer offen bekannt letzte erste
"""
_CHINESE = """
报案 证据 来源 回答 车辆 房屋 金额 日期 客户 合同 条款 摘要 问题 必须 不得 仅 之前 之后 确认 拒绝 说明
的 了 和 在 是 与 或
"""
_EN, _DE, _ZH = _ENGLISH.split(), _GERMAN.split(), _CHINESE.split()
_GROUPS = ("core", "family", "task", "capability")
_PRODUCTS = ("motor", "home", "contents", "travel", "health", "boat", "liability", "legal")
_TASKS = ("intake", "update", "review", "closing", "question")


class Writer:
    """Texts and files from one source of random numbers."""

    def __init__(self, root: Path, seed: int) -> None:
        self.root = root
        self.random = random.Random(seed)

    def sentence(self, language: str) -> str:
        """One sentence of 6 to 17 words."""
        r = self.random
        if language == "zh":
            return "".join(r.choice(_ZH) for _ in range(r.randrange(6, 18))) + "。"
        words = [r.choice(_EN if language == "en" else _DE) for _ in range(r.randrange(6, 18))]
        return " ".join(words).capitalize() + r.choice("..;:")

    def text(self, words: int, language: str) -> str:
        """Lines of about so many words, with headings, list items and code now and then."""
        r = self.random
        lines: list[str] = []
        count = 0
        if r.random() < 0.5:
            lines.append("## " + " ".join(r.choice(_EN) for _ in range(3)).title())
        while count < words:
            kind = r.random()
            line = self.sentence(language)
            if kind < 0.12:
                line = f"- `{r.choice(_EN)}_{r.choice(_EN)}`: {line} ({r.randrange(10_000)})"
            elif kind < 0.16:
                line = f'{{"{r.choice(_EN)}": {r.randrange(1000)}, "{r.choice(_EN)}": "{r.choice(_EN)}"}}'
            lines.append(line)
            count += 12
        return "\n".join(lines) + "\n"

    def language(self) -> str:
        """A language: half English, a quarter each of the others."""
        return self.random.choice(("en", "en", "de", "zh"))

    def write(self, path: str, text: str) -> None:
        """One file with LF line ends."""
        place = self.root / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(text.encode("utf-8"))


def _block(text: str, indent: int) -> str:
    return "|\n" + "".join(" " * indent + line + "\n" for line in text.splitlines())


def write_fragment(writer: Writer, number: int) -> None:
    """A manifest and its text. Fragments of the core group are loaded always, others by route or by name."""
    r = writer.random
    group = _GROUPS[min(number % 40, 3)] if number % 40 else "core"
    mode = "always" if group == "core" and number < 80 else r.choice(("route_match", "route_match", "explicit"))
    product, task = _PRODUCTS[number % len(_PRODUCTS)], _TASKS[number // 7 % len(_TASKS)]
    folder = f"fragments/g{number // 100:03d}"
    requires = "[g000.f00000]" if number else "[]"
    route = f"applies_when: {{product: [{product}], task: [{task}], variant: [v{number}]}}"
    lines = [
        f"fragment_id: g{number // 100:03d}.f{number:05d}",
        f"version: {r.randrange(1, 4)}.{r.randrange(9)}.{r.randrange(9)}",
        f"path: f{number:05d}.md",
        f"kind: {group}",
        f"load_mode: {mode}",
        *([route] if mode == "route_match" else []),
        f"requires: {requires}",
        "conflicts_with: []",
        f"priority: {r.randrange(100)}",
        f"max_tokens: {r.randrange(900, 1500)}",
        f"owner: team-{r.choice('abcdef')}",
        f"summary: {writer.sentence('en')[:-1]}",
    ]
    writer.write(f"{folder}/f{number:05d}.yaml", "\n".join(lines) + "\n")
    writer.write(f"{folder}/f{number:05d}.md", writer.text(r.randrange(150, 600), writer.language()))


def write_template(writer: Writer, number: int) -> None:
    """A template with a policy, fragments, evidence, history and the user's message."""
    r = writer.random
    writer.write(f"policies/p{number:03d}.md", writer.text(120, "en"))
    writer.write(
        f"templates/t{number:03d}.yaml",
        f"""template_id: t{number:03d}
version: 1.{r.randrange(9)}.0
provider: openai
model: gpt-4o
output_contract: answer
route: [product, task]
budget:
  output_reserve: 1000
  ceiling: {r.choice((4300, 4500, 5000))}
  buckets:
    evidence: {{min: 200, soft: 1500, borrow: true}}
    history: {{min: 0, soft: 1500, borrow: true}}
sections:
  - {{id: policy, source: policies/p{number:03d}.md, required: true, cacheable: true}}
  - {{id: fragments, kind: fragment, source: fragments, cacheable: true}}
  - {{id: task, source: runtime, required: true}}
  - {{id: history, source: runtime, priority: 30, overflow: cut:role}}
  - {{id: evidence, source: retrieval, priority: 40, max_tokens: 1500}}
  - {{id: user, source: runtime, required: true}}
checkpoints: [policy]
""",
    )


def write_fixture(writer: Writer, number: int, templates: int, fragments: int) -> None:
    """One request with a history, evidence, and some fragments that it names."""
    r = writer.random
    language = writer.language()
    names = sorted(r.sample(range(fragments), min(r.randrange(2, 5), fragments)))
    lines = [
        f"fixture_id: x{number:05d}",
        f"template: t{r.randrange(templates):03d}",
        "now: 2026-10-31T10:00:00Z",
        f"route: {{product: {r.choice(_PRODUCTS)}, task: {r.choice(_TASKS)}, variant: v{r.randrange(fragments)}}}",
        "principal: {tenant: t_demo, subject: u_1, permissions: [claims:read]}",
        "inputs:",
        f"  task: {writer.sentence('en')[:-1]}",
        f"  fragments: [{', '.join(f'g{n // 100:03d}.f{n:05d}' for n in names)}]",
        "  user: " + _block(writer.text(r.randrange(15, 60), language), 4).rstrip("\n"),
        "  history:",
    ]
    for turn in range(r.randrange(3, 9)):
        lines.append(f"    - role: {'assistant' if turn % 2 else 'user'}")
        lines.append("      content: " + _block(writer.text(r.randrange(15, 90), language), 8).rstrip("\n"))
    lines.append("  evidence:")
    for item in range(r.randrange(2, 5)):
        lines.append(f"    - id: e{number:05d}-{item}")
        lines.append(f"      source: doc://{r.choice(_EN)}/{r.randrange(10_000)}")
        lines.append(f"      version: v{r.randrange(9)}")
        lines.append(f"      locator: p{r.randrange(300)}")
        lines.append(f"      score: {r.random():.3f}")
        lines.append("      text: " + _block(writer.text(r.randrange(80, 300), language), 8).rstrip("\n"))
    lines.append("expect: {outcome: compiled}")
    writer.write(f"tests/fixtures/x{number // 1000:02d}/x{number:05d}.yaml", "\n".join(lines) + "\n")


def write_project(root: Path, *, fragments: int, templates: int, fixtures: int, seed: int = 1) -> None:
    """The whole project into an empty or absent folder."""
    root.mkdir(parents=True, exist_ok=True)
    writer = Writer(root, seed)
    writer.write(
        "policies/answer.yaml",
        "contract_id: answer\nversion: 1.0.0\n"
        "schema: {type: object, required: [answer, citations], additionalProperties: false, properties: "
        "{answer: {type: string}, citations: {type: array, items: {type: string}}}}\n"
        'refusal: {field: answer, text: "cannot be confirmed"}\ncitations: {field: citations, must_exist: true}\n',
    )
    for number in range(fragments):
        write_fragment(writer, number)
    for number in range(templates):
        write_template(writer, number)
    for number in range(fixtures):
        write_fixture(writer, number, templates, fragments)


def commit(root: Path, commits: int, fragments: int, seed: int) -> None:
    """Make the folder a repository: all of it, then commits that edit one percent of the fragments each."""
    fixed = {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"}
    for who in ("AUTHOR", "COMMITTER"):
        fixed[f"GIT_{who}_NAME"] = "generator"
        fixed[f"GIT_{who}_EMAIL"] = "generator@example.com"
        fixed[f"GIT_{who}_DATE"] = "2026-01-01T00:00:00Z"

    def git(*arguments: str) -> None:
        command = ["git", "-C", str(root), *arguments]
        subprocess.run(command, check=True, env={**os.environ, **fixed}, stdout=subprocess.DEVNULL)

    git("init", "-q", "-b", "main")
    git("add", "-A")
    git("commit", "-q", "-m", "The project")
    writer = Writer(root, seed + 1)
    for number in range(1, commits):
        for chosen in writer.random.sample(range(fragments), max(1, fragments // 100)):
            place = root / f"fragments/g{chosen // 100:03d}/f{chosen:05d}.md"
            place.write_bytes(place.read_bytes() + writer.sentence("en").encode() + b"\n")
        git("add", "-A")
        git("commit", "-q", "-m", f"Edit {number}")


def main(arguments: Sequence[str] | None = None) -> None:
    """The command."""
    parser = argparse.ArgumentParser(description="Write a project of any size, the same bytes for the same arguments.")
    parser.add_argument("out", type=Path)
    parser.add_argument("--fragments", type=int, default=1000)
    parser.add_argument("--templates", type=int, default=20)
    parser.add_argument("--fixtures", type=int, default=1000)
    parser.add_argument("--commits", type=int, default=0, help="0: no repository")
    parser.add_argument("--seed", type=int, default=1)
    a = parser.parse_args(arguments)
    if a.out.exists() and any(a.out.iterdir()):
        parser.error(f"{a.out} is not empty")
    if min(a.fragments, a.templates, a.fixtures) < 1:
        parser.error("at least one fragment, template and fixture")
    write_project(a.out, fragments=a.fragments, templates=a.templates, fixtures=a.fixtures, seed=a.seed)
    if a.commits:
        commit(a.out, a.commits, a.fragments, a.seed)


if __name__ == "__main__":
    main()
