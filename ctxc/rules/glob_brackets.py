"""A file pattern whose square brackets match no file of any route, and whose literal reading does.

Why: In a pattern `[id]` means one of the characters i and d. Folders of web frameworks are called `[id]`, so the
pattern matches nothing and the fragment is silently never loaded.

Bad:

    # file: templates/t.yaml
    template_id: t
    version: 1
    provider: text
    sections:
      - {id: fragments, source: fragments}
    # file: fragments/a.md
    ---
    fragment_id: task.routes
    version: 1
    kind: task
    load_mode: route_match
    applies_when: {files: ["src/routes/[id]/*.ts"]}
    ---
    Load data in the server part of a route.
    # file: tests/fixtures/f.yaml
    fixture_id: f
    template: t
    route: {files: ["src/routes/[id]/page.ts"]}

Good:

    # file: templates/t.yaml
    template_id: t
    version: 1
    provider: text
    sections:
      - {id: fragments, source: fragments}
    # file: fragments/a.md
    ---
    fragment_id: task.routes
    version: 1
    kind: task
    load_mode: route_match
    applies_when: {files: ["src/routes/[[]id]/*.ts"]}
    ---
    Load data in the server part of a route.
    # file: tests/fixtures/f.yaml
    fixture_id: f
    template: t
    route: {files: ["src/routes/[id]/page.ts"]}

Mend: Write `[[]` for a literal opening bracket.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from ctxc.base.globs import matches_glob
from ctxc.model.finding import Finding
from ctxc.rules._routes import newest
from ctxc.rules.engine import Context, rule

_CLASS = re.compile(r"\[(?!\[\])[^\]]+\]")


def check(context: Context) -> Iterator[Finding]:
    """Patterns with a character class that matches no file which fixtures name, or that looks like a folder's name."""
    paths = {p for f in context.project.fixtures.values() for p in f.route.get("files", ())}
    for fragment in newest(context).values():
        for number, pattern in enumerate(fragment.applies_when.get("files", ())):
            found = _CLASS.search(pattern)
            if not found or any(matches_glob(p, pattern) for p in paths):
                continue
            literal = _CLASS.sub(lambda m: "[[]" + m[0][1:], pattern)
            matched = sorted(p for p in paths if matches_glob(p, literal))
            if matched or _names_a_folder(pattern, found):
                yield RULE.finding(
                    context,
                    f"{found[0]!r} in this pattern means one of the characters in the brackets"
                    + (f"; it does not match {matched[0]}" if matched else "; it matches no folder of that name"),
                    at=fragment.origin.child("applies_when", "files", number),
                    help=f"for the name itself write {literal!r}",
                    data={"pattern": pattern, "literal": literal, "unmatched": matched[:5]},
                )


def _names_a_folder(pattern: str, found: re.Match[str]) -> bool:
    """Whether the class is a whole part of a path and reads like a word: ``/[slug]/``, not ``/[a-z]/``."""
    before, after = pattern[: found.start()], pattern[found.end() :]
    alone = (not before or before.endswith("/")) and (not after or after.startswith(("/", ".")))
    least = 3 if after.startswith(".") else 2  # [ab].ts is more likely one of two files
    return alone and bool(re.fullmatch(rf"\[(?:\.\.\.)?[A-Za-z]{{{least},}}\]", found[0]))


RULE = rule(__name__, __doc__, check)
