"""Numbers, amounts, quantities and dates as people write them, each with one key for all its spellings.

1,200.50 and 1200.5; 3万元 and 30,000 CNY; five weeks and 5周; Oct 31, 2026 and 2026年10月31日; 5:30 PM and 17:30.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Literal, NamedTuple

from ctxc.detect.patterns import Pattern

QuantityKind = Literal["date", "amount", "percent", "quantity", "number"]


class Form(NamedTuple):
    """One written form: the kind of fact, its RE2 pattern, and the key of a candidate (None: it is none)."""

    kind: QuantityKind
    pattern: Pattern
    key: Callable[[str], str | None]


_DIGITS = {"零": 0, "〇": 0, "一": 1, "二": 2, "两": 2, "三": 3, "四": 4, "五": 5, "六": 6, "七": 7, "八": 8, "九": 9}
_STEPS = {"十": 10, "百": 100, "千": 1_000}
_GROUPS = {"万": 10_000, "亿": 100_000_000}
_WORDS = {
    "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8, "nine": 9, "ten": 10,
    "eleven": 11, "twelve": 12, "fourteen": 14, "fifteen": 15, "twenty": 20, "thirty": 30, "forty": 40, "fifty": 50,
    "sixty": 60, "ninety": 90,
}  # fmt: skip
_SCALES = {
    "k": 1_000, "thousand": 1_000, "m": 1_000_000, "mn": 1_000_000, "million": 1_000_000, "bn": 1_000_000_000,
    "billion": 1_000_000_000, "百": 100, "千": 1_000, "万": 10_000, "百万": 1_000_000, "亿": 100_000_000,
}  # fmt: skip
_CURRENCIES = {
    "USD": ("$", "us$", "usd", "dollar", "dollars", "美元"),
    "EUR": ("€", "eur", "euro", "euros", "欧元"),
    "GBP": ("£", "gbp", "pounds", "英镑"),
    "CNY": ("¥", "￥", "cny", "rmb", "yuan", "元", "块", "人民币"),
    "JPY": ("jpy", "yen", "日元"),
    "CHF": ("chf",),
    "HKD": ("hk$", "hkd", "港元"),
    "INR": ("₹", "inr"),
    "KRW": ("₩", "krw"),
}
_UNITS = {
    "ms": ("ms", "millisecond", "毫秒"), "second": ("s", "sec", "second", "秒"), "minute": ("min", "minute", "分钟"),
    "hour": ("h", "hr", "hour", "小时"), "day": ("d", "day", "天", "日"), "week": ("week", "周", "星期"),
    "month": ("month", "个月"), "year": ("year", "年"), "mm": ("mm", "毫米"), "cm": ("cm", "厘米"),
    "m": ("m", "metre", "meter", "米"), "km": ("km", "kilometre", "kilometer", "公里", "千米"), "mile": ("mile",),
    "m²": ("m²", "m2", "平方米"), "mg": ("mg", "毫克"), "g": ("g", "gram", "克"), "kg": ("kg", "公斤", "千克"),
    "t": ("t", "ton", "tonne", "吨"), "ml": ("ml", "毫升"), "l": ("l", "litre", "liter", "升"), "kB": ("kb",),
    "MB": ("mb",), "GB": ("gb",), "TB": ("tb",), "token": ("token",), "°C": ("°c", "℃", "摄氏度"), "°F": ("°f",),
    "V": ("v",), "W": ("w",), "kW": ("kw",), "kWh": ("kwh",), "Hz": ("hz",), "MHz": ("mhz",), "GHz": ("ghz",),
    "rpm": ("rpm",), "bar": ("bar",), "time": ("time", "次"), "person": ("person", "people", "人"),
    "piece": ("piece", "个", "件", "条", "台"), "page": ("page", "页"),
}  # fmt: skip
_CURRENCY_OF = {word: code for code, words in _CURRENCIES.items() for word in words}
_UNIT_OF = {word: unit for unit, words in _UNITS.items() for word in words}

NUMBER = r"[0-9]+(?:,[0-9]{3})*(?:\.[0-9]+)?"
HAN_NUMBER = "[零〇一二两三四五六七八九十百千万亿]"
_SCALE = r"(?:thousand|million|billion|mn|bn|百万|[kKmM百千万亿])"
_SMALL = "(?:" + "|".join(sorted(_WORDS, key=len, reverse=True)) + ")"
_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_MONTH = (
    r"(?:jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?"
    r"|nov(?:ember)?|dec(?:ember)?)"
)


def plain_number(written: str) -> str:
    """A decimal number without separators and idle zeros: ``1,200.50`` becomes ``1200.5``, ``007`` becomes ``7``."""
    text = re.sub(r"[,_\s\u00a0\u202f]", "", written).lstrip("+")
    sign = "-" if text[:1] in ("-", "−") else ""
    whole, _, fraction = text.lstrip("-−").partition(".")
    fraction = fraction.rstrip("0")
    return sign + (whole.lstrip("0") or "0") + (f".{fraction}" if fraction else "")


def scaled(written: str, scale: str) -> str:
    """A number with its scale word worked in: ``scaled("1.2", "million")`` is ``1200000``."""
    factor = _SCALES.get(scale.strip().lower())
    number = plain_number(written)
    if factor is None:
        return number
    whole, _, fraction = number.partition(".")
    zeros = len(str(factor)) - 1
    if len(fraction) <= zeros:
        return plain_number(whole + fraction + "0" * (zeros - len(fraction)))
    return plain_number(f"{whole}{fraction[:zeros]}.{fraction[zeros:]}")


def han_number(written: str) -> str | None:
    """The decimal form of a Chinese numeral; None for what is no number."""
    if written and all(char in _DIGITS for char in written):
        return str(int("".join(str(_DIGITS[char]) for char in written)))
    total = section = digit = 0
    for char in written:
        if char in _DIGITS:
            digit = _DIGITS[char]
        elif char in _STEPS:
            section += (digit or (0 if section else 1)) * _STEPS[char]
            digit = 0
        elif char in _GROUPS:
            section += digit
            total = (total + section) * _GROUPS[char] if char == "亿" else total + section * _GROUPS[char]
            section = digit = 0
        else:
            return None
    return str(total + section + digit) if written else None


def _value(written: str) -> str | None:
    """The number that digits, a Chinese numeral or an English word stand for."""
    if written[:1].isdigit() and written.isascii():
        return plain_number(written)
    word = _WORDS.get(written.lower())
    return str(word) if word is not None else han_number(written)


def _month(name: str) -> str:
    return f"{_MONTHS.index(name[:3].lower()) + 1:02d}"


def date_key(written: str) -> str | None:
    """ISO form of a date, without the parts that are not written."""
    text = written.lower()
    if found := re.fullmatch(r"(\d{4})[-/.年](\d{1,2})[-/.月](\d{1,2})日?", text):
        return f"{found[1]}-{int(found[2]):02d}-{int(found[3]):02d}"
    if found := re.fullmatch(r"(\d{4})年(\d{1,2})月", text):
        return f"{found[1]}-{int(found[2]):02d}"
    if found := re.fullmatch(r"(\d{1,2})月(\d{1,2})日", text):
        return f"{int(found[1]):02d}-{int(found[2]):02d}"
    if found := re.fullmatch(rf"({_MONTH}) (\d{{4}})", text):
        return f"{found[2]}-{_month(found[1])}"
    year, name, day = "", "", ""
    if found := re.fullmatch(rf"({_MONTH})\.? (\d{{1,2}})(?:st|nd|rd|th)?(?:,? (\d{{4}}))?", text):
        name, day, year = found[1], found[2], found[3] or ""
    elif found := re.fullmatch(rf"(\d{{1,2}})(?:st|nd|rd|th)? ({_MONTH})\.?(?:,? (\d{{4}}))?", text):
        day, name, year = found[1], found[2], found[3] or ""
    if not name:
        return None
    return f"{year}-{_month(name)}-{int(day):02d}".removeprefix("-")


def clock_key(written: str) -> str | None:
    """24-hour form of a time of day."""
    found = re.fullmatch(r"(\d{1,2}):(\d{2})(?::(\d{2}))?\s?([ap])?\.?(?:m\.?)?", written.lower())
    if found is None or int(found[1]) > 24 or int(found[2]) > 59:
        return None
    hour = int(found[1]) % 12 + (12 if found[4] == "p" else 0) if found[4] else int(found[1])
    return f"{hour:02d}:{found[2]}" + (f":{found[3]}" if found[3] else "")


def amount_key(written: str) -> str | None:
    """Number and currency code of an amount of money."""
    number = re.search(rf"({NUMBER})(?:\s?({_SCALE}))?", written) or re.search(f"({HAN_NUMBER}+)()", written)
    if number is None:
        return None
    rest = (written[: number.start()] + written[number.end() :]).strip().lower()
    value = scaled(number[1], number[2] or "") if number[1][0].isascii() else han_number(number[1])
    currency = _CURRENCY_OF.get(rest)
    return f"{value} {currency}" if value and currency else None


def percent_key(written: str) -> str | None:
    """The number of a percentage."""
    value = _value(re.sub(r"^百分之|\s?(?:%|％|percent|per cent)$", "", written, flags=re.IGNORECASE))
    return f"{value}%" if value else None


def quantity_key(written: str) -> str | None:
    """Number and unit of a quantity."""
    found = re.fullmatch(rf"({NUMBER}|{HAN_NUMBER}+|{_SMALL})[\s-]?(\S+)", written, re.IGNORECASE)
    if found is None:
        return None
    unit, scale = found[2].lower(), ""
    if unit[0] in _GROUPS:
        unit, scale = unit[1:], unit[0]
    name = _UNIT_OF.get(unit) or _UNIT_OF.get(unit.removesuffix("s"))
    value = scaled(found[1], scale) if scale and found[1].isascii() else _value(found[1])
    return f"{value} {name}" if value and name else None


def number_key(written: str) -> str | None:
    """A bare number, its scale word worked in."""
    found = re.fullmatch(rf"([-−]?{NUMBER})\s?({_SCALE})?", written)
    return scaled(found[1], found[2] or "") if found else None


def _words(words: list[str]) -> str:
    return "|".join(re.escape(word) for word in sorted(words, key=lambda w: (-len(w), w)))


_LATIN = _words([word for word in _UNIT_OF if ord(word[0]) < 0x2E80])
_HAN = _words([word for word in _UNIT_OF if ord(word[0]) >= 0x2E80])
_SIGNS = _words([word for word in _CURRENCY_OF if not word[-1].isalpha()])
_NAMES = _words([word for word in _CURRENCY_OF if word[-1].isalpha()])
_DATE = (
    r"(?i)(?:19|20)[0-9]{2}[-/.][01]?[0-9][-/.][0-3]?[0-9]|(?:19|20)[0-9]{2}年[01]?[0-9]月(?:[0-3]?[0-9]日)?"
    rf"|[01]?[0-9]月[0-3]?[0-9]日|\b{_MONTH}\.? [0-3]?[0-9](?:st|nd|rd|th)?(?:,? (?:19|20)[0-9]{{2}})?\b"
    rf"|\b[0-3]?[0-9](?:st|nd|rd|th)? {_MONTH}\b\.?(?:,? (?:19|20)[0-9]{{2}})?|\b{_MONTH} (?:19|20)[0-9]{{2}}\b"
)
_MONEY = (
    rf"(?i)(?:{_SIGNS})\s?{NUMBER}(?:\s?{_SCALE}\b)?|{NUMBER}\s?(?:{_SCALE}\s?)?(?:{_NAMES}|{_SIGNS})"
    rf"|{HAN_NUMBER}+(?:{_NAMES})|\b(?:{_NAMES})\s?{NUMBER}(?:\s?{_SCALE}\b)?"
)

FORMS = (
    Form("date", Pattern(_DATE), date_key),
    Form("date", Pattern(r"(?i)\b[0-2]?[0-9]:[0-5][0-9](?::[0-5][0-9])?(?:\s?[ap]\.?m\.?)?"), clock_key),
    Form("amount", Pattern(_MONEY), amount_key),
    Form(
        "percent",
        Pattern(rf"(?i){NUMBER}\s?(?:%|％|percent\b|per cent\b)|百分之(?:{NUMBER}|{HAN_NUMBER}+)"),
        percent_key,
    ),
    Form("quantity", Pattern(rf"(?i)(?:{NUMBER}[\s-]?|\b{_SMALL}[\s-])(?:{_LATIN})s?(?:\b|$)"), quantity_key),
    Form("quantity", Pattern(rf"(?:{NUMBER}|{HAN_NUMBER}+)\s?[万亿]?(?:{_HAN})"), quantity_key),
    Form("number", Pattern(rf"[-−]?{NUMBER}(?:\s?(?:thousand|million|billion|百万|[万亿])|[kKmM]\b)?"), number_key),
)
"""The forms, the more specific before the more general: what one has taken the next leaves alone."""
