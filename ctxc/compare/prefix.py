"""Where two requests part, in the provider's physical order, and what that costs the cache.

What is compared are the bytes of the request's segments, frame and text, one after the other. Everything behind the
first byte that differs has to be read anew; of that, the tokens of the base's stable prefix are those that had a cache.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ctxc.base.spans import Origin
from ctxc.base.values import dataclass
from ctxc.compare.sections import Teller, line_of, places_of
from ctxc.compare.views import Item, Piece, View
from ctxc.compiler.wrap import is_native, is_verbatim
from ctxc.model.change import FirstDifference, Prefix, SectionChange
from ctxc.model.project import Sources
from ctxc.model.provider import ModelRow, ProviderProfile, TokenizerRef
from ctxc.providers import find_row

Count = Callable[[TokenizerRef, str], int]
"""Tokens of a text by a tokenizer, before the model's own factor."""

_SETTINGS = "settings"
_FORMATS = ("output_format", "response_format", "text_format")
_EXCERPT = 32  # code points on each side of the first difference


def prefix_change(
    base: View, head: View, changes: Sequence[SectionChange], teller: Teller, count: Count
) -> Prefix | None:
    """The prefix of both sides; None where one of them has no request."""
    if not base.pieces or not head.pieces:
        return None
    old, new = base.part("cache", "cache_prefix_hash"), head.part("cache", "cache_prefix_hash")
    stable = old is not None and old == new
    split = _split(base.pieces, head.pieces)
    first = _first(base, head, split, changes, teller, count) if split is not None else None
    tokens = int(base.part("cache", "prefix_tokens") or 0)
    lost = 0
    if not stable and (split is None or split.in_prefix):
        kept = first.token if first is not None else None
        if kept is None and split is not None:  # no bytes to compare: whole segments are equal, or are not
            kept = sum(piece.tokens for piece in base.pieces[: split.base])
        lost = max(0, tokens - (kept or 0))
    return Prefix(
        stable=stable,
        base_hash=old or "",
        head_hash=new or "",
        base_tokens=tokens,
        head_tokens=int(head.part("cache", "prefix_tokens") or 0),
        lost_tokens=lost,
        marks=_marks(base) != _marks(head),
        reasons=_reasons(base, head),
        first_difference=first,
    )


def _marks(view: View) -> list[tuple[str, str]]:
    # A section may be in several segments, and a saved snapshot only says after which section a mark stands.
    return list(dict.fromkeys((p.id, p.mark) for p in view.pieces if p.mark))


@dataclass(frozen=True, slots=True, kw_only=True)
class _Split:
    """Where the segments part: index of the first that is not equal, and code points in it on each side.

    The indexes are of the segments that hold the first differing code point; beyond the last where a side ended.
    ``in_prefix``: the base's segment belongs to its stable prefix. ``bytes`` is None where there are no texts.
    """

    base: int
    head: int
    base_offset: int = 0
    head_offset: int = 0
    bytes: int | None = None
    total: int = 0
    in_prefix: bool = False


def _split(base: Sequence[Piece], head: Sequence[Piece]) -> _Split | None:
    equal = 0
    for one, other in zip(base, head, strict=False):
        if not (one.wire == other.wire if None not in (one.wire, other.wire) else one.hash == other.hash):
            break
        equal += 1
    if equal == len(base) == len(head):
        return None
    prefix = next((n for n, p in enumerate(base) if not p.stable), len(base))
    old, new = [p.wire for p in base[equal:]], [p.wire for p in head[equal:]]
    if None in old or None in new:
        return _Split(base=equal, head=equal, in_prefix=equal < prefix)
    rest, rest_of_head = "".join(w or "" for w in old), "".join(w or "" for w in new)
    same = _common(rest, rest_of_head)
    if same == len(rest) == len(rest_of_head):
        return None  # cut into segments elsewhere, and the same bytes
    base_index, base_offset = _place(base, equal, same)
    head_index, head_offset = _place(head, equal, same)
    before = sum(len((p.wire or "").encode("utf-8", "surrogatepass")) for p in base[:equal])
    return _Split(
        base=base_index,
        head=head_index,
        base_offset=base_offset,
        head_offset=head_offset,
        bytes=before + len(rest[:same].encode("utf-8", "surrogatepass")),
        total=before + len(rest.encode("utf-8", "surrogatepass")),
        in_prefix=base_index < prefix,
    )


