"""An editor's modeline whose schema is not there, or is that of another kind of file.

Why: The editor then checks nothing, or the wrong thing, and shows no mistakes while the file is typed.

Bad:

    # file: templates/t.yaml
    # yaml-language-server: $schema=../.ctxc/schemas/templat.schema.json
    template_id: t
    version: 1
    sections:
      - {id: policy, source: literal, text: Answer briefly.}
    # file: .ctxc/schemas/template.schema.json
    {}

Good:

    # file: templates/t.yaml
    # yaml-language-server: $schema=../.ctxc/schemas/template.schema.json
    template_id: t
    version: 1
    sections:
      - {id: policy, source: literal, text: Answer briefly.}
    # file: .ctxc/schemas/template.schema.json
    {}

Mend: Write the path of an existing schema, relative to the file; `ctxc init` and `ctxc schema KIND` write them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from posixpath import normpath

from ctxc.base.spans import Location
from ctxc.model.finding import Finding
from ctxc.parse.kinds import KEYS
from ctxc.parse.problems import nearest
from ctxc.parse.spots import span_of
from ctxc.rules._files import project_files, raw
from ctxc.rules.engine import Context, rule
from ctxc.source.paths import fault_of_path

_MODELINE = re.compile(r"^#\s*yaml-language-server:.*?\$schema=(?P<target>\S+)", re.M)
_SCHEMA_NAME = re.compile(r"(?P<kind>[a-z]+)\.schema\.json\Z")
_KIND = re.compile(r"^(?P<key>[a-z]+_id|fragments)[ \t]*:", re.M)


def check(context: Context) -> Iterator[Finding]:
    """Modelines of YAML files, against the tree and against what the file is."""
    for path in project_files(context):
        if not path.endswith((".yaml", ".yml")) or b"yaml-language-server" not in raw(context, path):
            continue
        text = context.text(path)
        for match in _MODELINE.finditer(text):
            yield from _judge(context, path, text, match)


def _judge(context: Context, path: str, text: str, match: re.Match[str]) -> Iterator[Finding]:
    target = match["target"]
    at = Location(path, span_of(text, match.start("target"), match.end("target")))
    if "://" not in target:
        place = normpath(f"{path.rpartition('/')[0]}/{target}" if "/" in path else target)
        if fault_of_path(place) or not context.tree.exists(place):
            folder = place.rpartition("/")[0]
            near = "" if fault_of_path(folder) else nearest(place, context.tree.list_paths([folder]) if folder else ())
            yield RULE.finding(
                context,
                f"the modeline names {target}, which is not there" + (f"; did you mean {near}?" if near else ""),
                at=at,
                help="write the path relative to this file; `ctxc schema KIND` prints a schema",
                data={"target": target},
            )
            return
    named, kind = _SCHEMA_NAME.search(target), _KIND.search(text)
    is_what = KEYS.get(kind["key"], "") if kind else ""
    if named and is_what and named["kind"] in {*KEYS.values(), "config"} and named["kind"] != is_what:
        yield RULE.finding(
            context,
            f"the modeline names the schema of a {named['kind']}, and the file is a {is_what}",
            at=at,
            help=f"name {is_what}.schema.json",
            data={"target": target, "kind": is_what},
        )


RULE = rule(__name__, __doc__, check)
