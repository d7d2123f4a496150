"""A rule's docstring as documentation: its fixed parts, its examples as files, and the page of all rules.

A docstring has a first paragraph (what is found), then ``Why:``, ``Bad:``, ``Good:`` and ``Mend:``. An example is
indented and holds one or more files, each under a line ``# file: PATH``; a line ``# link: PATH -> TARGET`` makes a
symbolic link. What cannot be printed is written as ``⟨U+200B⟩``, a raw byte as ``⟨0xE9⟩``, and
``# file: PATH (repeated N times)`` repeats what follows it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from textwrap import dedent
from typing import TYPE_CHECKING

from ctxc.base.errors import InternalFault
from ctxc.base.values import dataclass

if TYPE_CHECKING:
    from ctxc.rules.engine import Rule

PARTS = ("Why", "Bad", "Good", "Mend")

_PART = re.compile(r"^(Why|Bad|Good|Mend):[ \t]*", re.M)
_FILE = re.compile(r"# file: (?P<path>.+?)(?: \(repeated (?P<times>\d+) times\))?\Z")
_LINK = re.compile(r"# link: (?P<path>.+?) -> (?P<target>.+)\Z")
_CHAR = re.compile(r"⟨(?:U\+(?P<code>[0-9A-F]{4,6})|0x(?P<byte>[0-9A-F]{2}))⟩")

FAMILIES = (
    "Loading and schema",
    "Manifests and composition",
    "Budget, cost and latency",
    "Content",
    "Cache",
    "Trust",
    "Tools and contracts",
    "Versions and compatibility",
    "Expectations and evidence",
    "Hygiene",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Example:
    """The files of an example: bytes by path, and links."""

    files: Mapping[str, bytes]
    links: Mapping[str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Documentation:
    """The parts of a docstring; ``bad`` and ``good`` as they are written."""

    what: str
    why: str
    bad: str
    good: str
    mend: str


def read(doc: str) -> Documentation:
    """The parts of a rule's docstring; raises InternalFault where one is missing or stands out of order."""
    pieces = _PART.split(doc.strip())
    names, texts = pieces[1::2], pieces[2::2]
    if tuple(names) != PARTS:
        raise InternalFault(f"a rule's documentation has the parts {names}, not {list(PARTS)}: {doc[:60]!r}")
    why, bad, good, mend = (
        dedent(t).strip("\n") if n in ("Bad", "Good") else _flow(t) for n, t in zip(names, texts, strict=True)
    )
    return Documentation(what=_flow(pieces[0]), why=why, bad=bad, good=good, mend=mend)


def _flow(text: str) -> str:
    return "\n\n".join(" ".join(p.split()) for p in text.strip().split("\n\n"))


def files(example: str) -> Example:
    """The files of an example; raises InternalFault for text that belongs to none."""
    found: dict[str, list[str]] = {}
    times: dict[str, int] = {}
    links: dict[str, str] = {}
    here: list[str] | None = None
    for line in example.split("\n"):
        opened, linked = _FILE.match(line), _LINK.match(line)
        if opened:
            path = decoded(opened["path"]).decode("utf-8")
            here = found.setdefault(path, [])
            times[path] = int(opened["times"] or 1)
        elif linked:
            links[linked["path"]] = linked["target"]
            here = None
        elif here is not None:
            here.append(line)
        elif line.strip():
            raise InternalFault(f"a line of an example belongs to no file: {line!r}")
    return Example(
        files={path: decoded("\n".join(_trimmed(lines)) + "\n") * times[path] for path, lines in found.items()},
        links=links,
    )


def _trimmed(lines: list[str]) -> list[str]:
    """Without the blank lines that separate a file from the next."""
    end = len(lines)
    while end and not lines[end - 1].strip():
        end -= 1
    return lines[:end]


def decoded(text: str) -> bytes:
    """The bytes that a text stands for, with what cannot be printed put in."""
    out: list[bytes] = []
    last = 0
    for match in _CHAR.finditer(text):
        out.append(text[last : match.start()].encode("utf-8"))
        if match["code"]:
            out.append(chr(int(match["code"], 16)).encode("utf-8", "surrogatepass"))
        else:
            out.append(bytes([int(match["byte"], 16)]))
        last = match.end()
    out.append(text[last:].encode("utf-8"))
    return b"".join(out)


def facts(rule: Rule) -> str:
    """One line: severity, tier, what it needs, and how it mends."""
    parts = [rule.severity.label]
    if rule.tier != "default":
        parts.append(f"tier {rule.tier}")
    if rule.emitter == "compiling":
        parts.append("found by `ctxc compile` and `ctxc gate`")
    elif rule.needs != "sources":
        parts.append(f"needs {'compiled packages' if rule.needs == 'packages' else 'a change'}: found by `ctxc gate`")
    if rule.fixable:
        parts.append("`--fix`" if rule.fixable == "safe" else "`--fix --unsafe-fixes`")
    if rule.heuristic:
        parts.append("heuristic: it may be wrong, and its silence proves nothing")
    return "; ".join(parts)


def plain(rule: Rule) -> str:
    """The documentation of one rule for a terminal."""
    text = read(rule.doc)
    parts = [
        f"{rule.code} {rule.name}",
        f"({facts(rule).replace('`', '')})",
        text.what,
        f"Why: {text.why}",
        f"Bad:\n\n{_indented(text.bad)}",
        f"Good:\n\n{_indented(text.good)}",
        f"To mend it: {text.mend}",
    ]
    if rule.detectors:
        parts.append(f"Detectors: {', '.join(rule.detectors)}")
    return "\n\n".join(parts) + "\n"


