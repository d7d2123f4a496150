"""What a compiler works out once: the sections that no fixture changes, and how they look.

A policy, a fragment without variables, a tool set and a contract are the same for every fixture of one template. What
is kept is a pure function of the objects in its key; these belong to the project, so they are told apart by identity,
and they are kept beside the value, so that no identity is ever used again. Threads may share a memo: the worst that
can happen is that something is worked out twice.
"""

from __future__ import annotations

from dataclasses import field
from typing import TYPE_CHECKING, Any

from ctxc.base.canonical import canonical, digest_text
from ctxc.base.values import dataclass

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from ctxc.compiler.measure import Draft
    from ctxc.model.counting import Tokenizer
    from ctxc.model.package import State
    from ctxc.model.provider import ModelRow, ProviderProfile
    from ctxc.model.section import Section
    from ctxc.model.template import SectionSpec
    from ctxc.providers.port import Shape

_MOST_WIRES = 4_000
_Key = tuple[int | str, ...]


@dataclass(frozen=True, slots=True)
class Lane:
    """What is the same for all requests to one model: who counts and renders, and drafts of fixed sections by identity
    of the section, with what the snapshot says of each and its JSON before and after the position."""

    tokenizer: Tokenizer
    reference: Tokenizer  # of limits that authors write without a model in mind: a fragment's own max_tokens
    shape: Shape
    drafts: dict[int, Draft] = field(default_factory=dict)
    entries: dict[int, tuple[dict[str, Any], str, str]] = field(default_factory=dict)


class Memo:
    """The memory of one compiler."""

    def __init__(self) -> None:
        self._sections: dict[_Key, tuple[Section, State]] = {}
        self._fixed: dict[int, Section] = {}
        self._lanes: dict[_Key, Lane] = {}
        self._specs: dict[_Key, Sequence[SectionSpec]] = {}
        self._held: dict[_Key, tuple[object, ...]] = {}
        self._wires: dict[str, tuple[str, str]] = {}

    def section(self, made_from: tuple[object, ...]) -> tuple[Section, State] | None:
        """The section that was made from these objects and texts, with its first state."""
        return self._sections.get(_key(made_from))

    def keep_section(self, made_from: tuple[object, ...], section: Section, state: State) -> None:
        """Keep a section that depends on nothing but these."""
        key = self._hold(made_from)
        self._sections[key] = (section, state)
        self._fixed[id(section)] = section

    def is_fixed(self, section: Section) -> bool:
        """Whether this very section is the same for other fixtures."""
        return self._fixed.get(id(section)) is section

    def specs(self, made_from: tuple[object, ...], make: Callable[[], Sequence[SectionSpec]]) -> Sequence[SectionSpec]:
        """The sections of a template, those included that need no writing."""
        found = self._specs.get(_key(made_from))
        if found is None:
            found = self._specs[self._hold(made_from)] = make()
        return found

    def lane(self, provider: ProviderProfile, row: ModelRow, model: str, make: Callable[[], Lane]) -> Lane:
        """The lane of a model, made when it is first asked for."""
        made_from = (provider, row, model)
        found = self._lanes.get(_key(made_from))
        if found is None:
            found = self._lanes[self._hold(made_from)] = make()
        return found

    def wire(self, text: str) -> tuple[str, str]:
        """Digest and JSON of a text that is likely to come again: the bytes of a stable segment."""
        found = self._wires.get(text)
        if found is None:
            if len(self._wires) >= _MOST_WIRES:
                self._wires = {}
            found = self._wires[text] = (digest_text(text), canonical(text))
        return found

    def _hold(self, made_from: tuple[object, ...]) -> _Key:
        key = _key(made_from)
        self._held[key] = made_from
        return key


def _key(made_from: tuple[object, ...]) -> _Key:
    return tuple([part if isinstance(part, str) else id(part) for part in made_from])
