"""Suppressions: which findings they silence, and what is wrong with the suppressions themselves.

They stand in comments of YAML (``ctxc.parse.pragmas``), under the key ``ctxc_ignore`` of front matter and manifests,
and under ``per-file-ignores`` of the configuration. A suppressed finding stays in every machine format. The gate
judges a change by the suppressions of its base as well: it collects entries of two projects and applies them in turn.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from datetime import date
from typing import TYPE_CHECKING, Any

from ctxc.base.globs import matches_glob
from ctxc.base.spans import Location, Span
from ctxc.base.values import dataclass
from ctxc.model.codes import code_of, severity_of
from ctxc.model.finding import Edit, Finding, Fix, Suppression
from ctxc.rules import codes_of

if TYPE_CHECKING:
    from ctxc.model.project import Settings

_HEAD = 4  # lines of a Markdown file in which a stray comment of ours would stand at the earliest


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """One suppression.

    ``kind`` is inline (a line), file (a whole file, or what lies below ``pointer``) or config (files that match the
    glob ``path``). ``words`` are codes or names as written, ``line`` is the line that an inline one speaks of.
    ``fault`` says why it cannot be honoured. ``whole``: the comment is all that stands on its line;
    ``blanks``: how much white space is before it.
    """

    kind: str
    path: str
    words: tuple[str, ...]
    location: Location
    line: int = 0
    pointer: str = ""
    until: str = ""
    reason: str = ""
    fault: str = ""
    whole: bool = False
    blanks: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Applied:
    """Findings that count, findings that do not, and what is wrong with the suppressions."""

    findings: tuple[Finding, ...]
    suppressed: tuple[Finding, ...]
    hygiene: tuple[Finding, ...]


def from_file(path: str, data: bytes) -> tuple[Entry, ...]:
    """The suppressions in a file's bytes; none in a file that cannot be read."""
    if b"ctxc" not in data:
        return ()
    from ctxc.parse.document import syntax_of
    from ctxc.parse.text import decode

    text = decode(data).text
    if text is None:
        return ()
    syntax = syntax_of(path)
    found: list[Entry] = []
    if syntax == "yaml" and "ctxc:" in text:
        found.extend(_comments(path, text))
    if syntax == "markdown" and "ctxc:" in text:
        found.extend(_misplaced(path, text))
    if syntax in ("yaml", "json", "markdown") and "ctxc_ignore" in text:
        found.extend(_keys(path, data))
    return tuple(found)


def _comments(path: str, text: str) -> Iterable[Entry]:
    from ctxc.parse.pragmas import pragmas

    lines = text.split("\n")
    for pragma in pragmas(text):
        before = lines[pragma.span.line - 1][: pragma.span.column - 1]
        yield Entry(
            kind="file" if pragma.scope == "file" else "inline",
            path=path,
            words=pragma.codes,
            location=Location(path, pragma.span),
            line=pragma.line,
            until=pragma.until,
            reason=pragma.reason,
            fault=pragma.fault or _bad_day(pragma.until),
            whole=not before.strip(),
            blanks=len(before) - len(before.rstrip()),
        )


def _misplaced(path: str, text: str) -> Iterable[Entry]:
    """A comment of ours in Markdown: in the body it would reach the model, in front matter it says nothing."""
    for number, line in enumerate(text.split("\n"), 1):
        bare = line.strip()
        if bare.startswith(("# ctxc: ignore", "<!-- ctxc: ignore")):
            start = line.index(bare) + 1
            yield Entry(
                kind="file",
                path=path,
                words=(),
                location=Location(path, Span(number, start, number, start + len(bare))),
                fault="a comment does not count in Markdown; write the front matter key `ctxc_ignore`",
            )


