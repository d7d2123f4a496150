"""A `tools/list` answer that is only the first page.

Why: The tools on the other pages are missing from the request, and nobody said so.

Bad:

    # file: templates/t.yaml
    template_id: t
    version: 1
    provider: openai
    model: gpt-4.1
    sections:
      - {id: policy, source: literal, text: Answer briefly.}
      - {id: tools, source: templates/tools.json}
    # file: templates/tools.json
    {"tools": [{"name": "find_service", "description": "Find a service.", "inputSchema": {"type": "object"}}],
     "nextCursor": "page-2"}

Good:

    # file: templates/t.yaml
    template_id: t
    version: 1
    provider: openai
    model: gpt-4.1
    sections:
      - {id: policy, source: literal, text: Answer briefly.}
      - {id: tools, source: templates/tools.json}
    # file: templates/tools.json
    {"tools": [{"name": "find_service", "description": "Find a service.", "inputSchema": {"type": "object"}}]}

Mend: Ask the server for the other pages and write all tools into the file.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ctxc.base.spans import Origin
from ctxc.model.finding import Finding
from ctxc.parse import document
from ctxc.rules._files import raw
from ctxc.rules._tools import toolsets
from ctxc.rules.engine import Context, rule

_KEYS = ("nextCursor", "next_cursor")


def check(context: Context) -> Iterator[Finding]:
    """Files of tools that name a next page."""
    paths = {p for t in toolsets(context) for p in (t.mcp, t.origin.path) if p}
    for path in sorted(paths):
        data = raw(context, path)
        if not any(k.encode() in data for k in _KEYS):
            continue
        value: Any = document.parse(path, data).value
        for at, holder in (("", value), ("/result", value.get("result") if isinstance(value, dict) else None)):
            key = next((k for k in _KEYS if isinstance(holder, dict) and holder.get(k)), "")
            if key:
                yield RULE.finding(
                    context,
                    f"{key} is set: this list of tools is not complete",
                    at=Origin(path, f"{at}/{key}"),
                    key=True,
                    help="ask the server for the other pages and write all tools into the file",
                )


RULE = rule(__name__, __doc__, check)
