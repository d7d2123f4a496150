"""A request that holds a secret is not printed: it is left out, with a finding that never shows the value."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from ctxc.base.errors import CtxcError
from ctxc.base.spans import Location, Origin
from ctxc.model.codes import code_of, severity_of
from ctxc.model.finding import Finding, Severity
from ctxc.model.section import Kind, Section

if TYPE_CHECKING:
    from ctxc.detect.match import Match
    from ctxc.model.package import Package, Placed
    from ctxc.model.project import Project

NAME = "secret-in-request"


class Withholder:
    """Looks for secrets in what packages would send; a text that many requests share is searched once."""

    def __init__(self) -> None:
        self._seen: dict[str, tuple[Match, ...]] = {}
        self._clean: set[str] = set()  # blocks that come again, in which nothing was found, nor in the line above them

    def check(self, project: Project, package: Package) -> Package:
        """The package itself, or without its request and with a finding for each secret."""
        if package.request is None:
            return package
        unknown = [placed for placed in package.placed if placed.rendered not in self._clean]
        texts = [(placed, text) for placed in unknown for text in _texts(placed)]
        marks = [(placed, text) for placed in unknown for text in _marks(placed)]
        # Texts are many and short: each is searched only where all of them together may hold something.
        fresh = [text for _, text in texts if text not in self._seen]
        lines = [text for _, text in marks]
        if not _may_hold_secrets([*fresh, *lines]):
            self._seen.update(dict.fromkeys(fresh, ()))
        elif self._secrets("\n".join(lines)):
            texts += marks
        findings: dict[str, Finding] = {}
        for placed, text in texts:
            for match in self._secrets(text):
                found = _finding(project, package.fixture_id, placed, match, text[match.start : match.end])
                findings.setdefault(found.fingerprint, found)
        if not findings:
            # A block says it all, except of a contract, whose schema is sent beside it.
            self._clean.update(
                p.rendered for p in unknown if p.stable and p.rendered and p.section.kind is not Kind.CONTRACT
            )
            return package
        return replace(package, request=None, findings=(*package.findings, *findings.values()))

    def _secrets(self, text: str) -> tuple[Match, ...]:
        found = self._seen.get(text)
        if found is None:
            from ctxc.detect.secrets import find_secrets

            # The digests are not printed here, so the key that they would need is nobody's secret.
            found = tuple(m for m in find_secrets(text, key=b"compile") if m.severity >= Severity.ERROR)
            self._seen[text] = found
        return found


def _may_hold_secrets(texts: list[str]) -> bool:
    from ctxc.detect.secret_screen import may_hold_secrets

    return may_hold_secrets(texts, severity=Severity.ERROR)


def _texts(placed: Placed) -> Iterator[str]:
    """Every text that a section sends, with the schemas of tools and of the contract."""
    section = placed.section
    if placed.content:
        yield _plain(placed.content)
    for message in section.messages:
        yield message.content
        yield from (call.arguments for call in message.tool_calls)
    for tool in section.tools:
        yield tool.description
        yield _json([tool.input_schema, tool.extra])
    if section.kind is Kind.CONTRACT and section.has_value:
        yield _json(section.value)


def _marks(placed: Placed) -> Iterator[str]:
    """What else of a section is sent: the line above it, and names."""
    if placed.content:
        above = placed.rendered.find(placed.content)
        yield placed.rendered if above < 0 else placed.rendered[:above]
    for message in placed.section.messages:
        yield from (call.name for call in message.tool_calls)
        if message.name:
            yield message.name
    yield from (tool.name for tool in placed.section.tools)


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


def _plain(content: str) -> str:
    """A text that stands in its block as a JSON string, without the escapes that every search would resolve first."""
    if content.startswith('"'):
        try:
            value = json.loads(content)
        except ValueError:
            return content
        if isinstance(value, str):
            return value
    return content


def _place(project: Project, section: Section, secret: str) -> Location:
    """Where the section comes from; in a file that is its text as a whole, where the secret stands in it."""
    location = project.sources.locate(section.origin if section.origin.path else Origin(section.source_uri))
    if location.span is None and section.origin.path:
        from ctxc.parse.spots import span_of

        try:
            whole = project.sources.read_text(location.path)
        except CtxcError:
            return location
        at = whole.find(secret)
        if at >= 0:
            return location._replace(span=span_of(whole, at, at + len(secret)))
    return location


def _finding(project: Project, fixture_id: str, placed: Placed, match: Match, secret: str) -> Finding:
    section = placed.section
    return Finding(
        code=code_of(NAME),
        name=NAME,
        severity=severity_of(NAME),
        message=f"section {section.section_id!r} {match.message}; the request is left out of the output",
        help="remove the secret where it comes from and revoke it; a placeholder such as ${API_KEY} is no secret",
        location=_place(project, section, secret),
        fixture=fixture_id,
        data={"detector": match.detector, "length": match.end - match.start},
    )
