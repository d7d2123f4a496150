"""The gates, one a file: what each asks, by which rules, and what it has to say of what it looked at.

A module of this package whose name does not begin with an underscore is a gate of its name. It defines ``GATE``;
nothing is registered by hand. The first nine are the steps of a release in their order, the others hold what ships
together.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache
from typing import TYPE_CHECKING, Any

from ctxc.base import registry
from ctxc.base.values import dataclass
from ctxc.report._tally import plural as counted

if TYPE_CHECKING:
    from ctxc.rules.engine import Context


@dataclass(frozen=True, slots=True, kw_only=True)
class Looked:
    """What a gate looked at: how many things, which, and what it could not judge. ``applies`` is False where there was
    nothing that it could have judged."""

    count: int = 0
    what: str = ""
    note: str = ""
    applies: bool = True

    @property
    def message(self) -> str:
        """Both in one line."""
        return "; ".join(t for t in (self.what, self.note) if t)


@dataclass(frozen=True, slots=True, kw_only=True)
class Lint:
    """What lint looked at before the gates ran: files and rules; and its findings below an error, below a warning."""

    files: int = 0
    rules: int = 0
    below: int = 0
    notes: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Gate:
    """One gate. ``rules`` are names; ``codes`` are further codes whose findings belong to it (of compiling, of lint).

    ``advice`` are codes of lint that this gate tells where they are too mild for the first one.
    ``always``: it runs with its defaults where no policy says anything. ``step`` is the key of its parameters.
    """

    id: str
    order: int
    title: str
    rules: tuple[str, ...]
    look: Callable[[Context, Lint], Looked]
    codes: tuple[str, ...] = ()
    advice: tuple[str, ...] = ()
    always: bool = False
    needs_base: bool = False

    def is_off(self, gates: Mapping[str, Any]) -> bool:
        """Whether a policy switches it off."""
        return gates.get(self.id) is False


def gate_ids() -> tuple[str, ...]:
    """Names of all gates, sorted, without importing any of them."""
    return registry.names(__name__)


@cache
def gates() -> tuple[Gate, ...]:
    """Every gate, in order."""
    found = [registry.load(__name__, name).GATE for name in registry.names(__name__)]
    return tuple(sorted(found, key=lambda g: g.order))


__all__ = ["Gate", "Lint", "Looked", "counted", "gate_ids", "gates"]
