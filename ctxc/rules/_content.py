"""What the detectors find in the texts of a project, computed once and turned into findings by the rules.

Whole files are searched for secrets and for characters (a comment leaks a key, and hides a control, as well as a value
does); texts that a model is shown are searched for everything else. A value is judged as it is after its escapes are
resolved, so that ``"\\u202e"`` in YAML or JSON is found as well.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import cache
from typing import TYPE_CHECKING, NamedTuple

from ctxc.base.canonical import digest_text
from ctxc.base.spans import Location
from ctxc.detect.match import Match
from ctxc.model.finding import Finding, Severity
from ctxc.model.section import Authority
from ctxc.parse.document import syntax_of
from ctxc.parse.spots import span_of
from ctxc.rules._files import data_files, project_files
from ctxc.rules._texts import Shown, application_texts, data_texts, data_texts_of, search
from ctxc.rules.engine import Context, Rule

if TYPE_CHECKING:
    from ctxc.detect.secret_rules import SecretRule

_STRUCTURED = ("yaml", "json", "jsonl")
_IN_NAMES = frozenset({"unicode.U007", "unicode.U008", "unicode.U013"})  # what is said of names only
_HIDDEN_BY_ENCODING = frozenset(f"unicode.U0{n}" for n in range(15, 20))


class Found(NamedTuple):
    """A match with its place, and whose text it stands in (None: in a file outside of what a model is shown)."""

    match: Match
    location: Location
    what: str
    data: bool = False


def report(
    rule: Rule, context: Context, found: Iterable[Found], help: str, *, level: Severity | None = None
) -> Iterator[Finding]:
    """One finding for each match, as severe as the match (or ``level``), with what masks a value in its place."""
    for one in found:
        match = one.match
        length = "" if "characters" in match.message else f", {match.length:,} characters"
        shown = f" ({match.prefix}…{length})" if match.digest else ""
        where = f" in {one.what}" if one.what else ""
        decoded = f", behind {' in '.join(match.via)}" if match.via else ""
        yield rule.finding(
            context,
            f"{match.message}{shown}{where}{decoded}",
            at=one.location,
            help=help,
            severity=level or (min(match.severity, rule.severity) if one.data else match.severity),
            data={
                "detector": match.detector,
                **({"length": match.length, "prefix": match.prefix, "digest": match.digest} if match.digest else {}),
                **({"via": list(match.via)} if match.via else {}),
            },
        )


def _in_texts(
    about: str, texts: Iterable[Shown], context: Context, find: Callable[[str], Iterable[Match]]
) -> Iterator[Found]:
    for shown, match in search(context, about, texts, find):
        data = shown.authority >= Authority.T3
        yield Found(match, shown.place(context, match.start, match.end), shown.what, data)


# --- secrets --------------------------------------------------------------------------------------------------------


def secrets(context: Context) -> tuple[Found, ...]:
    """Secrets anywhere in the project's files."""
    return context.shared(_secrets)


def own_secret_rules(context: Context) -> tuple[SecretRule, ...]:
    """The secret rules that the configuration of the project adds."""
    from ctxc.detect.secret_rules import parse_rules

    paths = context.project.settings.extra.get("secret-rules", ())
    return tuple(r for path in paths for r in parse_rules(context.project.sources.read_text(path), path=path))


def _secrets(context: Context) -> tuple[Found, ...]:
    from ctxc.detect.secrets import find_secrets

    extra = own_secret_rules(context)
    found = []
    about = f"secrets {digest_text(repr(extra))}" if extra else "secrets"
    for path in project_files(context):
        if context.clean is not None and context.clean.has(about, path):
            continue
        text = context.text(path)
        matches = tuple(find_secrets(text, key=context.key, extra=extra))
        found += [Found(m, Location(path, span_of(text, m.start, m.end)), "") for m in matches]
        if context.clean is not None and not matches:
            context.clean.note(about, path)
    return tuple(found)


# --- personal data and leaks ------------------------------------------------------------------------------------------


