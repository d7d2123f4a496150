"""Texts that would do something where they are printed, and models of what would act on them."""

from __future__ import annotations

import unicodedata

# Rows of the threat list about output (terminal, log commands, annotations, Markdown, HTML, XML), and their kin.
HOSTILE = (
    "\x1b]52;c;cm0gLXJm\x07",  # T-076
    "\x1b[1A\x1b[2K",  # T-077
    "\x1b]8;;http://evil\x07ok\x1b]8;;\x07",  # T-078
    "fragments/\u202egnp.md",  # T-080
    "::set-output name=x::y",  # T-081
    "  ::add-mask::a",
    "\u00a0::warning::x",
    "foo ##[error]boom",  # T-082
    "##[set-env name=PATH;]x",
    "ok\n::stop-commands::t",
    "\r::error::x",
    "\u2028::error::x",
    "\x85::error::x",
    "a::b,c=d%0A.md",  # T-083
    "[/closing] [bold]x[/bold] :smile:",
    "```\n# heading",
    "</code></td></tr></table><img src=x onerror=alert(1)>",  # T-086
    "| a | b |",
    "![x](https://evil.example/?q=1) @org/team #1 GH-1",  # T-087
    "<script>alert(1)</script>",  # T-095
    "<!-- ctxc-report -->",
    '\x00\x1b\ufffe\ud800"<&>',  # T-093
    "\U000e0041\u200b\ufeff\u2800",
    "Grüße, 世界 \\d+ C:\\x",
)

COMMANDS = {
    "set-output", "set-env", "add-path", "add-mask", "add-matcher", "remove-matcher", "warning", "error", "notice",
    "debug", "group", "endgroup", "save-state", "echo", "stop-commands", "internal-set-repo-path",
}  # fmt: skip


def runner_commands(log: str) -> list[str]:
    """What GitHub's runner would act on in a log (its ActionCommand.cs: v2 after trimming, v1 anywhere)."""
    found = []
    for line in log.split("\n"):
        trimmed = line.lstrip()
        if trimmed.startswith("::") and "::" in trimmed[2:]:
            name = trimmed[2:].split("::", 1)[0].split(" ", 1)[0]
            if name in COMMANDS:
                found.append(name)
        at = line.find("##[")
        if at >= 0 and "]" in line[at:]:
            name = line[at + 3 : line.index("]", at)].split(" ", 1)[0]
            if name in COMMANDS:
                found.append("v1:" + name)
    return found


def is_hidden(char: str) -> bool:
    return unicodedata.category(char) in ("Cc", "Cf", "Cs", "Co", "Zl", "Zp")
