"""The release report as Markdown: for a pull request, a step summary, a release page. Cells are inert."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from ctxc.model.release import Release
from ctxc.report import View
from ctxc.report._encode import markdown_code, markdown_text
from ctxc.report._tally import plural
from ctxc.report.markdown import FINDING_HEAD, MAX_CHARACTERS, cell_code, finding_rows
from ctxc.report.releases import _words

_MARKS = {"passed": "✅", "failed": "❌", "not_applicable": "➖", "not_configured": "▫️", "not_checked": "▫️"}
_ROOM_FOR_NOTES = 1_500


def render(release: Release, view: View) -> str:
    """The whole report; what exceeds the platform's limit is cut at a row, and it is said what was cut."""
    page = _Page()
    report = release.report
    page.add(f"### {'❌' if release.failed else '✅'} ctxc gate: {markdown_text(_words.verdict(release))}\n")
    page.add(f"\n{markdown_text(_words.judged(release))}; ships {markdown_text(_words.ships(release))}.\n")
    change = _words.changed(release)
    if change:
        page.add(f"\n{markdown_text(change[0].upper() + change[1:])}.\n")
    # Findings come first, because they are what a reviewer acts on; many of them leave room for what was checked.
    checked = "".join(_checked(release))
    page.table("What was found", FINDING_HEAD, finding_rows(report.findings), "finding", reserve=len(checked))
    page.add(checked)
    page.table("What changed", _CHANGE_HEAD, _changes(release), "fixture")
    page.table("", _OBJECT_HEAD, _objects(release), "object")
    page.table("Prefixes that a provider can cache", _PREFIX_HEAD, _prefixes(release), "prefix")
    page.table("What it costs", _COST_HEAD, _costs(release), "template")
    if release.prices:
        page.add(f"\nPrices: {markdown_text('; '.join(release.prices))}. Times are those of a linear model.\n")
    page.table("What was waived", _WAIVER_HEAD, _waivers(release), "waiver")
    page.table("What ships", _SHIP_HEAD, _ships(release), "object", folded=release.bundle)
    as_of = f", as of {markdown_text(report.now)}" if report.now else ""
    page.add(f"\nctxc {markdown_text(report.version)}{as_of}\n")
    return page.text


class _Page:
    """Text that never grows past the limit; a table says how many of its rows were left out."""

    def __init__(self) -> None:
        self.text = ""

    def add(self, text: str) -> bool:
        if len(self.text) + len(text) > MAX_CHARACTERS:
            return False
        self.text += text
        return True

    def table(
        self, title: str, head: str, rows: Iterable[str], noun: str, *, folded: str = "", reserve: int = 0
    ) -> None:
        opening = f"\n#### {title}\n" if title else ""
        if folded:
            opening = f"\n<details><summary>{title}: {markdown_text(folded)}</summary>\n"
        left, any_row = 0, False
        for row in rows:
            start = "" if any_row else opening + head
            if left or len(self.text) + len(start) + len(row) > MAX_CHARACTERS - _ROOM_FOR_NOTES - reserve:
                left += 1
                continue
            self.text += start + row
            any_row = True
        if left:
            self.add(f"\n{plural(left, noun)} left out: the limit is {MAX_CHARACTERS:,} characters.\n")
        if folded and any_row:
            self.add("\n</details>\n")


_CHANGE_HEAD = "\n| fixture | | before | after | | what differs | prefix lost |\n|---|---|---:|---:|---:|---|---:|\n"
_OBJECT_HEAD = "\n| kind | object | version | |\n|---|---|---|---|\n"
_PREFIX_HEAD = "\n| template | profile | model | tokens | fixtures | digest | |\n|---|---|---|---:|---:|---|---|\n"
_COST_HEAD = (
    "\n| template | model | fixtures | tokens p50 / most | 1,000 cold | 1,000 warm | longest |\n"
    "|---|---|---:|---:|---:|---:|---:|\n"
)
_WAIVER_HEAD = "\n| rule | for | until | owner | reason | |\n|---|---|---|---|---|---|\n"
_SHIP_HEAD = "\n| kind | object | version | digest |\n|---|---|---|---|\n"


def _checked(release: Release) -> Iterator[str]:
    yield "\n#### What was checked\n\n| | gate | | checked | |\n|---|---|---|---:|---|\n"
    for gate in release.report.gates:
        cells = [_MARKS.get(gate.status, ""), gate.id, gate.status.replace("_", " "), f"{gate.checked:,}"]
        yield f"| {' | '.join(cells)} | {markdown_text(gate.message)} |\n"


def _changes(release: Release) -> Iterator[str]:
    for line in release.changes:
        before, after, delta = _words.change_tokens(line)
        facets = markdown_text(", ".join(line.facets))
        lost = f"{line.prefix_lost:,}" if line.prefix_lost else ""
        yield f"| {cell_code(line.fixture)} | {line.status} | {before} | {after} | {delta} | {facets} | {lost} |\n"


def _objects(release: Release) -> Iterator[str]:
    for one in release.shipped:
        if _words.is_new(one):
            yield f"| {one.kind} | {cell_code(one.id)} | {markdown_text(_words.version(one))} | {one.status} |\n"


def _prefixes(release: Release) -> Iterator[str]:
    for line in release.prefixes:
        names = f"{cell_code(line.template)} | {cell_code(line.profile) if line.profile else '–'}"
        model = markdown_text(line.model)
        digest = markdown_code(_words.digest(line.digest))
        yield f"| {names} | {model} | {line.tokens:,} | {line.fixtures:,} | {digest} | {_words.prefix_state(line)} |\n"


def _costs(release: Release) -> Iterator[str]:
    for line in release.costs:
        cells = [
            cell_code(line.template),
            markdown_text(line.model),
            f"{line.fixtures:,}",
            _words.tokens_of(line),
            markdown_text(_words.money(line.base_cold, line.cold)),
            markdown_text(_words.money(line.base_warm, line.warm)),
            _words.time(line),
        ]
        yield f"| {' | '.join(cells)} |\n"


def _waivers(release: Release) -> Iterator[str]:
    for line in (*release.waivers, *_words.silenced(release)):
        times = f"used {line.count:,}×" if line.state == "used" else line.state.replace("_", " ")
        cells = [line.rule, line.about, line.expires, line.owner, line.reason, times]
        yield f"| {' | '.join(markdown_text(c) for c in cells)} |\n"


def _ships(release: Release) -> Iterator[str]:
    for one in release.shipped:
        if one.status != "removed":
            digest = markdown_code(_words.digest(one.digest))
            yield f"| {one.kind} | {cell_code(one.id)} | {markdown_text(one.version)} | {digest} |\n"