def personal(context: Context) -> tuple[Found, ...]:
    """Personal data in the application's own texts."""
    return context.shared(_personal)


def _personal(context: Context) -> tuple[Found, ...]:
    from ctxc.detect.pii import find_personal_data

    texts = application_texts(context)
    return tuple(_in_texts("personal data", texts, context, lambda t: find_personal_data(t, key=context.key)))


def personal_in_data(context: Context) -> Iterator[Found]:
    """Personal data in what fixtures record."""
    from ctxc.detect.pii import find_personal_data

    return _in_texts("personal data", data_texts(context), context, lambda t: find_personal_data(t, key=context.key))


def addresses(context: Context) -> Iterator[Found]:
    """Addresses of internal hosts in the application's own texts."""
    from ctxc.detect.leaks import find_internal_urls

    texts = application_texts(context)
    return _in_texts("internal addresses", texts, context, lambda t: find_internal_urls(t, key=context.key))


def traces(context: Context) -> Iterator[Found]:
    """Stack traces in the application's own texts."""
    from ctxc.detect.leaks import find_stack_traces

    texts = application_texts(context)
    return _in_texts("stack traces", texts, context, lambda t: find_stack_traces(t, key=context.key))


# --- characters -------------------------------------------------------------------------------------------------------


def characters(context: Context, *rules: str) -> Iterator[Found]:
    """Hidden and deceptive characters of some rules (``U004``), except what encoding hides in recorded data."""
    wanted = {f"unicode.{r}" for r in rules}
    return (f for f in context.shared(_characters) if f.match.detector in wanted and not _is_encoded_data(f))


def encoded_data(context: Context) -> Iterator[Found]:
    """What encoding or markup hides in recorded data (U015 to U019)."""
    return (f for f in context.shared(_characters) if _is_encoded_data(f))


def _is_encoded_data(found: Found) -> bool:
    return found.data and found.match.detector in _HIDDEN_BY_ENCODING


def _characters(context: Context) -> tuple[Found, ...]:
    from ctxc.detect.unicode import find_unicode

    data = data_files(context)
    found: list[Found] = []
    for path in project_files(context):
        syntax = syntax_of(path)
        markup = syntax in ("markdown", "text")
        about = f"characters {path in data} {markup}"
        if context.clean is not None and context.clean.has(about, path):
            continue
        text = context.text(path)
        matches = tuple(find_unicode(text, context="data" if path in data else "trusted", markup=markup))
        if context.clean is not None and not matches:
            context.clean.note(about, path)
        for match in matches:
            # An escape in YAML or JSON is judged below, as the character that it stands for.
            if match.detector != "unicode.U019" or syntax not in _STRUCTURED:
                found.append(Found(match, Location(path, span_of(text, match.start, match.end)), "", path in data))
    found.extend(_escaped(context, data))
    found.extend(_in_names(context))
    return tuple(found)


def _in_names(context: Context) -> Iterator[Found]:
    """Look-alikes and odd spaces in names: of files, and of the fields that a model is told to write."""
    from ctxc.detect.unicode import find_unicode

    for path in project_files(context):
        if not path.isascii():
            for match in find_unicode(path, context="identifier"):
                yield Found(match, Location(path), "the name of the file", False)
    for shown in application_texts(context):
        if shown.key and not shown.text.isascii():
            for match in find_unicode(shown.text, context="identifier"):
                if match.detector in _IN_NAMES:
                    yield Found(match, shown.place(context, match.start, match.end), f"a name of {shown.what}")


