"""Parts of a change: what differs in a section, what falls out of a request, where its cached prefix ends."""

from __future__ import annotations

from ctxc.base.values import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """A run of text: ``=`` stands on both sides, ``-`` only at base, ``+`` only at head."""

    op: str
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Hunk:
    """One edit, at its source lines, word by word.

    ``kind``: edit, added, removed, moved (the text stands elsewhere now), value (``pointer`` names it). Lines are those
    of the files that the texts came from (``base_path`` is empty where it is ``path``); None where the text has none.
    ``count`` and ``also`` (further lines at head): the same edit was found so many times and is told once.
    """

    kind: str
    path: str
    base_line: int | None = None
    head_line: int | None = None
    runs: tuple[Run, ...] = ()
    before: tuple[str, ...] = ()
    after: tuple[str, ...] = ()
    base_path: str = ""
    pointer: str = ""
    whitespace: bool = False
    count: int = 1
    also: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class FieldChange:
    """A fact of a section, a fixture or a tool that differs; texts as they are printed."""

    name: str
    facet: str
    base: str
    head: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Tokens:
    """Tokens on both sides; None where a side has no count. ``exact`` is false where a count has an error band,
    ``comparable`` where the sides were counted by different tokenizers: then there is no difference to speak of."""

    base: int | None
    head: int | None
    exact: bool = True
    comparable: bool = True

    @property
    def delta(self) -> int | None:
        """Head less base, None where one is missing or the other says nothing about it."""
        return None if self.base is None or self.head is None or not self.comparable else self.head - self.base


NO_TOKENS = Tokens(base=None, head=None)


@dataclass(frozen=True, slots=True, kw_only=True)
class SectionChange:
    """A section that differs. ``masked``: its texts are sensitive and are never shown.

    ``identity`` is what it was matched by; ``base_id`` its id at base where that differs. ``base_tokens`` of an added
    section and ``head_tokens`` of a removed one are 0. ``comparable`` is false where another tokenizer counted each
    side. ``whitespace``: nothing but white space differs in its text.
    """

    section_id: str
    status: str
    facets: tuple[str, ...]
    kind: str
    zone: str
    base_tokens: int
    head_tokens: int
    identity: str = ""
    base_id: str = ""
    base_position: int | None = None
    head_position: int | None = None
    source: str = ""
    path: str = ""
    line: int | None = None
    whitespace: bool = False
    masked: bool = False
    comparable: bool = True
    fields: tuple[FieldChange, ...] = ()
    hunks: tuple[Hunk, ...] = ()

    @property
    def delta(self) -> int:
        """Tokens more (or less) than at base; 0 where that cannot be said."""
        return self.head_tokens - self.base_tokens if self.comparable else 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Drop:
    """A candidate that falls out at head, came back, or is left out for another reason.

    ``status``: dropped (it was rendered, or is new and left out), restored, gone (left out at base, no candidate any
    more), other_reason. ``tokens`` is None where neither side counted it.
    """

    section_id: str
    kind: str
    status: str
    tokens: int | None
    base_reason: str = ""
    head_reason: str = ""
    detail: str = ""
    new: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class FirstDifference:
    """Where two requests part, in the provider's physical order.

    ``byte`` counts in the request's bytes, ``percent`` is its share of the base's length, ``token`` the tokens in front
    of it. None where a side holds no texts. ``reason`` is the provider's own name for the loss (``system_changed``).
    ``base_text`` and ``head_text`` are what stands there, shortened.
    """

    section_id: str
    reason: str
    byte: int | None = None
    token: int | None = None
    percent: float | None = None
    path: str = ""
    line: int | None = None
    base_text: str = ""
    head_text: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Prefix:
    """The cached prefix. ``stable``: byte-identical on both sides (equal hashes).

    ``lost_tokens``: tokens of the base's prefix behind the first difference; their cache is lost. ``marks``: the cache
    marks stand elsewhere though the bytes are the same.
    """

    stable: bool
    base_hash: str = ""
    head_hash: str = ""
    base_tokens: int = 0
    head_tokens: int = 0
    lost_tokens: int = 0
    marks: bool = False
    reasons: tuple[str, ...] = ()
    first_difference: FirstDifference | None = None
