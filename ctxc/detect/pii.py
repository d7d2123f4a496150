"""Personal data with a form of its own: addresses, numbers of cards, accounts, identities and telephones.

Names, postal addresses and health data have no form and are out of scope. Values that are reserved for documentation
never match (RFC 2606 domains, RFC 5737 and 3849 addresses, 555-01xx numbers); published test cards are information.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator
from functools import cache

from ctxc.base.values import dataclass
from ctxc.detect.addresses import is_public
from ctxc.detect.checksums import is_card, is_china_id, is_iban
from ctxc.detect.match import Match, in_order, masked
from ctxc.detect.patterns import Pattern, PatternSet, haystack, windows
from ctxc.model.finding import Severity

_WINDOW, _OVERLAP = 65_536, 512

_ERROR, _WARNING, _INFO = Severity.ERROR, Severity.WARNING, Severity.INFO

Verdict = tuple[int, int, Severity, str]
"""Start, end, severity and what it is."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Kind:
    """One kind of personal data: candidates by pattern, judged by a function of the text and the candidate's place.

    ``hint`` is a part of every candidate that is looked for first, where the whole pattern takes long to make ready.
    """

    id: str
    pattern: Pattern
    judge: Callable[[str, int, int], Verdict | None]
    hint: str = ""

    @property
    def screen(self) -> str:
        """The pattern that says whether there can be a candidate."""
        return self.hint or self.pattern.source


_EMAIL = re.compile(
    r"([A-Za-z0-9](?:[A-Za-z0-9._+%'-]{0,62}[A-Za-z0-9_+%-])?)@"
    r"((?:[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?\.){1,6}[A-Za-z]{2,24})"
)
_RESERVED_DOMAIN = re.compile(
    r"(?:.*\.)?(?:example\.(?:com|org|net|edu)|example|test|invalid|localhost|localdomain|users\.noreply\.github\.com)"
)
_FILE_NAME = re.compile(r".*\.(?:png|jpe?g|gif|svg|webp|ico|js|ts|jsx|tsx|css|html?|json|md|py|go|rs|rb|java|sh|ya?ml)")
_NOBODY = frozenset(("noreply", "no-reply", "donotreply", "do-not-reply", "git", "hg", "svn"))
_TEST_CARDS = frozenset({
    4111111111111111, 4242424242424242, 4012888888881881, 4000056655665556, 4222222222222, 4000000000000002,
    4000002500003155, 4000000000009995, 4000000000003220, 4917610000000000, 5555555555554444, 5105105105105100,
    5200828282828210, 2223003122003222, 378282246310005, 371449635398431, 378734493671000, 6011111111111117,
    6011000990139424, 30569309025904, 38520000023237, 3056930009020004, 3530111333300000, 3566002020360505,
    6200000000000005, 36227206271667,
})  # fmt: skip
_CARD_GROUPS = re.compile(r"\d{13,19}|\d{4}(?:([ -])\d{4})(?:\1\d{4}){1,2}(?:\1\d{1,4})?|\d{4}([ -])\d{6}\2\d{4,5}")
_COUNTRY_CODE = re.compile(
    r"1|7|2[07]|3[0-469]|4[013-9]|5[1-8]|6[0-6]|8[1246]|9[0-58]|21[12368]|2[2-6]\d|29[01789]|35\d|37\d|38[0-9]|42[0134]"
    r"|50\d|59\d|67\d|68\d|69[0-2]|800|808|85[02356]|87[08]|88[0-368]|96\d|97[0-79]|99[2-689]"
)


def _neighbours(text: str, start: int, end: int) -> tuple[str, str]:
    return text[start - 1 : start], text[end : end + 1]


def _is_word(char: str) -> bool:
    return char.isascii() and char.isalnum()


def _stands_alone(text: str, start: int, end: int) -> bool:
    """True unless the number is part of a longer word, number, decimal or hyphenated code."""
    before, after = _neighbours(text, start, end)
    if _is_word(before) or _is_word(after) or before in (".", "_") or after == "_":
        return False
    if before == "-" and _is_word(text[start - 2 : start - 1]):
        return False
    return not (after in "-." and text[end + 1 : end + 2].isdigit())


