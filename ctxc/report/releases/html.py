"""The release report as one page for a browser that asks nobody for anything: no script, no font, no image.

The verdict, what was found, the gates, what changed with a bar for each fixture's tokens, what it costs, what was
waived until when, and everything that ships. It follows the reader's dark or light scheme, and prints.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from html import escape

from ctxc.model.finding import Finding
from ctxc.model.release import ChangeLine, Release
from ctxc.model.report import GateResult
from ctxc.report import View
from ctxc.report._encode import visible
from ctxc.report._tally import plural, worst_first
from ctxc.report.releases import _words

_STYLE = """
:root{color-scheme:light dark;--page:#fff;--ink:#1c2128;--dim:#5b6570;--line:#d5dae0;--soft:#f4f6f8;--good:#1f7a3d;
--good-soft:#dff3e4;--bad:#b3302a;--bad-soft:#fbe2e0;--warn:#8a5f00;--warn-soft:#fbefcf;--bar:#9fb3c8;--more:#d9822b;
--less:#3d9a5f}
@media (prefers-color-scheme:dark){:root{--page:#14181d;--ink:#e4e8ec;--dim:#9aa5b1;--line:#333b45;--soft:#1c2229;
--good:#6fd08c;--good-soft:#14321f;--bad:#f0817a;--bad-soft:#3f1b19;--warn:#e0b04a;--warn-soft:#3a2d0d;--bar:#4f6378;
--more:#e09a4f;--less:#5fbf82}}
*{box-sizing:border-box}
body{margin:0 auto;max-width:1060px;padding:24px 20px 60px;background:var(--page);color:var(--ink);
font:15px/1.5 system-ui,-apple-system,"Segoe UI",Roboto,"Noto Sans","Noto Sans CJK SC",sans-serif}
h1{font-size:22px;margin:0 0 4px}h2{font-size:17px;margin:34px 0 10px;border-bottom:1px solid var(--line);
padding-bottom:4px}
p{margin:4px 0;overflow-wrap:anywhere}.dim{color:var(--dim)}
code{font:13px ui-monospace,SFMono-Regular,Menlo,Consolas,"Noto Sans Mono",monospace;overflow-wrap:anywhere}
.verdict{border-radius:8px;padding:14px 18px;margin:0 0 14px}
.verdict.failed{background:var(--bad-soft);border-left:6px solid var(--bad)}
.verdict.passed{background:var(--good-soft);border-left:6px solid var(--good)}
.gates{list-style:none;margin:0;padding:0;border:1px solid var(--line);border-radius:8px;overflow:hidden}
.gates li{display:grid;grid-template-columns:1.4rem 8.5rem 7.5rem 1fr;gap:0 10px;padding:6px 12px;
border-bottom:1px solid var(--line)}.gates li:last-child{border:0}
.gates .mark{font-weight:700;text-align:center}.gates b{font-weight:600}
.passed .mark,.good{color:var(--good)}.failed .mark,.failed .state,.bad{color:var(--bad)}
.failed .state{font-weight:600}li.failed{background:var(--bad-soft)}
.not_applicable,.not_configured,.not_checked{color:var(--dim)}.warn{color:var(--warn)}
.finding{border:1px solid var(--line);border-left:4px solid var(--line);border-radius:6px;padding:8px 12px;margin:8px 0}
.finding.error{border-left-color:var(--bad)}.finding.warning{border-left-color:var(--warn)}
.finding .what{font-weight:600;overflow-wrap:anywhere}.finding p{font-size:14px}
.wide{overflow-x:auto;margin:10px 0}td.n{white-space:nowrap}table{border-collapse:collapse;width:100%;font-size:14px}
td,th{text-align:left;padding:5px 14px 5px 0;border-bottom:1px solid var(--line);vertical-align:top}
th{color:var(--dim);font-weight:500}td.r,th.r{text-align:right;font-variant-numeric:tabular-nums;white-space:nowrap}
td.bar{width:22%;min-width:9rem;vertical-align:middle}
.strip{display:flex;height:10px}.strip i{height:100%;background:var(--bar)}.strip i.more{background:var(--more)}
.strip i.less{background:none;border:1px dashed var(--less)}
details{border:1px solid var(--line);border-radius:6px;margin:10px 0}
summary{cursor:pointer;padding:7px 12px;background:var(--soft);border-radius:6px;overflow-wrap:anywhere}
details>div{padding:6px 14px 12px}
@media (max-width:640px){.gates li{grid-template-columns:1.4rem 1fr auto}.gates .said{grid-column:2/-1}}
@media print{body{max-width:none}details>div{display:block}}
"""
# Nothing may be loaded, sent or run, whatever a report quotes.
_POLICY = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'"
_MARKS = {"passed": "✓", "failed": "✗", "not_applicable": "–", "not_configured": "·", "not_checked": "?"}
_FINDINGS = 500
"""Findings that are shown; a page of ten thousand is read by nobody."""


def render(release: Release, view: View) -> str:
    """A whole HTML document."""
    body = "\n".join(_body(release))
    title = f"ctxc gate: {'failed' if release.failed else 'passed'}, {release.bundle}"
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{_text(title)}</title>\n<style>{_STYLE}</style>\n</head>\n<body>\n{body}\n</body>\n</html>\n"
    )


def _text(value: str) -> str:
    """A text of a project inside HTML: inert, hidden characters visible."""
    return escape(visible(value), quote=True)


def _code(value: str) -> str:
    return f"<code>{_text(value)}</code>"


def _body(release: Release) -> Iterator[str]:
    report = release.report
    state = "failed" if release.failed else "passed"
    yield f'<div class="verdict {state}"><h1>ctxc gate: {_text(_words.verdict(release))}</h1>'
    yield f"<p>{_text(_words.judged(release))}</p>"
    yield f"<p>Ships {_text(_words.ships(release))}.</p>"
    change = _words.changed(release)
    if change:
        yield f"<p>{_text(change[0].upper() + change[1:])}.</p>"
    yield "</div>"
    if report.findings:
        yield f"<h2>What was found</h2>{''.join(_findings(report.findings))}"
    yield "<h2>What was checked</h2>"
    yield f'<ul class="gates">{"".join(_gate(g) for g in report.gates)}</ul>'
    yield from _change(release)
    yield from _section("Prefixes that a provider can cache", _PREFIXES, _prefixes(release))
    yield from _section("What it costs", _COSTS, _costs(release))
    if release.prices:
        yield f'<p class="dim">Prices: {_text("; ".join(release.prices))}. Times are those of a linear model.</p>'
    yield from _section("What was waived", _WAIVERS, _waivers(release))
    yield "<h2>What ships</h2>"
    rows = "".join(_ships(release))
    yield f"<details><summary>{_text(_words.ships(release))}</summary><div>{_table(_SHIPS, rows)}</div></details>"
    as_of = f", as of {_text(report.now)}" if report.now else ""
    yield f'<p class="dim">ctxc {_text(report.version)}{as_of}</p>'


def _gate(gate: GateResult) -> str:
    checked = f"{gate.checked:,} checked. " if gate.checked else ""
    return (
        f'<li class="{gate.status}"><span class="mark">{_MARKS.get(gate.status, "?")}</span><b>{_text(gate.id)}</b>'
        f'<span class="state">{gate.status.replace("_", " ")}</span>'
        f'<span class="said">{checked}{_text(gate.message)}</span></li>'
    )


def _findings(findings: tuple[Finding, ...]) -> Iterator[str]:
    for finding in worst_first(findings)[:_FINDINGS]:
        about = [_code(str(finding.location))]
        if finding.fixture:
            about.append(f"fixture {_code(finding.fixture)}")
        about += [f"{_code(str(r.location))} {_text(r.message)}" for r in finding.related]
        help = f"<p>{_text(finding.help)}</p>" if finding.help else ""
        yield (
            f'<div class="finding {finding.severity.label}"><div class="what">{_text(finding.message)}</div>'
            f'<p class="dim">{finding.severity.label} {_text(finding.code)} {_text(finding.name)}, '
            f"{', '.join(about)}</p>{help}</div>"
        )
    left = len(findings) - _FINDINGS
    if left > 0:
        yield f"<p>{plural(left, 'finding')} more: the JSON report has them all.</p>"


def _change(release: Release) -> Iterator[str]:
    rows = [_changed(line, _most(release.changes)) for line in release.changes]
    objects = "".join(
        f"<tr><td>{one.kind}</td><td>{_code(one.id)}</td><td>{_text(_words.version(one))}</td>"
        f"<td>{one.status}</td></tr>"
        for one in release.shipped
        if _words.is_new(one)
    )
    if rows or objects:
        yield "<h2>What changed</h2>"
    if rows:
        yield _table(_CHANGES, "".join(rows))
    if objects:
        yield _table(_OBJECTS, objects)


def _most(changes: Iterable[ChangeLine]) -> int:
    return max((max(c.base_tokens or 0, c.head_tokens or 0) for c in changes), default=0)


def _changed(line: ChangeLine, most: int) -> str:
    before, after, delta = _words.change_tokens(line)
    style = "" if not delta or delta[0] == "±" else ' class="bad"' if delta[0] == "+" else ' class="good"'
    lost = f"{line.prefix_lost:,}" if line.prefix_lost else ""
    return (
        f'<tr><td>{_code(line.fixture)}</td><td>{line.status}</td><td class="bar">{_strip(line, most)}</td>'
        f'<td class="r">{before}</td><td class="r">{after}</td><td class="r"><span{style}>{delta}</span></td>'
        f'<td>{_text(", ".join(line.facets))}</td><td class="r">{lost}</td></tr>'
    )


def _strip(line: ChangeLine, most: int) -> str:
    """What stayed, and behind it what came or went, on the scale of the largest request."""
    if not most:
        return ""
    one, other = line.base_tokens or 0, line.head_tokens or 0
    kept, rest = min(one, other), abs(one - other)
    kind = "more" if other > one else "less"
    shown = f'<i style="width:{100 * kept / most:.2f}%"></i>'
    if rest:
        shown += f'<i class="{kind}" style="width:{100 * rest / most:.2f}%"></i>'
    return f'<div class="strip">{shown}</div>'


_CHANGES = ("fixture", "", "tokens", ">before", ">after", "> ", "what differs", ">prefix lost")
_OBJECTS = ("kind", "object", "version", "")
_PREFIXES = ("template", "profile", "model", ">tokens", ">fixtures", "digest", "")
_COSTS = ("template", "model", ">fixtures", ">tokens p50 / most", ">1,000 cold", ">1,000 warm", ">longest")
_WAIVERS = ("rule", "for", "until", "owner", "reason", "")
_SHIPS = ("kind", "object", "version", "digest")


def _section(title: str, head: tuple[str, ...], rows: Iterable[str]) -> Iterator[str]:
    body = "".join(rows)
    if body:
        yield f"<h2>{title}</h2>"
        yield _table(head, body)


def _table(head: tuple[str, ...], rows: str) -> str:
    """Column titles that begin with ``>`` are set to the right."""
    cells = "".join(f'<th class="r">{h[1:]}</th>' if h.startswith(">") else f"<th>{h}</th>" for h in head)
    return f'<div class="wide"><table><tr>{cells}</tr>{rows}</table></div>'


def _prefixes(release: Release) -> Iterator[str]:
    for line in release.prefixes:
        state = _words.prefix_state(line)
        style = "warn" if line.status == "changed" or not line.digest else "dim"
        yield (
            f"<tr><td>{_code(line.template)}</td><td>{_code(line.profile) if line.profile else ''}</td>"
            f'<td>{_text(line.model)}</td><td class="r">{line.tokens:,}</td><td class="r">{line.fixtures:,}</td>'
            f'<td>{_code(_words.digest(line.digest))}</td><td class="{style}">{state}</td></tr>'
        )


def _costs(release: Release) -> Iterator[str]:
    for line in release.costs:
        cells = [
            f"{line.fixtures:,}",
            _words.tokens_of(line),
            _words.money(line.base_cold, line.cold),
            _words.money(line.base_warm, line.warm),
            _words.time(line),
        ]
        shown = "".join(f'<td class="r">{_text(c)}</td>' for c in cells)
        yield f"<tr><td>{_code(line.template)}</td><td>{_text(line.model)}</td>{shown}</tr>"


def _waivers(release: Release) -> Iterator[str]:
    for line in (*release.waivers, *_words.silenced(release)):
        times = f"used {line.count:,}×" if line.state == "used" else line.state.replace("_", " ")
        style = "dim" if line.state in ("used", "not_judged") else "warn"
        short = (
            f'<td class="n">{_text(line.rule)}</td><td>{_text(line.about)}</td><td class="n">{_text(line.expires)}</td>'
        )
        yield (
            f"<tr>{short}<td>{_text(line.owner)}</td><td>{_text(line.reason)}</td>"
            f'<td class="n {style}">{times}</td></tr>'
        )


def _ships(release: Release) -> Iterator[str]:
    for one in release.shipped:
        if one.status != "removed":
            yield (
                f"<tr><td>{one.kind}</td><td>{_code(one.id)}</td><td>{_text(one.version)}</td>"
                f"<td>{_code(_words.digest(one.digest))}</td></tr>"
            )