def _common(one: str, other: str) -> int:
    """Code points that two texts share at their start, by halving: texts are long and mostly equal."""
    low, high = 0, min(len(one), len(other))
    while low < high:
        middle = (low + high + 1) // 2
        if one[low:middle] == other[low:middle]:
            low = middle
        else:
            high = middle - 1
    return low


def _place(pieces: Sequence[Piece], start: int, offset: int) -> tuple[int, int]:
    """The segment, from ``start`` on, that holds a code point, and the offset inside it."""
    for number in range(start, len(pieces)):
        size = len(pieces[number].wire or "")
        if offset < size:
            return number, offset
        offset -= size
    return len(pieces), 0


def _first(
    base: View, head: View, split: _Split, changes: Sequence[SectionChange], teller: Teller, count: Count
) -> FirstDifference:
    old = base.pieces[split.base] if split.base < len(base.pieces) else None
    new = head.pieces[split.head] if split.head < len(head.pieces) else None
    of_head = _is_of_head(old, new, changes)
    view, index, offset = (head, split.head, split.head_offset) if of_head else (base, split.base, split.base_offset)
    piece = view.pieces[index]
    sources = teller.head if of_head else teller.base
    item = next((i for i in view.items if i.section_id == piece.id), None)
    path, line = _source(view, piece, item, offset, sources)
    masked = item is not None and item.sensitive
    return FirstDifference(
        section_id=piece.id,
        reason=_reason(view, piece),
        byte=split.bytes,
        token=_tokens(base, split, count),
        percent=round(100 * split.bytes / split.total, 2) if split.bytes is not None and split.total else None,
        path=path,
        line=line,
        base_text="" if masked else _excerpt(old, split.base_offset, teller),
        head_text="" if masked else _excerpt(new, split.head_offset, teller),
    )


def _is_of_head(old: Piece | None, new: Piece | None, changes: Sequence[SectionChange]) -> bool:
    """Whether head's segment is the one to name: two blocks share their first bytes, and one of them is new or gone."""
    if old is None or new is None:
        return new is not None
    if old.id == new.id:
        return True
    by_head = {c.section_id: c for c in changes if c.status != "removed"}
    by_base = {c.base_id or c.section_id: c for c in changes if c.status != "added"}
    arrived = by_head.get(new.id)
    if arrived is not None and (arrived.status == "added" or "order" in arrived.facets):
        return True
    left = by_base.get(old.id)
    return not (left is not None and (left.status == "removed" or "order" in left.facets))


def _source(
    view: View, piece: Piece, item: Item | None, offset: int, sources: Sources | None
) -> tuple[str, int | None]:
    """File and line that put a code point of a segment there."""
    if item is None:
        return _setting(view, piece, sources)
    section = item.section
    if section is None:
        return item.path, None
    if section.tools:
        number = [p for p in view.pieces if p.id == piece.id].index(piece)
        origin = section.tools[number].origin if number < len(section.tools) else section.origin
        return origin.path, _line(sources, origin)
    wire, content = piece.wire or "", item.content or ""
    start = wire.find(content, piece.frame) if content else -1
    if 0 <= start <= offset < start + len(content):
        return _in_content(item, wire[start:offset], sources)
    fragment = section.attributes.get("fragment")
    if fragment is not None and offset < max(start, 0):
        # The header names the version, which the manifest gives.
        origin = fragment.origin.child("version")
        return origin.path, _line(sources, origin)
    return section.origin.path, line_of(item, sources)


def _in_content(item: Item, before: str, sources: Sources | None) -> tuple[str, int | None]:
    assert item.section is not None
    places = places_of(item, sources)
    written = is_verbatim(item.section) or is_native(item.section)
    return places.path, places.at(before.count("\n") if written else before.count("\\n"))


