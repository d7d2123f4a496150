"""A key, a token or a password.

Why: Whoever reads the repository, a log or a provider's records has it; and a model repeats what it was shown.
Nothing of it is printed but four characters.

Bad:

    # file: fragments/a.md
    ---
    fragment_id: core.a
    version: 1
    kind: core
    load_mode: always
    ---
    Use the token ghp⟨U+005F⟩6KvT2mQx9LwZr4YbNd8Hs1JpFe7UcGa0RiXo to read issues.

Good:

    # file: fragments/a.md
    ---
    fragment_id: core.a
    version: 1
    kind: core
    load_mode: always
    ---
    Read issues with the tool list_issues; the server holds the token.

Mend: Revoke it, take it out of the history, and let the tool that needs it hold it.
"""

from __future__ import annotations

from collections.abc import Iterator

from ctxc.model.finding import Finding
from ctxc.rules._content import certain, report, secrets
from ctxc.rules.engine import Context, rule


def check(context: Context) -> Iterator[Finding]:
    """A key, a token or a password."""
    return report(RULE, context, certain(secrets(context)), "revoke it, and let the tool that needs it hold it")


RULE = rule(__name__, __doc__, check, detectors=("secret.*",))