def _email(text: str, start: int, end: int) -> Verdict | None:
    at = text.index("@", start, end)
    candidate = _EMAIL.search(text, max(start, at - 64), end)
    if candidate is None:
        return None
    before, after = _neighbours(text, *candidate.span())
    if (_is_word(before) or before in ("+", "%", "/")) or (_is_word(after) or after in ("@", "_")):
        return None
    user, domain = candidate.group(1).lower(), candidate.group(2).lower()
    if user in _NOBODY or _RESERVED_DOMAIN.fullmatch(domain) or _FILE_NAME.fullmatch(domain):
        return None
    return *candidate.span(), _WARNING, "e-mail address"


def _card(text: str, start: int, end: int) -> Verdict | None:
    written = text[start:end]
    if not _stands_alone(text, start, end) or _CARD_GROUPS.fullmatch(written) is None:
        return None
    digits = re.sub(r"[ -]", "", written)
    if not is_card(digits):
        return None
    return start, end, _INFO if int(digits) in _TEST_CARDS else _ERROR, "payment card number"


def _iban(text: str, start: int, end: int) -> Verdict | None:
    if _is_word(text[start - 1 : start]):
        return None
    # The pattern takes what follows an account in capitals too: try shorter ends at word limits.
    while end - start >= 15:
        if not _is_word(text[end : end + 1]) and is_iban(text[start:end].replace(" ", "")):
            return start, end, _ERROR, "bank account number (IBAN)"
        end = text.rfind(" ", start, end)
    return None


def _china_id(text: str, start: int, end: int) -> Verdict | None:
    if not _stands_alone(text, start, end) or not is_china_id(text[start:end]):
        return None
    return start, end, _ERROR, "Chinese identity number"


def _china_mobile(text: str, start: int, end: int) -> Verdict | None:
    if not _stands_alone(text, start, end):
        return None
    return start, end, _WARNING, "Chinese mobile number"


def _ssn(text: str, start: int, end: int) -> Verdict | None:
    digits = re.sub(r"\D", "", text[start:end])[-9:]
    area, group, serial = int(digits[:3]), int(digits[3:5]), int(digits[5:])
    if area in (0, 666) or area >= 900 or not group or not serial:
        return None
    number = start + re.search(r"\d[\d -]*$", text[start:end]).start()  # type: ignore[union-attr]
    if not _stands_alone(text, number, end):
        return None
    return number, end, _ERROR, "US social security number"


def _phone(text: str, start: int, end: int) -> Verdict | None:
    before, after = _neighbours(text, start, end)
    written = text[start:end]
    digits = re.sub(r"\D", "", written)
    if (
        _is_word(before)
        or before in ("+", ".", "-")
        or _is_word(after)
        or (after == "-" and text[end + 1 : end + 2].isdigit())
    ):
        return None
    if written.startswith("+"):
        if not 8 <= len(digits) <= 15 or not any(_COUNTRY_CODE.fullmatch(digits[:n]) for n in (1, 2, 3)):
            return None
        national = digits[1:] if digits.startswith("1") else ""
        if digits.startswith("1") and not re.fullmatch(r"[2-9]\d{2}[2-9]\d{6}", national):
            return None
    else:
        national = digits
    if re.fullmatch(r"\d{3}55501\d{2}", national):
        return None
    return start, end, _WARNING, "telephone number"


def _ip(text: str, start: int, end: int) -> Verdict | None:
    before, after = _neighbours(text, start, end)
    # A number of four parts after a slash, an equals sign or a "v" is a version: Chrome/96.0.4.5, ==1.2.3.4.
    lead = text[max(0, start - 10) : start]
    version = re.search(r"[A-Za-z]/$|[=~<>]=\s?$|(?i:\bversions?|\bv)[ :.]{0,2}$", lead) is not None
    joins = "_:" if ":" in text[start:end] else "_"
    if version or _is_word(before) or _is_word(after):
        return None
    if (before and before in joins + ".") or (after and after in joins):
        return None
    if after == "." and text[end + 1 : end + 2].isdigit():
        return None
    # x.y.0.0 is a network or a version, and a prefix length makes it a range: nobody's own address.
    network = text[start:end].endswith(".0.0") or (after == "/" and text[end + 1 : end + 2].isdigit())
    return (start, end, _WARNING, "public IP address") if not network and is_public(text[start:end]) else None


