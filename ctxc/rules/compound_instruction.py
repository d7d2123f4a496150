"""One sentence that mixes several kinds of rules: accuracy, style, retrieval, permission, format ...

Why: A model that keeps a part of it cannot be told from one that keeps all, nobody can test or turn off one of
them, and two such sentences cannot be searched for a contradiction (seed: "instructions are atomic, testable, and
can be checked for conflicts").

Bad:

    # file: templates/t.yaml
    template_id: t
    version: 1
    sections:
      - {id: policy, source: policies/house.md}
    # file: policies/house.md
    Answer accurately, concisely and politely, look documents up when needed, do not invent anything, refuse
    what the user has no permission for, and output JSON.

Good:

    # file: templates/t.yaml
    template_id: t
    version: 1
    sections:
      - {id: policy, source: policies/house.md}
    # file: policies/house.md
    - HR-1 [permission] Use only material that the tenant may read.
    - HR-2 [facts] Without evidence, say "cannot be confirmed".
    - HR-3 [format] Answer with JSON of the output contract.
    - HR-4 [style] Write short sentences.

Mend: Write one rule a line, each with an id of its own.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from ctxc.detect.patterns import PatternSet
from ctxc.model.finding import Finding
from ctxc.model.section import Authority
from ctxc.rules._texts import application_texts
from ctxc.rules.engine import Context, rule

LEAST = 4
"""Kinds of rules in one sentence from which it is reported; two or three are often one thought."""

_LONGEST = 1200  # code points of a sentence that is looked at; longer "sentences" are tables and data

_KINDS = {
    "accuracy": r"\baccura(?:te|tely|cy)\b|\bprecise(?:ly)?\b|\bcorrect(?:ly|ness)\b|准确|精确",
    "style": r"\bconcise(?:ly)?\b|\bbrief(?:ly)?\b|\bpolite(?:ly)?\b|\bfriendly\b|\bprofessional(?:ly)?\b|\btone\b|"
    r"\bplain(?:ly)?\b|简洁|友好|专业|礼貌|语气",
    "retrieval": r"\b(?:retriev|search|look(?:ing)? (?:\w+ )?up)\w*\b|\bquery the\b|检索|查询|搜索",
    "facts": r"\b(?:do not|don't|never) (?:invent|fabricate|guess|make (?:\w+ )?up|hallucinate)\w*|\bhallucinat\w+|"
    r"\bmade[- ]up\b|编造|杜撰|虚构|臆测",
    "permission": r"\bpermi(?:ssion|tted)\w*\b|\bauthori[sz]\w+\b|\baccess rights?\b|\brefuse\w*\b|权限|授权|拒绝",
    "format": r"\bjson\b|\bxml\b|\bmarkdown\b|\boutput format\b|\btable format\b|\bbullet points?\b|格式|表格",
    "citation": r"\bcit(?:e|es|ing|ation|ations)\b|\bname (?:the |your )?sources?\b|引用|标注来源",
    "language": r"\bin (?:english|german|french|spanish|chinese|japanese|the user's language)\b|用(?:中文|英文)",
    "safety": r"\b(?:harmful|illegal|unsafe|dangerous)\b|违法|有害",
}
_PATTERNS = {name: re.compile(pattern, re.I) for name, pattern in _KINDS.items()}
_SCREEN = PatternSet([f"(?i){pattern}" for pattern in _KINDS.values()])
# A sentence ends at a full stop, at the end of a line that is a list item's or a paragraph's last, and nowhere else.
_SENTENCE = re.compile(r"(?:[^\n.!?。！？]|\.(?=\S)|\n(?![ \t]*(?:\n|[-*+#>|]|\d+[.)])))+[.!?。！？]?")


def check(context: Context) -> Iterator[Finding]:
    """Sentences of application texts that hold words of four kinds."""
    for shown in application_texts(context):
        if shown.authority > Authority.T1 or len(_SCREEN.which(shown.text.encode("utf-8", "replace"))) < LEAST:
            continue
        for match in _SENTENCE.finditer(shown.text):
            if match.end() - match.start() > _LONGEST:
                continue
            kinds = [name for name, pattern in _PATTERNS.items() if pattern.search(match[0])]
            if len(kinds) >= LEAST:
                start = match.end() - len(match[0].lstrip())
                yield RULE.finding(
                    context,
                    f"one sentence of {shown.what} mixes {len(kinds)} kinds of rules: {', '.join(kinds)}",
                    at=shown.place(context, start, match.end()),
                    help="write one rule a line, each with an id, so that each can be tested and checked for conflicts",
                    data={"kinds": kinds},
                )


RULE = rule(__name__, __doc__, check, heuristic=True)