def _keys(path: str, data: bytes) -> Iterable[Entry]:
    """``ctxc_ignore`` of the whole file, and of each object in a list of them."""
    from ctxc.parse import document
    from ctxc.parse.scalars import typed

    parsed = document.parse(path, data)
    if parsed.is_broken:
        return
    value = typed(parsed.value)
    holders: list[tuple[str, Any]] = [("", value)]
    listed = value.get("fragments", value.get("turns")) if isinstance(value, dict) else value
    prefix = "/fragments" if isinstance(value, dict) and "fragments" in value else "/turns"
    if isinstance(listed, list):
        prefix = prefix if isinstance(value, dict) else ""
        holders.extend((f"{prefix}/{n}", item) for n, item in enumerate(listed))
    places: dict[str, tuple[Span, Span | None]] = {}
    for pointer, holder in holders:
        entries = holder.get("ctxc_ignore") if isinstance(holder, dict) else None
        for number, entry in enumerate(entries if isinstance(entries, list) else ()):
            places = places or document.places(path, data)
            at = f"{pointer}/ctxc_ignore/{number}"
            fields = entry if isinstance(entry, dict) else {"rule": entry}
            until = str(fields.get("until") or "")
            yield Entry(
                kind="file",
                path=path,
                words=(str(fields.get("rule") or ""),),
                location=Location(path, document.find(places, at, key=False), at),
                pointer=pointer,
                until=until,
                reason=str(fields.get("reason") or ""),
                fault=_bad_day(until),
            )


def from_settings(settings: Settings, place: Location) -> tuple[Entry, ...]:
    """``per-file-ignores`` of the configuration; ``place`` is where it stands."""
    return tuple(
        Entry(kind="config", path=glob, words=words, location=place)
        for glob, words in settings.per_file_ignores.items()
    )


def _bad_day(until: str) -> str:
    if not until:
        return ""
    try:
        date.fromisoformat(until)
    except ValueError:
        return f"`until={until[:40]}` is no day; write until=YYYY-MM-DD"
    return "" if len(until) == 10 else f"`until={until[:40]}` is no day; write until=YYYY-MM-DD"


class _Judge:
    """The entries of one run, and which of their codes silenced something."""

    def __init__(self, entries: Iterable[Entry], now: str, known: Mapping[str, str]) -> None:
        self.entries = tuple(entries)
        self.now = now
        words = {w for e in self.entries for w in e.words}
        self.codes = codes_of(words, known.items())
        self.used: set[tuple[int, str]] = set()
        self.live: list[tuple[int, Entry]] = [
            (n, e) for n, e in enumerate(self.entries) if not e.fault and not (e.until and e.until < now)
        ]
        self.by_path: dict[str, list[tuple[int, Entry]]] = {}
        for number, entry in self.live:
            if entry.kind != "config":
                self.by_path.setdefault(entry.path, []).append((number, entry))
        self.configured = [(n, e) for n, e in self.live if e.kind == "config"]

    def judge(self, finding: Finding) -> Suppression | None:
        """The suppression of a finding; an inline one counts before a file's, and that before the configuration's."""
        path = finding.location.path
        for number, entry in self.by_path.get(path, ()):
            if self._covers(entry, finding) and (word := self._word(entry, finding.code)):
                self.used.add((number, word))
                return Suppression(kind=entry.kind, reason=entry.reason, until=entry.until)
        return self.configured_for(finding)

    def configured_for(self, finding: Finding) -> Suppression | None:
        """The entry of the configuration that silences a finding; none silences what is said of itself."""
        for number, entry in self.configured:
            if matches(finding.location.path, entry.path) and (word := self._word(entry, finding.code)):
                if finding.data.get("glob") == entry.path:
                    continue
                self.used.add((number, word))
                return Suppression(kind="config", reason=f"per-file-ignores {entry.path}")
        return None

    def _covers(self, entry: Entry, finding: Finding) -> bool:
        if entry.kind == "inline":
            span = finding.location.span
            return span is not None and span.line == entry.line
        pointer = finding.location.pointer
        return not entry.pointer or pointer == entry.pointer or pointer.startswith(entry.pointer + "/")

    def _word(self, entry: Entry, code: str) -> str:
        return next((w for w in entry.words if code in self.codes[w]), "")


