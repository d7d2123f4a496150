"""Front matter of a text that a section or a manifest names: nobody reads what it says.

Why: `trust: untrusted` or `audience: staff` above a text looks like a rule and enforces nothing. What a text is, the
section or the manifest says that names it.

Bad:

    # file: templates/t.yaml
    template_id: t
    version: 1
    provider: text
    sections:
      - {id: policy, source: policies/house.md}
    # file: policies/house.md
    ---
    trust: untrusted
    ---
    Answer briefly.

Good:

    # file: templates/t.yaml
    template_id: t
    version: 1
    provider: text
    sections:
      - {id: evidence, authority: T4, source: policies/house.md}
    # file: policies/house.md
    Answer briefly.

Mend: Say it where the text is named (`authority`, `kind`, `when` ...), and remove it here.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from ctxc.base.spans import Origin
from ctxc.model.finding import Finding
from ctxc.parse import document
from ctxc.parse.kinds import KEYS
from ctxc.rules._files import raw
from ctxc.rules._texts import is_file, templates
from ctxc.rules.engine import Context, rule

_READ = frozenset({"ctxc_ignore"})


def check(context: Context) -> Iterator[Finding]:
    """Markdown sources of sections and texts of manifests, with the keys of their front matter."""
    named = {s.source for t in templates(context) for s in t.sections if is_file(s)}
    for versions in context.project.fragments.values():
        named.update(f.text_path for f in versions if f.text_path and f.text_path != f.origin.path)
    for path in sorted(named):
        if document.syntax_of(path) != "markdown":
            continue
        data = raw(context, path)
        if not data.lstrip(b"\xef\xbb\xbf").startswith(b"---"):
            continue
        value = document.parse(path, data).value
        if not isinstance(value, Mapping) or value.keys() & set(KEYS):
            continue
        keys = [k for k in value if k not in _READ]
        if keys:
            yield RULE.finding(
                context,
                f"nothing reads the front matter of this text: {', '.join(keys)}",
                at=Origin(path).child(keys[0]),
                key=True,
                help="say it where the text is named (`authority`, `kind`, `when` ...), and remove it here",
                data={"keys": keys},
            )


RULE = rule(__name__, __doc__, check)
