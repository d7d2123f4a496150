"""Detectors by their ids: what a policy names under ``forbid: {detect: [...]}``, run over a text and its readings.

An id names one detector (``pii.email``) or a family (``pii``). The text is decoded once for all of them.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import replace
from functools import lru_cache

from ctxc.detect.decoded import find_decoded
from ctxc.detect.delimiters import find_delimiters
from ctxc.detect.injection import find_injections, heuristics
from ctxc.detect.leaks import ADDRESSES, TRACES, find_internal_urls, find_stack_traces
from ctxc.detect.match import Match, in_order
from ctxc.detect.patterns import windows
from ctxc.detect.pii import KINDS, Kind, find_personal_data
from ctxc.detect.projections import DECODERS
from ctxc.detect.role_tokens import families, find_role_tokens
from ctxc.detect.secret_rules import SecretRule, shipped_rules
from ctxc.detect.secrets import find_secrets
from ctxc.detect.unicode import find_unicode
from ctxc.detect.volatile import find_volatile

_WINDOW, _OVERLAP = 32_768, 4_096
_SCREENS: Mapping[str, tuple[Kind, ...]] = {"pii": KINDS, "leak.internal-url": ADDRESSES, "leak.stack-trace": TRACES}
FAMILIES = ("secret", "pii", "leak", "unicode", "role", "delimiter", "injection", "volatile")


@lru_cache(maxsize=8)
def detector_ids(extra: tuple[SecretRule, ...] = ()) -> tuple[str, ...]:
    """Every id that ``detect`` may name, families first; ``extra`` are the project's own secret rules."""
    ids = [*FAMILIES]
    ids += [f"secret.{rule.id}" for rule in (*shipped_rules(), *extra)]
    ids += [kind.id for kind in KINDS]
    ids += ["leak.internal-url", "leak.stack-trace"]
    ids += [*(f"unicode.U{number:03d}" for number in range(1, 20)), "unicode.nfc"]
    ids += [*(f"role.{family.id}" for family in families() if family.kind != "wrapper"), "role.generic"]
    ids += [f"delimiter.{form}" for form in ("bracket", "cdata", "close-tag", "rule")]
    ids += [f"injection.{heuristic.id}" for heuristic in heuristics()]
    ids += [f"volatile.{kind}" for kind in _VOLATILE]
    return tuple(ids)


_VOLATILE = ("clock", "counter", "date", "hex", "id", "path", "state", "tenant", "uuid", "variable")


class Detectors:
    """Some detectors and families, made ready once for many texts.

    Raises ``ValueError`` for an id that no detector has (see :func:`detector_ids`). ``screen`` holds patterns of which
    at least one occurs in every stretch (:func:`stretches`) that anything is found in; None where no patterns say that.
    """

    __slots__ = ("_finders", "_wanted", "screen")

    def __init__(
        self,
        *,
        key: bytes,
        detect: Collection[str],
        extra: tuple[SecretRule, ...] = (),
        tenants: Collection[str] = (),
    ) -> None:
        unknown = sorted(set(detect) - set(detector_ids(extra)))
        if unknown:
            raise ValueError(f"no detector is called {', '.join(unknown)}")
        self._wanted = frozenset(detect)
        named = [f for f in _finders(key, extra, tenants, self._wanted) if _asks_for(self._wanted, f[0])]
        self._finders = tuple(find for _, find in named)
        screens = [_SCREENS.get(family) for family, _ in named]
        self.screen = None if None in screens else tuple(p for kinds in screens for p in _sources(kinds, self._wanted))

    def find(self, text: str, *, decoders: Collection[str] = ()) -> tuple[Match, ...]:
        """The matches in a text and, with ``decoders``, in its decoded readings (to depth 2), in its order."""
        found: list[Match] = []
        for begin, finish in windows(text, _WINDOW, _OVERLAP):
            for match in find_decoded(text[begin:finish], self._find, decoders=decoders):
                found.append(replace(match, start=begin + match.start, end=begin + match.end) if begin else match)
        return in_order(found)

    def find_in(self, text: str, places: Iterable[tuple[int, int]]) -> tuple[Match, ...]:
        """The matches in some stretches of a text (:func:`stretches`): in all of them they are those of ``find``."""
        found: list[Match] = []
        for begin, finish in places:
            for match in self._find(text[begin:finish]):
                found.append(replace(match, start=begin + match.start, end=begin + match.end) if begin else match)
        return in_order(found)

    def _find(self, piece: str) -> Iterator[Match]:
        for finder in self._finders:
            for match in finder(piece):
                if match.detector in self._wanted or match.detector.partition(".")[0] in self._wanted:
                    yield match


def find_forbidden(
    text: str,
    *,
    key: bytes,
    detect: Collection[str],
    decoders: Collection[str] = DECODERS,
    extra: tuple[SecretRule, ...] = (),
    tenants: Collection[str] = (),
) -> tuple[Match, ...]:
    """The matches of the named detectors and families in a text and its decoded readings (to depth 2), in its order.

    Raises ``ValueError`` for an id that no detector has (see :func:`detector_ids`).
    """
    return Detectors(key=key, detect=detect, extra=extra, tenants=tenants).find(text, decoders=decoders)


def stretches(text: str) -> tuple[tuple[int, int], ...]:
    """What detectors look at one after the other; most texts are one stretch."""
    return tuple(windows(text, _WINDOW, _OVERLAP))


def _sources(kinds: tuple[Kind, ...] | None, wanted: Collection[str]) -> Iterator[str]:
    for kind in kinds or ():
        if kind.id in wanted or kind.id.partition(".")[0] in wanted:
            yield kind.screen


def _asks_for(wanted: Collection[str], family: str) -> bool:
    """True if a wanted id is the finder's, above it, or below it."""
    return any(f"{name}.".startswith(f"{family}.") or f"{family}.".startswith(f"{name}.") for name in wanted)


def _finders(
    key: bytes, extra: tuple[SecretRule, ...], tenants: Collection[str], wanted: frozenset[str]
) -> Iterator[tuple[str, Callable[[str], tuple[Match, ...]]]]:
    """Each family with its finder on one reading; decoding is the caller's."""
    kinds = frozenset() if "pii" in wanted else wanted & {kind.id for kind in KINDS}
    yield "secret", lambda text: find_secrets(text, key=key, extra=extra, decode=False)
    yield "pii", lambda text: find_personal_data(text, key=key, only=kinds)
    yield "leak.internal-url", lambda text: find_internal_urls(text, key=key)
    yield "leak.stack-trace", lambda text: find_stack_traces(text, key=key)
    yield "unicode", find_unicode
    yield "role", find_role_tokens
    yield "delimiter", find_delimiters
    yield "injection", lambda text: find_injections(text, decode=False)
    yield "volatile", lambda text: find_volatile(text, tenants=tenants)