KINDS = (
    Kind(id="pii.email", pattern=Pattern(r"[A-Za-z0-9._+%'\-]+@[A-Za-z0-9\-]+(?:\.[A-Za-z0-9\-]+)+"), judge=_email),
    Kind(id="pii.card", pattern=Pattern(r"[2-6](?:[ -]?[0-9]){12,18}"), judge=_card),
    Kind(
        id="pii.iban",
        pattern=Pattern(r"[A-Z]{2}[0-9]{2}(?: ?[A-Z0-9]{4}){2,7}(?: ?[A-Z0-9]{1,3})?"),
        judge=_iban,
    ),
    Kind(id="pii.cn-id", pattern=Pattern(r"[1-9][0-9]{16}[0-9Xx]"), judge=_china_id),
    Kind(
        id="pii.cn-mobile",
        pattern=Pattern(r"(?:\+?86[ -]?)?1[3-9][0-9][ -]?[0-9]{4}[ -]?[0-9]{4}"),
        judge=_china_mobile,
    ),
    Kind(
        id="pii.us-ssn",
        pattern=Pattern(
            r"[0-9]{3}-[0-9]{2}-[0-9]{4}|(?i:\bssn\b|social security)[^0-9\n]{0,24}[0-9]{3} ?[0-9]{2} ?[0-9]{4}"
        ),
        judge=_ssn,
    ),
    Kind(
        id="pii.phone",
        pattern=Pattern(
            r"\+[1-9][0-9]{0,2}[ .-]?\(?[0-9]{1,4}\)?(?:[ .-]?[0-9]{2,4}){2,4}"
            r"|\([2-9][0-9]{2}\) ?[2-9][0-9]{2}-[0-9]{4}"
        ),
        judge=_phone,
    ),
    Kind(
        id="pii.ip",
        pattern=Pattern(r"(?:[0-9]{1,3}\.){3}[0-9]{1,3}|[23][0-9A-Fa-f]{3}:[0-9A-Fa-f:]{3,35}"),
        judge=_ip,
    ),
)


def find_personal_data(text: str, *, key: bytes, only: Collection[str] = ()) -> tuple[Match, ...]:
    """Every match of the kinds (all, or those whose ids are in ``only``); ``key`` keys the digests of the values."""
    kinds = tuple(kind for kind in KINDS if not only or kind.id in only)
    found = [
        masked(kind.id, severity, start, end, what, value=text[start:end], key=key)
        for kind, (start, end, severity, what) in judged(text, kinds)
    ]
    return in_order(_without_parts(found))


@cache
def _screen(kinds: tuple[Kind, ...]) -> PatternSet:
    return PatternSet([kind.screen for kind in kinds])


def judged(text: str, kinds: tuple[Kind, ...]) -> Iterator[tuple[Kind, Verdict]]:
    """The candidates of some kinds that their judges accept; what stands where two windows overlap may come twice."""
    for begin, finish in windows(text, _WINDOW, _OVERLAP):
        piece = text[begin:finish]
        hay = haystack(piece)
        # Of one kind its own search says as much as the screen, in the same time.
        for index in _screen(kinds).which(hay.data) if len(kinds) > 1 or kinds[0].hint else (0,):
            kind = kinds[index]
            for low, high in kind.pattern.in_text(hay):
                verdict = kind.judge(text, begin + low, begin + high)
                if verdict is not None:
                    yield kind, verdict


def _without_parts(found: list[Match]) -> Iterator[Match]:
    """The matches that do not lie inside a longer or earlier one (a mobile number with +86 is also a telephone)."""
    end = -1
    for match in sorted(found, key=lambda m: (m.start, -m.end, m.detector)):
        if match.end > end:
            yield match
            end = match.end
