"""What a detector returns: where, what kind, how bad; never the value itself."""

from __future__ import annotations

from collections.abc import Iterable

from ctxc.base.escaping import visible
from ctxc.base.values import dataclass
from ctxc.model.finding import Severity

DIGEST_DIGITS = 12
SHOWN = 4


@dataclass(frozen=True, slots=True, kw_only=True)
class Match:
    """One place in a text that a detector recognised.

    ``detector`` names the detector (``secret.github-token``, ``pii.email``, ``unicode.U005``, ``role.chatml``,
    ``tool.T101``). ``start`` and ``end`` are code-point offsets into the text that was given; for a match inside a
    decoded value they cover the encoded source of it, and ``via`` names the decoders, outermost first. ``severity`` is
    a hint for untrusted data; a rule may know better. ``prefix`` holds at most four characters of a masked value,
    ``length`` its length in code points, ``digest`` the keyed digest that recognises the same value again. ``pointer``
    is a JSON pointer where the text is a string inside a value.
    """

    detector: str
    severity: Severity
    start: int
    end: int
    message: str
    prefix: str = ""
    length: int = 0
    digest: str = ""
    via: tuple[str, ...] = ()
    pointer: str = ""

    @property
    def sort_key(self) -> tuple[str, int, int, str]:
        """Pointer, start, end, detector."""
        return (self.pointer, self.start, self.end, self.detector)


def keyed_digest(key: bytes, value: str) -> str:
    """The first 12 hex digits of HMAC-SHA256 over the value's UTF-8 bytes: enough to recognise, not to recover.

    The key belongs to the caller (one for a project), so that digests of short values cannot be looked up in a table.
    """
    import hmac

    return hmac.new(key, value.encode("utf-8", "surrogatepass"), "sha256").hexdigest()[:DIGEST_DIGITS]


def masked(detector: str, severity: Severity, start: int, end: int, message: str, *, value: str, key: bytes) -> Match:
    """A match of a sensitive value: its length, a keyed digest, and a quarter of it, at most four characters."""
    shown = value[: min(SHOWN, len(value) // 4)]
    return Match(
        detector=detector,
        severity=severity,
        start=start,
        end=end,
        message=message,
        prefix=visible(shown),
        length=len(value),
        digest=keyed_digest(key, value),
    )


def in_order(matches: Iterable[Match]) -> tuple[Match, ...]:
    """The matches sorted by place, each once."""
    return tuple(sorted(set(matches), key=lambda m: (m.sort_key, m.message, m.via, m.digest)))
