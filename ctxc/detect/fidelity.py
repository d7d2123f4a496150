"""The facts of a text that a shorter one must keep: numbers, dates, amounts, units, negations, conditions, names, ids.

English and Chinese, by rule. A fact has a key in one form for all spellings (``1,200 USD`` and ``$1200``; ``Oct 31,
2026`` and ``2026年10月31日``), so a faithful summary may write it its own way. It is a check of what can be read off
the surface: a text that keeps every fact may still be wrong.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterator
from typing import Literal

from ctxc.base.values import dataclass
from ctxc.detect.patterns import Haystack, Pattern, haystack
from ctxc.detect.quantities import FORMS

FactKind = Literal["id", "date", "amount", "percent", "quantity", "number", "negation", "condition", "name"]
KINDS: tuple[FactKind, ...] = (
    "id", "date", "amount", "percent", "quantity", "number", "negation", "condition", "name",
)  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class Fact:
    """One fact: its kind, its key in one form, and where it stands (code points) as it is written."""

    kind: FactKind
    key: str
    start: int
    end: int
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Fidelity:
    """How many different facts there were, how many are kept, and which are lost; by kind (total, kept)."""

    total: int
    kept: int
    lost: tuple[Fact, ...]
    by_kind: tuple[tuple[FactKind, int, int], ...]

    @property
    def basis_points(self) -> int:
        """Share of facts kept in 1/100 percent, rounded down; 10,000 where there was none."""
        return 10_000 * self.kept // self.total if self.total else 10_000


# Apart from the other ids: as one of several alternatives its open beginning would be searched for after every match.
_MAIL = Pattern(r"[A-Za-z0-9._%+-]+@[A-Za-z0-9-]+(?:\.[A-Za-z0-9-]+)+")
_ID = Pattern(
    r"https?://[^\s<>\"'`)\]，。；]+"
    r"|\b[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}\b"
    r"|\b[A-Z]{1,6}-?[0-9]{2,}[A-Z0-9]*(?:-[A-Z0-9]+)*\b|\b[A-Z]{2,}-[0-9][A-Za-z0-9.-]*|\b[A-Z]{2,}(?:-[A-Z0-9]+)+\b"
    r"|\B#[0-9]{1,8}\b|\b[a-z][a-z0-9]*_[a-z0-9_]*[0-9][a-z0-9_]*\b|\b[a-z][a-z0-9]*(?:_[a-z0-9]+){2,}\b"
    r"|\b[a-z]_[0-9]+\b|\bv?[0-9]+\.[0-9]+\.[0-9]+\b|\bv[0-9]+(?:\.[0-9]+)+\b"
    r"|[京津沪渝冀豫云辽黑湘皖鲁新苏浙赣鄂桂甘晋蒙陕吉闽贵粤川青藏琼宁][A-Z][A-Z0-9]{5,6}"
)
_NEGATION = Pattern(
    r"(?i)\b(?:not|no|never|neither|nor|none|nobody|nothing|without|cannot|unable|refus(?:e|es|ed)|den(?:y|ies|ied)"
    r"|(?:ca|wo|do|does|did|is|are|was|were|has|have|had|should|would|could|must|need)n['’]t)\b"
    r"|不得|不能|不会|不可|不要|不应|不予|不在|不是|没有|未经|未能|尚未|并非|禁止|严禁|拒绝|无法|无需|[不没未无非勿]"
)
# Words that only contain a sign of negation.
_NO_NEGATION = re.compile(
    r"非常|未来|无论|不过|不仅|不但|不断|不同|不管|不久|没收|除非|无锡|不少|不止|no doubt|nothing but", re.IGNORECASE
)
_CONDITION = Pattern(
    r"(?i)\b(?:only if|only when|if and only if|if|unless|until|except(?: for| when| that)?|provided(?: that)?"
    r"|as long as|in case|on condition that|subject to|whenever|otherwise)\b"
    r"|除非|如果|若|假如|倘若|只有|只要|一旦|直到|前提|除[^，。；\n]{1,12}外|否则|须经"
)
_STOP = frozenset({
    "a", "an", "the", "to", "be", "been", "is", "are", "was", "were", "of", "in", "on", "at", "by", "for", "and", "or",
    "it", "its", "this", "that", "these", "those", "any", "your", "you", "we", "they", "he", "she", "i", "our", "their",
    "will", "would", "can", "could", "may", "must", "shall", "should", "has", "have", "had", "do", "does", "did",
})  # fmt: skip
_WORD = re.compile(r"[A-Za-z][A-Za-z'’-]*|[0-9][0-9.,]*|[\u4e00-\u9fff]")
_SENTENCE_END = re.compile(r"[.!?;。！？；\n]")
# The hundred commonest surnames (Ministry of Public Security, 2020 report).
_SURNAME = (
    "[王李张刘陈杨黄赵吴周徐孙马朱胡郭何林高罗郑梁谢宋唐许韩冯邓曹彭曾肖田董袁潘于蒋蔡余杜叶程苏魏吕丁任沈"
    "姚卢姜崔钟谭陆汪范金石廖贾夏韦付方白邹孟熊秦邱江尹薛闫段雷侯龙史陶黎贺顾毛郝龚邵万钱严覃武戴莫孔向汤]"
)
_NAME = Pattern(
    r"\b[A-Z][a-z]+(?:[ -](?:(?:of|the|de|van|von|da|di) )?[A-Z][a-zA-Z.]+)+|\b[A-Z][a-z]+[A-Z][A-Za-z]*\b"
    r"|\b[A-Z]{2,}[a-z]?\b|「[^」\n]{1,40}」|《[^》\n]{1,40}》|“[^”\n]{1,40}”"
    r"|[\x{4e00}-\x{9fff}]{2,8}(?:有限公司|公司|银行|医院|大学|法院|委员会)"
    rf"|{_SURNAME}[\x{{4e00}}-\x{{9fff}}]{{0,2}}(?:先生|女士|经理|医生|律师|教授)"
)
_SENTENCE_START = re.compile(r"(?:^|[.!?。！？:：\n]\s*|[-*#]\s+)$")


def find_facts(text: str) -> tuple[Fact, ...]:
    """The facts of a text, in its order. Of overlapping forms the more specific one counts (an id holds no number)."""
    hay = haystack(text)
    taken = _Ranges()
    found: list[Fact] = []
    for start, end in (*_MAIL.in_text(hay), *_ID.in_text(hay)):
        if taken.meet(start, end):
            continue
        key = text[start:end].rstrip(".,;:")
        taken.add(start, end)
        found.append(Fact(kind="id", key=key, start=start, end=start + len(key), text=key))
    for form in FORMS:
        for start, end in form.pattern.in_text(hay):
            if _inside_word(text, start, end) or taken.meet(start, end):
                continue
            key_or_none = form.key(text[start:end])
            if key_or_none is not None:
                taken.add(start, end)
                found.append(Fact(kind=form.kind, key=key_or_none, start=start, end=end, text=text[start:end]))
    found.extend(_marked("negation", _NEGATION, text, hay))
    found.extend(_marked("condition", _CONDITION, text, hay))
    found.extend(_names(text, hay, taken))
    return tuple(sorted(found, key=lambda fact: (fact.start, fact.end, fact.kind)))


class _Ranges:
    """Ranges that do not overlap, kept in order."""

    def __init__(self) -> None:
        self._starts: list[int] = []
        self._ends: list[int] = []

    def add(self, start: int, end: int) -> None:
        """Take a range."""
        place = bisect_right(self._starts, start)
        self._starts.insert(place, start)
        self._ends.insert(place, end)

    def meet(self, start: int, end: int) -> bool:
        """True if a taken range overlaps this one."""
        place = bisect_right(self._starts, start)
        if place and self._ends[place - 1] > start:
            return True
        return place < len(self._starts) and self._starts[place] < end


def _inside_word(text: str, start: int, end: int) -> bool:
    """True if a number is the middle of a longer word or number."""
    before, after = text[start - 1 : start], text[end : end + 1]
    if text[start].isdigit() and before.isascii() and (before.isalnum() or before in ("_", ".")):
        return True
    return text[end - 1].isdigit() and after.isascii() and (after.isalnum() or after == "_")


def _marked(kind: FactKind, pattern: Pattern, text: str, hay: Haystack) -> Iterator[Fact]:
    """Negations and conditions, each with the next words, which it is about."""
    for start, end in pattern.in_text(hay):
        if kind == "negation" and any(
            word.start() <= start < word.end() for word in _NO_NEGATION.finditer(text, max(0, start - 1), end + 8)
        ):
            continue
        about = _next_words(text, end)
        if about:
            marker = "not" if kind == "negation" else _marker(text[start:end])
            yield Fact(kind=kind, key=f"{marker} {about}", start=start, end=end, text=text[start:end])


def _marker(written: str) -> str:
    """One form for the ways to say a condition."""
    word = written.lower()
    if word.startswith(("unless", "except", "除")):
        return "unless"
    if word in ("until", "直到"):
        return "until"
    if word in ("otherwise", "否则"):
        return "otherwise"
    return "only if" if word.startswith(("only", "只有")) or word == "if and only if" else "if"


def _next_words(text: str, start: int) -> str:
    """The next content word in English, the next two characters in Chinese, of the same sentence."""
    han = ""
    limit = min(len(text), start + 80)
    stop = _SENTENCE_END.search(text, start, limit)
    for word in _WORD.finditer(text, start, stop.start() if stop else limit):
        part = word.group()
        if "\u4e00" <= part <= "\u9fff":
            han += part
            if len(han) == 2:
                return han
        elif han:
            break
        elif part.lower() not in _STOP:
            return _stem(part.lower())
    return han


def _stem(word: str) -> str:
    """A word without the endings that a rewording changes."""
    for ending, instead in (("ies", "y"), ("ied", "y"), ("ing", ""), ("ed", ""), ("es", ""), ("s", ""), ("e", "")):
        if word.endswith(ending) and len(word) - len(ending) >= 3:
            return word.removesuffix(ending) + instead
    return word


def _names(text: str, hay: Haystack, taken: _Ranges) -> Iterator[Fact]:
    """Names by their form; an article at the start of a sentence is no part of one."""
    for start, end in _NAME.in_text(hay):
        if taken.meet(start, end):
            continue
        written = text[start:end].strip(" .")
        first, _, rest = written.partition(" ")
        if rest and first.lower() in _STOP and _SENTENCE_START.search(text[max(0, start - 3) : start]):
            start += len(first) + 1
            written = rest
        key = written.strip("「」《》“”").casefold()
        if len(key) > 1 and key not in _STOP:
            yield Fact(kind="name", key=key, start=start, end=end, text=text[start:end])


def compare_facts(before: str, after: str) -> Fidelity:
    """Which facts of ``before`` are in ``after``: each different fact counts once, however often it is written."""
    kept_keys = {(fact.kind, fact.key) for fact in find_facts(after)}
    first: dict[tuple[FactKind, str], Fact] = {}
    for fact in find_facts(before):
        first.setdefault((fact.kind, fact.key), fact)
    folded = after.casefold()
    lost = tuple(fact for place, fact in first.items() if place not in kept_keys and not _stands(fact, folded))
    totals = Counter(kind for kind, _ in first)
    missing = Counter(fact.kind for fact in lost)
    by_kind = tuple((kind, totals[kind], totals[kind] - missing[kind]) for kind in KINDS if totals[kind])
    return Fidelity(total=len(first), kept=len(first) - len(lost), lost=lost, by_kind=by_kind)


def _stands(fact: Fact, folded: str) -> bool:
    """True if an id or a name stands in the text as it is, even where its form is not seen there."""
    if fact.kind not in ("id", "name"):
        return False
    place = folded.find(fact.key.casefold())
    while place >= 0:
        around = folded[place - 1 : place] + folded[place + len(fact.key) : place + len(fact.key) + 1]
        if not any(char.isascii() and (char.isalnum() or char == "_") for char in around):
            return True
        place = folded.find(fact.key.casefold(), place + 1)
    return False
