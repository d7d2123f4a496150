"""Check digits of card numbers, bank accounts and identity numbers.

Sources: ISO/IEC 7812-1 (Luhn), ISO 13616-1 with the lengths of the SWIFT IBAN registry (release 99), GB 11643-1999
(ISO 7064 MOD 11-2), and the issuer ranges that the card networks publish.
"""

from __future__ import annotations

import re
from datetime import date

_ISSUERS = re.compile(
    r"4[0-9]{12}(?:[0-9]{3}){0,2}|5[1-5][0-9]{14}|2(?:22[1-9]|2[3-9][0-9]|[3-6][0-9]{2}|7[01][0-9]|720)[0-9]{12}"
    r"|3[47][0-9]{13}|3(?:0[0-5]|[689][0-9])[0-9]{11}|6(?:011|5[0-9]{2}|4[4-9][0-9])[0-9]{12}"
    r"|35(?:2[89]|[3-8][0-9])[0-9]{12}|62[0-9]{14,17}|220[0-4][0-9]{12}"
)
_IBAN_LENGTHS = {
    "AD": 24, "AE": 23, "AL": 28, "AT": 20, "AZ": 28, "BA": 20, "BE": 16, "BG": 22, "BH": 22, "BI": 27, "BR": 29,
    "BY": 28, "CH": 21, "CR": 22, "CY": 28, "CZ": 24, "DE": 22, "DJ": 27, "DK": 18, "DO": 28, "EE": 20, "EG": 29,
    "ES": 24, "FI": 18, "FK": 18, "FO": 18, "FR": 27, "GB": 22, "GE": 22, "GI": 23, "GL": 18, "GR": 27, "GT": 28,
    "HN": 28, "HR": 21, "HU": 28, "IE": 22, "IL": 23, "IQ": 23, "IS": 26, "IT": 27, "JO": 30, "KW": 30, "KZ": 20,
    "LB": 28, "LC": 32, "LI": 21, "LT": 20, "LU": 20, "LV": 21, "LY": 25, "MC": 27, "MD": 24, "ME": 22, "MK": 19,
    "MN": 20, "MR": 27, "MT": 31, "MU": 30, "NI": 28, "NL": 18, "NO": 15, "OM": 23, "PK": 24, "PL": 28, "PS": 29,
    "PT": 25, "QA": 29, "RO": 24, "RS": 22, "RU": 33, "SA": 24, "SC": 31, "SD": 18, "SE": 24, "SI": 19, "SK": 24,
    "SM": 27, "SO": 23, "ST": 25, "SV": 28, "TL": 23, "TN": 24, "TR": 26, "UA": 29, "VA": 22, "VG": 24, "XK": 20,
    "YE": 30,
}  # fmt: skip
_PROVINCES = frozenset(
    [*range(11, 16), *range(21, 24), *range(31, 38), *range(41, 47), *range(50, 55), *range(61, 66), 71, 81, 82, 83]
)
_CHINA_WEIGHTS = (7, 9, 10, 5, 8, 4, 2, 1, 6, 3, 7, 9, 10, 5, 8, 4, 2)


def luhn(digits: str) -> bool:
    """True if the decimal digits end in the right check digit of ISO/IEC 7812."""
    total = 0
    for place, char in enumerate(reversed(digits)):
        value = int(char) * (1 + place % 2)
        total += value - 9 if value > 9 else value
    return total % 10 == 0


def is_card(digits: str) -> bool:
    """True for a number in the range of an issuer, with a right check digit and more than one distinct digit."""
    return _ISSUERS.fullmatch(digits) is not None and len(set(digits)) > 1 and luhn(digits)


def is_iban(account: str) -> bool:
    """True for an account number without spaces that has its country's length and a right check number."""
    if _IBAN_LENGTHS.get(account[:2]) != len(account):
        return False
    rearranged = account[4:] + account[:4]
    return int("".join(str(int(char, 36)) for char in rearranged)) % 97 == 1


def is_china_id(number: str) -> bool:
    """True for an 18-character resident identity number: a province, a date of birth, a right check character."""
    if int(number[:2]) not in _PROVINCES:
        return False
    try:
        born = date(int(number[6:10]), int(number[10:12]), int(number[12:14]))
    except ValueError:
        return False
    total = sum(int(digit) * weight for digit, weight in zip(number[:17], _CHINA_WEIGHTS, strict=True))
    return 1800 <= born.year < 2100 and "10X98765432"[total % 11] == number[17].upper()
