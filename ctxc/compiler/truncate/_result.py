"""What truncation hands back."""

from __future__ import annotations

from ctxc.base.values import dataclass
from ctxc.model.section import Message

Range = tuple[int, int]
"""The first code point and the one after the last, counted from 0 in the source text."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Cut:
    """A text or a value within a limit of tokens.

    ``fits`` is false when not even the mark of the cut is within the limit; then there is no text, and what to do
    instead is the caller's decision. ``tokens_after`` counts ``text`` as it stands, mark included.
    """

    text: str
    strategy: str  # that was applied; ``note`` says why when it is not the one that was asked for
    tokens_before: int
    tokens_after: int
    cut: bool
    fits: bool
    kept_ranges: tuple[Range, ...] = ()  # of the source text; empty for a cut JSON value
    removed: tuple[str, ...] = ()  # JSON pointers of the source value where something was left out
    lost: tuple[str, ...] = ()  # what was to be kept, is in the source, and did not fit
    value: object = None  # of the json strategy, except for a text that fits as it is
    note: str = ""

    @property
    def source_refs(self) -> tuple[str, ...]:
        """What a record of the cut says of the source: ranges kept (``0:120``), or pointers where it was cut."""
        return self.removed or tuple(f"{start}:{end}" for start, end in self.kept_ranges)


@dataclass(frozen=True, slots=True, kw_only=True)
class MessageUnit:
    """Messages that stay or leave together: one message, or calls with everything up to their last result.

    ``start`` is the index of the first message in the whole history; ``turn`` counts the user's messages from the
    oldest (what stands before the first belongs to turn 0 with it); ``opens`` marks the user message of a turn.
    """

    messages: tuple[Message, ...]
    start: int
    turn: int
    opens: bool = False
    orphan: bool = False  # a result whose call is not in the history