def _escaped(context: Context, data: frozenset[str]) -> Iterator[Found]:
    """Characters of values that the file itself does not hold, and escapes that a model would read as such."""
    from ctxc.detect.unicode import find_unicode

    present = frozenset(project_files(context))

    @cache
    def written(path: str) -> str:
        """The text of a structured file with escapes; empty for any other."""
        text = context.text(path) if path in present and syntax_of(path) in _STRUCTURED else ""
        return text if "\\" in text else ""

    for shown in (*application_texts(context), *data_texts_of(context, lambda p: bool(written(p)))):
        path = shown.origin.path
        raw = "" if shown.body else written(path)
        if not raw:
            continue
        unwritten = not shown.text.isascii() or not shown.text.isprintable()
        if not unwritten and "\\u" not in shown.text and "&#" not in shown.text:
            continue
        for match in find_unicode(shown.text, context="data" if path in data else "trusted"):
            if match.detector == "unicode.U019" or shown.text[match.start : match.end] not in raw:
                yield Found(match, shown.place(context, match.start, match.end), shown.what, path in data)


# --- roles, delimiters, instructions ----------------------------------------------------------------------------------


def roles(context: Context) -> Iterator[Found]:
    """Role and control tokens in the application's own texts, as severe as in a raw prompt."""
    from ctxc.detect.role_tokens import find_role_tokens

    texts = application_texts(context)
    yield from _in_texts("raw role tokens", texts, context, lambda t: find_role_tokens(t, raw=True))


def delimiters(context: Context) -> Iterator[Found]:
    """Ends of blocks in the application's own texts that nothing there has opened."""
    from ctxc.detect.delimiters import find_delimiters

    for shown, match in search(context, "delimiters", application_texts(context), find_delimiters):
        if not _is_opened(shown.text, match):
            yield Found(match, shown.place(context, match.start, match.end), shown.what)


def _is_opened(text: str, match: Match) -> bool:
    """Whether a closing tag or bracket has an opening one of the same name before it."""
    written = text[match.start : match.end].strip()
    if match.via or not written.startswith(("</", "[/")):
        return False
    name = written[2:].strip().rstrip(">]").split()[0].split("|")[0]
    return f"{written[0]}{name}".casefold() in text[: match.start].casefold()


def injections(context: Context) -> Iterator[Found]:
    """What looks like an injected instruction in the application's own texts."""
    from ctxc.detect.injection import find_injections

    return _in_texts("injections", application_texts(context), context, find_injections)


def attacks(context: Context) -> Iterator[Found]:
    """Role tokens, ends of blocks and injected instructions in what fixtures record."""
    from ctxc.detect.delimiters import find_delimiters
    from ctxc.detect.injection import find_injections
    from ctxc.detect.role_tokens import find_role_tokens

    for about, find in (
        ("role tokens", find_role_tokens),
        ("delimiters", find_delimiters),
        ("injections", find_injections),
    ):
        yield from _in_texts(about, data_texts(context), context, find)


def at_least(found: Iterable[Found], severity: Severity) -> Iterator[Found]:
    """Matches that are not mere information."""
    return (f for f in found if f.match.severity >= severity)


def certain(found: Iterable[Found]) -> Iterator[Found]:
    """Matches that are errors by themselves."""
    return at_least(found, Severity.ERROR)


def possible(found: Iterable[Found]) -> Iterator[Found]:
    """Matches that are warnings by themselves."""
    return (f for f in found if f.match.severity is Severity.WARNING)


def of(found: Iterable[Found], *detectors: str) -> Iterator[Found]:
    """Matches of some detectors that are not mere information."""
    return (f for f in found if f.match.detector in detectors and f.match.severity > Severity.INFO)


def named_hosts(context: Context) -> Iterator[Found]:
    """Host names that the configuration calls internal, in the application's own texts."""
    import re

    hosts = [h for h in context.project.settings.extra.get("internal-hosts", ()) if isinstance(h, str)]
    if not hosts:
        return
    pattern = re.compile(r"(?<![\w.-])(?:" + "|".join(map(re.escape, hosts)) + r")(?![\w-])", re.I)
    for shown in application_texts(context):
        for found in pattern.finditer(shown.text):
            match = Match(
                detector="leak.internal-url", severity=Severity.ERROR, start=found.start(), end=found.end(),
                message="the name of an internal host",
            )  # fmt: skip
            yield Found(match, shown.place(context, *found.span()), shown.what)
