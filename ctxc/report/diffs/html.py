"""One page for a browser that asks nobody for anything: no script, no font, no image from elsewhere.

The summary, the requests side by side, every edit word by word, and the tables. It follows the reader's dark or light
scheme, and prints.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from ctxc.model.change import Change, Edit, FixtureChange, Hunk, Run, SchemaChange
from ctxc.report._tally import plural
from ctxc.report.diffs import DiffView, _words
from ctxc.report.diffs._groups import drops, grouped
from ctxc.report.diffs._picture import picture, text

_PICTURES = 60
_OPEN = 3
_LINES = 200  # of one text on one side

_STYLE = """
:root{color-scheme:light dark;--page:#fff;--ink:#1c2128;--dim:#5b6570;--line:#d5dae0;--soft:#f4f6f8;--accent:#0b62b5;
--same:#dfe4ea;--same-edge:#aab4bf;--changed:#f7dfa5;--changed-edge:#b07c10;--added:#bfe6c6;--added-edge:#257a37;
--removed:#f6c5c2;--removed-edge:#b3302a;--moved:#c6dcf8;--moved-edge:#2a65b0;--first:#c2261f;
--system:#6f57c5;--tools:#b0722f;--turn:#2f7f86;--data:#7a8591}
@media (prefers-color-scheme:dark){:root{--page:#14181d;--ink:#e4e8ec;--dim:#9aa5b1;--line:#333b45;--soft:#1c2229;
--accent:#79b5f5;--same:#2a323b;--same-edge:#56626f;--changed:#57430f;--changed-edge:#d6a83e;--added:#16452a;
--added-edge:#55bb74;--removed:#5a2320;--removed-edge:#f0817a;--moved:#1d3c66;--moved-edge:#7fb2f2;--first:#ff7a70;
--system:#a08df0;--tools:#d99a52;--turn:#5bbac2;--data:#98a4b0}}
*{box-sizing:border-box}
body{margin:0 auto;max-width:1060px;padding:24px 20px 60px;background:var(--page);color:var(--ink);
font:15px/1.5 system-ui,-apple-system,"Segoe UI",Roboto,"Noto Sans","Noto Sans CJK SC",sans-serif}
h1{font-size:22px;margin:0 0 2px}h2{font-size:17px;margin:34px 0 10px;border-bottom:1px solid var(--line);
padding-bottom:4px}
p{margin:4px 0}.dim{color:var(--dim)}.bad{color:var(--removed-edge)}.good{color:var(--added-edge)}
.warn{color:var(--changed-edge)}code,pre,.mono{font-family:ui-monospace,SFMono-Regular,Menlo,Consolas,"Noto Sans Mono",
monospace;font-size:13px}
dl{display:grid;grid-template-columns:max-content 1fr;gap:3px 16px;margin:14px 0}dt{color:var(--dim)}dd{margin:0}
details{border:1px solid var(--line);border-radius:6px;margin:8px 0;background:var(--page)}
summary{cursor:pointer;padding:7px 12px;background:var(--soft);border-radius:6px;overflow-wrap:anywhere}
details[open]>summary{border-bottom:1px solid var(--line);border-radius:6px 6px 0 0}
.body{padding:10px 14px}.body>*{max-width:100%}
pre{margin:6px 0 12px;padding:8px 10px;background:var(--soft);border-radius:4px;white-space:pre-wrap;
overflow-wrap:anywhere}
del,ins{text-decoration:none;border-radius:2px;padding:0 1px}
del{background:var(--removed)}ins{background:var(--added)}.num{color:var(--dim);user-select:none}
.wide{overflow-x:auto}table{border-collapse:collapse;width:100%;font-size:14px}
td,th{text-align:left;padding:4px 12px 4px 0;border-bottom:1px solid var(--line);vertical-align:top}
th{color:var(--dim);font-weight:500}td.r,th.r{text-align:right}
svg{width:100%;height:auto;display:block}svg text{font:11px ui-monospace,SFMono-Regular,Menlo,Consolas,monospace;
fill:var(--ink)}svg .side{font-weight:600;font-size:13px}svg .size{text-anchor:end;fill:var(--dim)}
svg .note{fill:var(--dim);font-size:10px}svg .block{stroke-width:.8}
.unchanged{fill:var(--same);stroke:var(--same-edge)}.changed{fill:var(--changed);stroke:var(--changed-edge)}
.added{fill:var(--added);stroke:var(--added-edge)}.removed{fill:var(--removed);stroke:var(--removed-edge)}
.moved{fill:var(--moved);stroke:var(--moved-edge)}svg .removed,svg .out{stroke-dasharray:4 2}
svg .band{stroke:none;opacity:.4}svg .band.unchanged{opacity:.22}svg .band.moved{opacity:.75}
svg .prefix{stroke:var(--accent);stroke-width:2;stroke-dasharray:7 4}svg .first{fill:var(--first)}
svg .zone{stroke:none}.zone.system{fill:var(--system)}.zone.tools{fill:var(--tools)}.zone.turn{fill:var(--turn)}
.zone.data{fill:var(--data)}
.key{display:inline-block;width:12px;height:12px;border-radius:2px;margin:0 5px 0 14px;vertical-align:-1px;
border:1px solid}.key.unchanged{background:var(--same);border-color:var(--same-edge)}
.key.changed{background:var(--changed);border-color:var(--changed-edge)}
.key.added{background:var(--added);border-color:var(--added-edge)}
.key.removed{background:var(--removed);border-color:var(--removed-edge)}
.key.moved{background:var(--moved);border-color:var(--moved-edge)}
.key.s{background:var(--system);border:0}.key.t{background:var(--tools);border:0}.key.u{background:var(--turn);border:0}
.key.d{background:var(--data);border:0}
"""
# Nothing may be loaded, sent or run, whatever a prompt says.
_POLICY = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'"


def render(change: Change, view: DiffView) -> str:
    """A whole HTML document."""
    body = [*_head(change)]
    if not view.stat:
        body += [*_requests(change), *_edits(change)]
    body += [*_others(change), *_tables(change)]
    title = text(f"ctxc diff {_words.sides(change)}")
    return (
        f'<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">\n'
        f'<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f'<meta name="referrer" content="no-referrer">\n<title>{title}</title>\n<style>{_STYLE}</style>\n</head>\n'
        f"<body>\n{''.join(body)}</body>\n</html>\n"
    )


def _head(change: Change) -> Iterator[str]:
    yield f"<h1>{text(_words.headline(change))}</h1>\n<p class='dim'>{text(_words.sides(change))}</p>\n"
    found = _words.summary(change)
    if found:
        lines = "".join(f"<dt>{text(line.label)}</dt><dd class='{line.style}'>{text(line.text)}</dd>" for line in found)
        yield f"<dl>{lines}</dl>\n"


def _requests(change: Change) -> Iterator[str]:
    """The requests side by side, those that differ most first."""
    found = [f for f in _words.differing(change) if f.base_layout or f.head_layout]
    if not found:
        return
    found.sort(key=lambda f: (-_effect(f), f.fixture_id))
    yield "<h2>Requests</h2>\n<p class='dim'>Each block is a section, as high as its tokens."
    for name in ("unchanged", "changed", "moved", "added", "removed"):
        yield f"<span class='key {name}'></span>{name}"
    yield " <br>The stripe is its zone:"
    for key, name in (("s", "system"), ("t", "tools"), ("u", "turn"), ("d", "data")):
        yield f"<span class='key {key}'></span>{name}"
    yield ". The dashed line is where the cached prefix ends, the arrow where the two requests part.</p>\n"
    for number, fixture in enumerate(found[:_PICTURES]):
        yield _folded(_fixture_title(fixture), _fixture_body(fixture), is_open=number < _OPEN)
    if len(found) > _PICTURES:
        yield f"<p class='dim'>{len(found) - _PICTURES:,} more fixtures differ; they are in the table below.</p>\n"


def _effect(fixture: FixtureChange) -> int:
    lost = fixture.prefix.lost_tokens if fixture.prefix is not None else 0
    return lost + sum(abs(s.delta) for s in fixture.sections) + abs(fixture.tokens.delta or 0)


def _fixture_title(fixture: FixtureChange) -> str:
    delta = fixture.tokens.delta
    parts = [fixture.status, f"{_words.signed(delta)} tokens" if delta is not None else "", ", ".join(fixture.facets)]
    return _named(fixture.fixture_id, "  ".join(filter(None, parts)))


def _named(name: str, facts: str) -> str:
    return f"<strong>{text(name)}</strong> <span class='dim'>{text(facts)}</span>"


def _fixture_body(fixture: FixtureChange) -> Iterator[str]:
    first = fixture.prefix.first_difference if fixture.prefix is not None else None
    if first is not None and fixture.prefix is not None:
        lost = f"; {plural(fixture.prefix.lost_tokens, 'token')} lose their cache" if fixture.prefix.lost_tokens else ""
        yield f"<p>first difference at {text(_words.first_difference(first))}, {text(first.reason)}{text(lost)}</p>\n"
    yield picture(fixture) + "\n"
    told = [f for f in fixture.fields if f.name != "problems"]
    if told:
        yield f"<p class='dim'>{text('; '.join(_words.field_told(f) for f in told))}</p>\n"
    for problem in _words.problems([fixture]):
        yield f"<p class='bad'>{text(problem)}</p>\n"


def _edits(change: Change) -> Iterator[str]:
    if change.edits:
        yield "<h2>Sections, largest effect first</h2>\n"
    for edit in change.edits:
        name, facts = _words.edit_title(edit)
        title = f"<strong>{text(name)}</strong> <span class='dim'>{text(facts.replace('  ', ', '))}</span>"
        yield _folded(title, _edit_body(edit), is_open=not _words.is_drop(edit))


def _edit_body(edit: Edit) -> Iterator[str]:
    section = edit.section
    notes = [f"in {_words.some(edit.fixtures, 8)}"]
    notes += [_words.position_told(section)] if "order" in section.facets else []
    notes += [_words.field_told(f) for f in section.fields if f.name != "id"]
    if edit.lost_tokens:
        notes.append(f"first difference of the prefix: {plural(edit.lost_tokens, 'token')} lose their cache")
    if section.masked and "content" in section.facets:
        notes.append("its text is sensitive and is not shown")
    for note in filter(None, notes):
        yield f"<p class='dim'>{text(note)}</p>\n"
    yield from _hunks(section.hunks)


def _hunks(hunks: Iterable[Hunk]) -> Iterator[str]:
    for hunk in hunks:
        told = _words.times_told(hunk)
        more = f" <span class='warn'>{text(told)}</span>" if told else ""
        yield f"<p class='mono dim'>{text(_words.hunk_place(hunk))}{more}</p>\n"
        lines = [f"<span class='dim'>{_lines(line)}</span>" for line in hunk.before]
        if hunk.kind == "moved":
            lines.append(f"<span class='warn'>{_lines(hunk.runs[0].text)}</span>")
        else:
            lines.append("".join(_run(r) for r in hunk.runs))
        lines += [f"<span class='dim'>{_lines(line)}</span>" for line in hunk.after]
        yield f"<pre>{chr(10).join(lines)}</pre>\n"


def _lines(value: str) -> str:
    """A text with its line ends, inert; cut where it is very long."""
    parts = value.split("\n")
    shown = "\n".join(text(part) for part in parts[:_LINES])
    return shown if len(parts) <= _LINES else f"{shown}\n… {len(parts) - _LINES:,} more lines"


def _run(run: Run) -> str:
    if run.op == "~":
        return f"<span class='num'> … {int(run.text):,} characters … </span>"
    if run.op == "=":
        return _lines(run.text)
    tag = "del" if run.op == "-" else "ins"
    # A line end alone would be an empty mark.
    return f"<{tag}>{_lines(run.text) if run.text.strip() else text(run.text)}</{tag}>"


def _others(change: Change) -> Iterator[str]:
    found = _words.differing(change)
    for fixtures, tools in grouped((f, f.tools) for f in found):
        yield f"<h2>Tools: {text(_words.tools_told(tools))}</h2>\n<p class='dim'>{_where(fixtures)}</p>\n"
        for tool in tools.tools:
            name = tool.name if not tool.renamed_from else f"{tool.renamed_from} → {tool.name}"
            unseen = [f"<li>{text(_words.field_told(f))} (no provider sees it)</li>" for f in tool.unseen]
            body = [*_schema(tool.changes), f"<ul>{''.join(unseen)}</ul>" if unseen else "", *_hunks(tool.hunks)]
            if any(body):
                yield _folded(
                    f"<strong>{text(name)}</strong> <span class='dim'>{tool.status}</span>", body, is_open=True
                )
            else:
                yield f"<p>{text(name)} <span class='dim'>{tool.status}</span></p>\n"
    for fixtures, contract in grouped((f, f.contract) for f in found):
        yield f"<h2>Contract {text(contract.head or contract.base)}</h2>\n<p class='dim'>{_where(fixtures)}</p>\n"
        if contract.reserialized:
            yield "<p>re-serialized: equal as a value</p>\n"
        yield from _schema(contract.changes)
        yield from _hunks(contract.hunks)
    left_out = list(drops(change))
    if left_out:
        yield "<h2>Left out</h2>\n" + _table(
            ("section", "", "tokens", "fixtures"),
            [[text(s), text(told), _number(tokens), text(_words.some(names))] for s, told, tokens, names in left_out],
        )


def _where(fixtures: Sequence[FixtureChange]) -> str:
    return text(f"in {_words.some([f.fixture_id for f in fixtures], 8)}")


def _schema(changes: Iterable[SchemaChange]) -> Iterator[str]:
    lines = [
        f"<li><span class='{'bad' if c.breaking else 'good'}'>{'breaking' if c.breaking else 'compatible'}</span> "
        f"<code>{text(c.pointer or '/')}</code> {text(c.reason)}</li>"
        for c in changes
        if c.kind != "description"
    ]
    if lines:
        yield f"<ul>{''.join(lines)}</ul>\n"


def _tables(change: Change) -> Iterator[str]:
    found = _words.differing(change)
    if found:
        rows = [
            [
                text(f.fixture_id),
                f.status,
                _number(f.tokens.base),
                _number(f.tokens.head),
                "" if f.tokens.delta is None else _words.signed(f.tokens.delta),
                _number(f.budget.head_headroom),
                text(", ".join(f.facets)),
            ]
            for f in found
        ]
        yield "<h2>Fixtures</h2>\n" + _table(("fixture", "", "base", "head", "delta", "headroom", "facets"), rows)
    if change.versions:
        rows = [
            [text(f"{v.kind} {v.id}"), text(_words.version_told(v)), text(v.reason), text(v.path)]
            for v in change.versions
        ]
        yield "<h2>Versions</h2>\n" + _table(("object", "version", "what changed", "file"), rows)
    if change.sources:
        rows = [[f"<code>{text(s.path)}</code>", s.status, text(_words.source_told(s))] for s in change.sources]
        yield "<h2>Files</h2>\n" + _table(("file", "", "reaches"), rows)


def _number(value: int | None) -> str:
    return "" if value is None else f"{value:,}"


_RIGHT = frozenset(("tokens", "base", "head", "delta", "headroom"))


def _table(titles: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table of cells that are HTML already."""
    classes = [" class='r'" if t in _RIGHT else "" for t in titles]
    head = "".join(f"<th{c}>{t}</th>" for c, t in zip(classes, titles, strict=True))
    lines = "".join(
        f"<tr>{''.join(f'<td{c}>{cell}</td>' for c, cell in zip(classes, row, strict=True))}</tr>\n" for row in rows
    )
    return f"<div class='wide'><table><tr>{head}</tr>\n{lines}</table></div>\n"


def _folded(title: str, body: Iterable[str], *, is_open: bool = False) -> str:
    return (
        f"<details{' open' if is_open else ''}><summary>{title}</summary>"
        f"<div class='body'>{''.join(body)}</div></details>\n"
    )