def apply(
    findings: Iterable[Finding],
    entries: Iterable[Entry],
    *,
    now: str,
    ran: frozenset[str],
    known: Mapping[str, str],
    paths: Iterable[str] = (),
) -> Applied:
    """Findings with their suppressions, and what is wrong with these.

    ``ran`` are the codes that were looked for: only of those can a suppression be called unused. ``known`` maps the
    codes of rules from outside to their names, ``paths`` are the files there are.
    """
    judge = _Judge(entries, now, known)
    # Inline comments first, whatever order the files gave.
    for listed in judge.by_path.values():
        listed.sort(key=lambda p: p[1].kind != "inline")
    counting: list[Finding] = []
    silenced: list[Finding] = []
    for finding in findings:
        found = judge.judge(finding)
        if found is None:
            counting.append(finding)
        else:
            silenced.append(replace(finding, suppressed=found))
    hygiene: list[Finding] = []
    for kinds in (("inline", "file"), ("config",)):  # what silences the first is thereby used
        for finding in _hygiene(judge, ran, tuple(paths), kinds):
            found = judge.configured_for(finding) if finding.code in ran else None
            if found is not None:
                silenced.append(replace(finding, suppressed=found))
            elif finding.code in ran:
                hygiene.append(finding)
    return Applied(findings=tuple(counting), suppressed=tuple(silenced), hygiene=tuple(hygiene))


def matches(path: str, pattern: str) -> bool:
    """Whether a path matches a glob; ``*`` crosses folders, ``**/`` also matches none, a folder what is in it."""
    return matches_glob(path, pattern) or matches_glob(path, pattern.rstrip("/") + "/*")


def _hygiene(judge: _Judge, ran: frozenset[str], paths: tuple[str, ...], kinds: tuple[str, ...]) -> Iterable[Finding]:
    for number, entry in enumerate(judge.entries):
        if entry.kind not in kinds:
            continue
        if entry.fault:
            yield _made("malformed-suppression", entry, f"this suppression does not count: {entry.fault}",
                        "write `# ctxc: ignore[CTX201] until=2027-03-31 reason: why`")  # fmt: skip
            continue
        unknown = [w for w in entry.words if not judge.codes[w]]
        for word in unknown:
            yield _unknown(entry, word)
        if entry.until and entry.until < judge.now:
            words = ", ".join(entry.words)
            yield _made("expired-suppression", entry, f"the suppression of {words} ended on {entry.until}",
                        "mend what it silenced, or decide anew until when it is accepted",
                        {"until": entry.until})  # fmt: skip
            continue
        if entry.kind != "config" and not entry.reason.strip():
            message = f"the suppression of {', '.join(entry.words)} gives no reason"
            yield _made("suppression-without-reason", entry, message, "add `reason: why`")
        idle = [w for w in entry.words
                if w not in unknown and (number, w) not in judge.used and judge.codes[w] <= ran]  # fmt: skip
        if idle:
            yield _unused(entry, idle, paths)


def _unknown(entry: Entry, word: str) -> Finding:
    from ctxc.model.codes import CODES
    from ctxc.parse.problems import did_you_mean

    names = [*CODES, *(name for name, _ in CODES.values())]
    return _made("unknown-suppression", entry, f"there is no rule {word!r}{did_you_mean(word, names)}",
                 "`ctxc rule --all` lists codes and names", {"word": word})  # fmt: skip


def _unused(entry: Entry, idle: list[str], paths: tuple[str, ...]) -> Finding:
    if entry.kind == "config":
        there = any(matches(p, entry.path) for p in paths)
        what = f"per-file-ignores {entry.path!r}: " + (
            f"{', '.join(idle)} silence{'s' if len(idle) == 1 else ''} nothing" if there else "no file matches"
        )
        return _made("unused-ignore", entry, what, "remove it", {"glob": entry.path, "rules": idle})
    finding = _made("unused-suppression", entry, f"the suppression of {', '.join(idle)} silences nothing",
                    "remove it", {"rules": idle})  # fmt: skip
    span = entry.location.span
    if (entry.line or entry.whole) and span is not None and set(idle) == set(entry.words):
        return replace(finding, fix=_removal(entry, span))
    return finding


def _removal(entry: Entry, span: Span) -> Fix:
    """Take the comment away; with its line where nothing else stands there, else with the white space before it."""
    start = span._replace(column=span.column - entry.blanks)
    if entry.whole:
        start = Span(span.line, 1, span.line + 1, 1)
    return Fix(
        title="remove the suppression",
        edits=(Edit(location=entry.location._replace(span=start), text=""),),
        safe=True,
    )


def _made(name: str, entry: Entry, message: str, help: str, data: Mapping[str, Any] | None = None) -> Finding:
    return Finding(
        code=code_of(name),
        name=name,
        severity=severity_of(name),
        message=message,
        help=help,
        location=entry.location,
        data=dict(data or {}),
    )
