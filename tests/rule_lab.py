"""Rules on files in memory: what the examples of a rule and the cases under ``tests/rules`` are run with."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from ctxc import providers, tokens
from ctxc.base.spans import Span
from ctxc.model.finding import Finding
from ctxc.model.measured import Measured
from ctxc.model.project import Project, Settings
from ctxc.parse.load import load_project
from ctxc.rules import all_rules
from ctxc.rules._ground import GATE, Ground
from ctxc.rules._locks import read_budgets, read_tools
from ctxc.rules._measuring import measure
from ctxc.rules.documentation import Example, decoded, files
from ctxc.rules.engine import Context, Rule, run
from ctxc.source.memory import MemoryTree

NOW = "2026-11-30"
_BUILTIN = {i: providers.profile_text(i) for i in providers.profile_ids()}


def project_of(example: Example, settings: Settings | None = None) -> tuple[Project, MemoryTree]:
    tree = MemoryTree(example.files, links=example.links)
    return load_project(tree, settings or Settings(), builtin_providers=_BUILTIN), tree


def context_of(
    example: Example,
    *,
    compiled: bool = False,
    settings: Settings | None = None,
    params: Mapping[str, Mapping[str, object]] | None = None,
) -> Context:
    project, tree = project_of(example, settings)
    packages = {}
    if compiled:
        from ctxc.app.withhold import Withholder
        from ctxc.compiler.pipeline import Compiler

        compiler, withholder = (
            Compiler(project, tokenizers=lambda r: tokens.get(r.id), shapes=providers.shape),
            Withholder(),
        )
        packages = {f.id: withholder.check(project, compiler.compile(f)) for f in project.fixtures.values()}
    return Context(
        project=project,
        tree=tree,
        now=NOW,
        tokenizers=lambda ref: tokens.get(ref.id),
        packages=packages,
        params=params or {},
    )


def findings_of(
    example: Example, rules: Iterable[Rule] | None = None, *, compiled: bool = False
) -> tuple[Finding, ...]:
    chosen = all_rules() if rules is None else tuple(rules)
    return run(context_of(example, compiled=compiled), chosen)


# --- changes -------------------------------------------------------------------------------------------------------

_BASE = "base/"


def _split(example: Example) -> tuple[Example, Example]:
    """The example before and after; a file that is not repeated is the same on both sides."""
    head = {path: data for path, data in example.files.items() if not path.startswith(_BASE)}
    old = {path.removeprefix(_BASE): data for path, data in example.files.items() if path.startswith(_BASE)}
    base = {path: data for path, data in {**head, **old}.items() if data.strip() != b"(absent)"}
    head = {path: data for path, data in head.items() if data.strip() != b"(absent)"}
    return Example(files=base, links={}), Example(files=head, links={})


def _measured(context: Context) -> dict[str, Measured]:
    fixtures = context.project.fixtures
    return {n: measure(p, fixtures[n], context.project, context.tokenizers) for n, p in context.packages.items()}


def findings_of_change(example: Example, made: Rule) -> tuple[Finding, ...]:
    """What a rule finds in a change: files under ``base/`` are as they were before, ``(absent)`` were not there."""
    before, after = _split(example)
    base, head = context_of(before, compiled=True), context_of(after, compiled=True)
    ground = Ground(
        policies=tuple(v[-1] for v in head.project.policies.values()),
        owner=head.project,
        head=_measured(head),
        base=_measured(base),
        load_base=lambda: base.project,
        packages=head.packages.__getitem__,
        budgets=read_budgets(head.tree),
        tools=read_tools(head.tree),
    )
    return tuple(f for f in run(context_of(after, params={GATE: {"ground": ground}}), [made]) if f.code == made.code)


# --- cases with markers --------------------------------------------------------------------------------------------

_MARKER = re.compile(r"(?P<lead>[ \t]*)(?P<mark>\^+|\|)(?P<open>~?)[ ]+(?P<code>CTX\d{3})\b[ ]*(?P<words>.*)\Z")
_ELSEWHERE = re.compile(r"!(?P<code>CTX\d{3}) (?P<path>\S+?)(?::(?P<line>\d+):(?P<column>\d+))?(?: (?P<words>.*))?\Z")


@dataclass(frozen=True)
class Expected:
    """A finding that a marker announces. ``end`` is None where the span ends on a later line."""

    path: str
    code: str
    line: int  # 0: the whole file
    column: int
    end: int | None
    words: str
    exact: bool = True  # whether the end is asserted as well


@dataclass(frozen=True)
class Case:
    example: Example
    expected: tuple[Expected, ...]


def read_case(text: str) -> Case:
    """Files with markers under the line that a finding is about: ``   ^^^^ CTX130 part of the message``.

    ``^~``: only the start is asserted, the span goes on. ``|``: an empty span. ``!CTX130 PATH words``: the file as a
    whole; ``!CTX130 PATH:LINE:COLUMN words``: a start that no marker can stand under.
    """
    kept: list[str] = []
    expected: list[Expected] = []
    path, line = "", 0
    for row in text.split("\n"):
        opened = re.match(r"# file: (.+?)(?: \(repeated \d+ times\))?\Z", row)
        marker, other = _MARKER.match(row), _ELSEWHERE.match(row)
        if opened:
            path, line = _real(opened[1]), 0
            kept.append(row)
        elif marker:
            above = kept[-1]
            start, stop = len(marker["lead"]), len(marker["lead"]) + len(marker["mark"])
            column = len(_real(above[:start])) + 1
            length = 0 if marker["mark"] == "|" else len(_real(above[start:stop]))
            expected.append(
                Expected(
                    path, marker["code"], line, column, None if marker["open"] else column + length, marker["words"]
                )
            )
        elif other:
            place = (int(other["line"] or 0), int(other["column"] or 0))
            expected.append(
                Expected(_real(other["path"]), other["code"], *place, None, other["words"] or "", exact=False)
            )
        else:
            kept.append(row)
            line += 1
    return Case(files("\n".join(kept)), tuple(expected))


def _real(text: str) -> str:
    return decoded(text).decode("utf-8", "replace")


def differences(case: Case, found: Iterable[Finding]) -> list[str]:
    """What is expected and not found, and what is found and not expected."""
    problems = []
    left = list(found)
    for want in case.expected:
        match = next((f for f in left if _fits(want, f)), None)
        if match is None:
            problems.append(f"missing: {want}")
        else:
            left.remove(match)
    problems.extend(f"unexpected: {f.location} {f.location.span} {f.code} {f.message}" for f in left)
    return problems


def _fits(want: Expected, found: Finding) -> bool:
    span: Span | None = found.location.span
    if (found.code, found.location.path) != (want.code, want.path) or want.words not in found.message:
        return False
    if span is None or not want.line:
        return span is None and not want.line
    if (span.line, span.column) != (want.line, want.column):
        return False
    if not want.exact:
        return True
    return span.end_line > span.line if want.end is None else (span.end_line, span.end_column) == (span.line, want.end)
