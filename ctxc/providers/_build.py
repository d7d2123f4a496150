"""What every renderer collects while it builds a request: segments in physical order, and where sections landed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ctxc.model.provider import ModelRow
from ctxc.model.request import Part, Rendered, Segment
from ctxc.providers._read import texts_of


class Builder:
    """Segments and places of a request under construction."""

    __slots__ = ("placed", "segments")

    def __init__(self) -> None:
        self.segments: list[Segment] = []
        self.placed: dict[str, list[str]] = {}

    def put(
        self,
        section: str,
        pointer: str,
        text: str,
        zone: str,
        *,
        stable: bool = False,
        mark: str = "",
        frame: str = "",
    ) -> None:
        """One more segment; a section id (not a name of the shape's own, which begins with ``:``) is also placed."""
        if section.startswith(":"):
            section = section[1:]
        elif section:
            places = self.placed.setdefault(section, [])
            if pointer not in places:
                places.append(pointer)
        self.segments.append(
            Segment(id=section, pointer=pointer, text=text, zone=zone, stable=stable, mark=mark, frame=frame)
        )

    def done(
        self,
        request: Mapping[str, Any],
        *,
        renamed: Mapping[str, str] | None = None,
        call_ids: Mapping[str, str] | None = None,
    ) -> Rendered:
        """The finished request."""
        return Rendered(
            request=request,
            segments=tuple(self.segments),
            placed={k: tuple(v) for k, v in self.placed.items()},
            renamed=renamed or {},
            call_ids=call_ids or {},
        )


def mark_of(wanted: str, row: ModelRow, place: str) -> str:
    """The mark that the model's cache rules allow here: "" where the provider takes none in this place.

    ``place`` is tools, system or messages. A time to live that the row does not list becomes the provider's default,
    so that a template can say ``1h`` and still be sent where there is one time to live only.
    """
    if not wanted or place not in texts_of(row.cache.get("placements")):
        return ""
    ttls = texts_of(row.cache.get("ttls"))
    return wanted if wanted in ttls else "default"


def spoken(parts: tuple[Part, ...]) -> tuple[Part, ...]:
    """The parts that hold more than white space, for interfaces that refuse a blank block."""
    return tuple(p for p in parts if p.text.strip())


def whole(parts: tuple[Part, ...]) -> tuple[Part, ...]:
    """The parts that have text: an empty block is never sent."""
    return tuple(p for p in parts if p.text)