def _setting(view: View, piece: Piece, sources: Sources | None) -> tuple[str, int | None]:
    """Where the model or the contract was chosen."""
    project = view.project
    fixture = project.fixtures.get(view.fixture_id) if project is not None else None
    if project is None or fixture is None:
        return "", None
    templates = project.templates.get(str(view.part("template", "id")), ())
    for origin, value in (
        (fixture.origin, fixture.model),
        *((t.origin, t.model) for t in templates if t.version == view.part("template", "version")),
    ):
        if piece.id == "model" and value == view.part("provider", "model"):
            at = origin.child("model")
            return at.path, _line(sources, at)
    return "", None


def _line(sources: Sources | None, origin: Origin) -> int | None:
    if sources is None or not origin.path:
        return None
    span = sources.locate(origin).span
    return span.line if span is not None else None


def _excerpt(piece: Piece | None, offset: int, teller: Teller) -> str:
    """What stands at the place, without secrets: the text behind it, up to its line's end."""
    if piece is None or piece.wire is None:
        return ""
    masked = teller.mask.text(piece.wire)
    if masked != piece.wire:
        # Offsets moved with the mask; nothing that may be half a secret is shown.
        return ""
    return piece.wire[offset : offset + _EXCERPT].partition("\n")[0]


def profile_of(view: View) -> tuple[ProviderProfile, ModelRow] | None:
    """Provider profile and model row that a view was compiled for; None for a saved snapshot."""
    if view.project is None:
        return None
    profile = view.project.providers.get(str(view.part("provider", "id")))
    model = str(view.part("provider", "model"))
    row = find_row(profile, model) if profile is not None else None
    return (profile, row) if profile is not None and row is not None else None


def _tokens(base: View, split: _Split, count: Count) -> int | None:
    """Tokens in front of the first difference: whole sections as they were counted, and the shared part of one."""
    known = profile_of(base)
    if split.bytes is None or known is None:
        return None
    ref = known[1].tokenizer
    here = base.pieces[split.base].id if split.base < len(base.pieces) else ""
    total = 0
    part = ""
    for piece in base.pieces[: split.base]:
        if piece.id == here:
            part += piece.wire or ""
        else:
            total += piece.tokens
    if here:
        part += (base.pieces[split.base].wire or "")[: split.base_offset]
    if part and any(i.section_id == here for i in base.items):
        total += -(-count(ref, part) * ref.factor_bp // 10_000)
    return total


def _reason(view: View, piece: Piece) -> str:
    """The provider's own name for a loss that a segment causes."""
    known = profile_of(view)
    rows: Sequence[Mapping[str, Any]] = known[0].invalidation if known is not None else ()
    wanted: tuple[str, ...] = (piece.zone,)
    if piece.zone == _SETTINGS:
        wanted = ("model",) if piece.id == "model" else _FORMATS
    for row in rows:
        if row.get("change") in wanted and row.get("reason"):
            return str(row["reason"])
    return f"{'output_format' if wanted == _FORMATS else wanted[0]}_changed"


def _reasons(base: View, head: View) -> tuple[str, ...]:
    """A reason for each part of the request that differs, in physical order."""
    found: dict[str, None] = {}
    old, new = _parts(base), _parts(head)
    for zone in dict.fromkeys((*old, *new)):
        if [p.hash if p.wire is None else p.wire for p in old.get(zone, ())] != [
            p.hash if p.wire is None else p.wire for p in new.get(zone, ())
        ]:
            view, piece = (head, new[zone][0]) if zone in new else (base, old[zone][0])
            found[_reason(view, piece)] = None
    if base.part("provider", "id") != head.part("provider", "id"):
        found.setdefault("model_changed", None)
    return tuple(found)


def _parts(view: View) -> dict[str, list[Piece]]:
    """Segments by zone, each setting by itself."""
    found: dict[str, list[Piece]] = {}
    for piece in view.pieces:
        key = f"{piece.zone}:{piece.id}" if piece.zone == _SETTINGS else piece.zone
        found.setdefault(key, []).append(piece)
    return found