def _indented(text: str) -> str:
    return "\n".join(f"    {line}".rstrip() for line in text.split("\n"))


def markdown(rule: Rule) -> str:
    """The documentation of one rule as Markdown, with a heading of the third level."""
    text = read(rule.doc)
    head = f'### <a id="{rule.code.lower()}"></a>{rule.code} {rule.name}\n\n*{facts(rule)}*\n'
    blocks = [head, text.what, text.why, "Bad:", _fenced(text.bad), "Good:", _fenced(text.good), text.mend]
    if rule.detectors:
        blocks.append("Detectors: " + ", ".join(f"`{d}`" for d in rule.detectors))
    return "\n\n".join(b.strip("\n") for b in blocks) + "\n"


def _fenced(text: str) -> str:
    from ctxc.base.escaping import fence_for

    fence = fence_for(text)
    return f"{fence}text\n{text}\n{fence}"


def page(rules: Iterable[Rule]) -> str:
    """The whole page of rules: an index, the map of detectors, and every rule by family."""
    ordered = sorted(rules, key=lambda r: r.code)
    parts = [
        _HEAD,
        "## All rules\n\n" + index(ordered),
        "## Detectors\n\n" + _DETECTORS + "\n\n" + detector_map(ordered),
    ]
    for number, family in enumerate(FAMILIES):
        mine = [r for r in ordered if _family(r) == number]
        if mine:
            parts.append(f"## {number}. {family}")
            parts.extend(markdown(r).rstrip("\n") for r in mine)
    others = [r for r in ordered if _family(r) < 0]
    if others:
        parts.append("## Rules from outside")
        parts.extend(markdown(r).rstrip("\n") for r in others)
    return "\n\n".join(p.strip("\n") for p in parts) + "\n"


def _family(rule: Rule) -> int:
    return int(rule.code[3]) if rule.code.startswith("CTX") else -1


def index(rules: Iterable[Rule]) -> str:
    """A table of rules, each with a link to its own heading."""
    rows = ["| code | name | severity | tier | what is found |", "|---|---|---|---|---|"]
    for rule in rules:
        what = rule.summary.replace("|", "\\|")
        rows.append(
            f"| [{rule.code}](#{rule.code.lower()}) | {rule.name} | {rule.severity.label} | {rule.tier} | {what} |"
        )
    return "\n".join(rows)


def detector_map(rules: Iterable[Rule]) -> str:
    """The table from detector ids to the rules that report them."""
    found: dict[str, list[str]] = {}
    for rule in rules:
        for detector in rule.detectors:
            for name in _names(detector, rule):
                found.setdefault(name, []).append(rule.code)
    rows = ["| detector | rules |", "|---|---|"]
    for detector in sorted(found, key=_natural):
        codes = ", ".join(f"[{c}](#{c.lower()})" for c in found[detector])
        rows.append(f"| `{detector}` | {codes} |")
    return "\n".join(rows)


def _names(detector: str, rule: Rule) -> Iterable[str]:
    """The ids that a pattern such as ``secret.*`` stands for."""
    family, _, rest = detector.partition(".")
    if rest != "*":
        return (detector,)
    if family == "secret":
        from ctxc.detect.secret_rules import shipped_rules

        return [f"secret.{r.id}" for r in shipped_rules() if r.severity is rule.severity]
    if family == "pii":
        from ctxc.detect.pii import KINDS

        return [kind.id for kind in KINDS]
    if family == "injection":
        from ctxc.detect.injection import heuristics

        return [f"injection.{h.id}" for h in heuristics()]
    if family == "role":
        from ctxc.detect.role_tokens import families

        return [f"role.{f.id}" for f in families()]
    return (detector,)


def _natural(text: str) -> tuple[str, int, str]:
    match = re.match(r"(\D*)(\d*)", text)
    assert match is not None
    return (match[1], int(match[2] or 0), text)


_HEAD = """# Rules

<!-- Generated by `ctxc rule --all --format markdown`; a test fails where it differs. -->

What `ctxc lint`, `ctxc compile` and `ctxc gate` report. `ctxc rule CTX201` (or its name) prints one of them.

A code is never reused; the hundred is the family. `lint` runs what the sources alone can show, in milliseconds. Tiers:
`default` runs always, `strict` adds what is a matter of care, `audit` adds what is worth a look by a person
(`ctxc lint --tier audit`). In the examples `⟨U+200B⟩` stands for a character that cannot be printed.

Code and name are accepted everywhere: `--select`, `--ignore`, `per-file-ignores`, `rules:` of the configuration, and
suppressions:

```yaml
version: "1.10"  # ctxc: ignore[CTX019] until=2027-03-31 reason: the registry wants it so
```

In Markdown a comment would reach the model: use the front matter key `ctxc_ignore`."""

_DETECTORS = """Ids of the detectors (`data.detector` of a finding) and the rules that report them. U: hidden and
deceptive Unicode; T: tool definitions; R: what breaks a prompt cache; the others are secrets and personal data by name.

R11 (the order of JSON keys) has no rule: the compiler writes one order, and a test holds it."""
