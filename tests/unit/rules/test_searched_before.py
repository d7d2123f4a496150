"""What a search found nothing in is not searched again, and nothing that is there is lost by it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import pytest
from rule_lab import context_of, findings_of

from ctxc.base.spans import Origin
from ctxc.detect.match import Match
from ctxc.model.finding import Severity
from ctxc.model.section import Authority
from ctxc.rules import rule, rule_names
from ctxc.rules._texts import Shown, search
from ctxc.rules.documentation import Example, files, read
from ctxc.rules.engine import Context, run


class Clean:
    """Files that hold nothing, by what they hold."""

    def __init__(self, contents: Mapping[str, bytes]) -> None:
        self.contents = contents
        self.known: set[tuple[str, bytes]] = set()
        self.hits: list[tuple[str, str]] = []

    def has(self, about: str, path: str) -> bool:
        found = (about, self.contents.get(path, path.encode())) in self.known
        if found:
            self.hits.append((about, path))
        return found

    def note(self, about: str, path: str) -> None:
        self.known.add((about, self.contents.get(path, path.encode())))


def _with(example: Example, clean: Clean, *, compiled: bool = False) -> Context:
    clean.contents = example.files
    return replace(context_of(example, compiled=compiled), clean=clean)


_CHECKED = [n for n in rule_names() if rule(n).emitter == "rule" and rule(n).needs != "change"]


@pytest.mark.parametrize("name", _CHECKED)
def test_a_rule_finds_the_same_when_it_is_asked_again(name: str) -> None:
    made = rule(name)
    text = read(made.doc)
    compiled = made.needs == "packages"
    for example in (files(text.bad), files(text.good)):
        expected = findings_of(example, [made], compiled=compiled)
        clean = Clean({})
        for _ in range(2):
            assert run(_with(example, clean, compiled=compiled), [made]) == expected


FILES = {
    "templates/t.yaml": b"""\
template_id: t
version: 1
provider: text
sections:
  - {id: policy, source: policies/house.md, cacheable: true}
  - {id: fragments, kind: fragment, source: fragments, cacheable: true}
""",
    "policies/house.md": b"Answer briefly.\n",
    "fragments/a.md": b"---\nfragment_id: core.a\nversion: 1\nkind: core\nload_mode: always\n---\nSay what you know.\n",
}
_TEXT_RULES = {
    "role-token": "<|im_start|>system", "look-alike-delimiter": "</untrusted>", "stack-trace": (
        'Traceback (most recent call last):\n  File "/srv/app/main.py", line 3, in <module>\n    run()\nValueError: no'),
    "internal-address": "See http://10.1.2.3/admin.", "personal-identifier": "Card 4539981746205189.",
    "volatile-prefix": "Current time: 2026-11-30 10:04:31",
}  # fmt: skip


@pytest.mark.parametrize(("name", "line"), _TEXT_RULES.items())
@pytest.mark.parametrize("path", ["policies/house.md", "fragments/a.md"])
def test_a_text_that_changes_is_searched_again_and_the_others_are_not(name: str, line: str, path: str) -> None:
    made = rule(name)
    clean = Clean({})
    assert run(_with(Example(files=FILES, links={}), clean), [made]) == ()
    assert not clean.hits
    changed = Example(files={**FILES, path: FILES[path] + line.encode() + b"\n"}, links={})
    found = run(_with(changed, clean), [made])
    assert [f.location.path for f in found if f.name == name] == [path]
    other = {"policies/house.md", "fragments/a.md"} - {path}
    assert {p for _, p in clean.hits} == other
    assert found == run(context_of(changed), [made])


def _match(text: str) -> tuple[Match, ...]:
    at = text.find("x")
    return (Match(detector="d", severity=Severity.ERROR, start=at, end=at + 1, message="x"),) if at >= 0 else ()


def test_only_bodies_without_a_match_are_remembered() -> None:
    def shown(text: str, path: str, *, body: bool) -> Shown:
        return Shown(text=text, origin=Origin(path), authority=Authority.T1, what="", body=body)

    texts = [shown("ax", "a", body=True), shown("b", "b", body=True), shown("c", "c", body=False)]
    looked: list[str] = []

    def find(text: str) -> tuple[Match, ...]:
        looked.append(text)
        return _match(text)

    clean = Clean({})
    context = replace(context_of(Example(files=FILES, links={})), clean=clean)
    for _ in range(2):
        assert [(s.origin.path, m.start) for s, m in search(context, "x", texts, find)] == [("a", 1)]
    assert looked == ["ax", "b", "c", "ax", "c"]
    assert clean.known == {("x", b"b")}
    assert [s.origin.path for s, _ in search(context, "y", texts, find)] == ["a"]
    assert looked[5:] == ["ax", "b", "c"], "another search knows nothing of it"
