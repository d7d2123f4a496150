"""One section on both sides: in which facets it differs, its edits word by word, and the facts that changed."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from ctxc.base.spans import Origin
from ctxc.compare.hunks import Text, text_hunks
from ctxc.compare.lines import LineMap, line_map
from ctxc.compare.masking import Mask
from ctxc.compare.matching import Pair
from ctxc.compare.values import ABSENT, shown, value_changes
from ctxc.compare.views import Item
from ctxc.compiler.wrap import is_native, is_verbatim
from ctxc.model.change import FieldChange, Hunk, Run, SectionChange
from ctxc.model.facets import FACETS
from ctxc.model.project import Sources
from ctxc.model.section import Kind, Message, Section

# Facts of the snapshot, and of the section itself, by the facet that they belong to.
_FACTS = (
    ("authority", "trust"),
    ("trust", "trust"),
    ("verification", "trust"),
    ("zone", "role"),
    ("kind", "role"),
    ("tier", "budget"),
    ("required", "budget"),
    ("truncated", "budget"),
    ("cacheable", "prefix"),
    ("source_uri", "meta"),
    ("source_version", "meta"),
)
_OWN = (("priority", "budget"), ("max_tokens", "budget"), ("min_tokens", "budget"), ("overflow", "budget"),
        ("bucket", "budget"))  # fmt: skip
_SHOWN_NAMES = {"source_uri": "source", "source_version": "version", "truncated": "cut"}


class Teller:
    """Tells what differs between sections. Keeps what it told: a fragment changes alike in many fixtures.

    ``context``: equal lines around an edit. ``base`` and ``head`` give the files of the two sides, where there are any.
    """

    def __init__(self, context: int, base: Sources | None, head: Sources | None) -> None:
        self.context = context
        self.base = base
        self.head = head
        self.mask = Mask()
        self._hunks: dict[tuple[object, ...], tuple[Hunk, ...]] = {}

    def tell(self, pair: Pair, *, is_moved: bool = False, comparable: bool = True) -> SectionChange | None:
        """The change of a section that at least one side rendered; None where nothing differs.

        Not ``comparable``: the sides were counted by different tokenizers, so other tokens are no difference.
        """
        base, head = pair
        if head is None or head.position is None:
            assert base is not None
            return self._single(base, "removed", self.base, is_left_out=head is not None)
        if base is None or base.position is None:
            return self._single(head, "added", self.head, is_left_out=base is not None)
        return self._both(base, head, is_moved, comparable)

    def _single(self, item: Item, status: str, sources: Sources | None, *, is_left_out: bool) -> SectionChange:
        """A section that one side rendered. ``is_left_out``: the other has it as a candidate that it dropped."""
        added = status == "added"
        facets = ["content"] + ["tokens"] * bool(item.tokens) + ["drops"] * is_left_out
        return SectionChange(
            section_id=item.section_id,
            status=status,
            facets=tuple(facets),
            kind=item.kind,
            zone=item.zone,
            identity=identity(item),
            base_tokens=0 if added else item.tokens,
            head_tokens=item.tokens if added else 0,
            base_position=None if added else item.position,
            head_position=item.position if added else None,
            source=item.source,
            path=item.path,
            line=line_of(item, sources),
            masked=item.sensitive,
            hunks=() if item.sensitive else self._told(*((None, item) if added else (item, None))),
        )

    def _both(self, base: Item, head: Item, is_moved: bool, comparable: bool) -> SectionChange | None:
        fields = _fields(base, head)
        facets = {f.facet for f in fields}
        differs = _differs(base, head)
        if differs:
            facets.add("content")
        if is_moved:
            facets.add("order")
        if comparable and base.tokens != head.tokens:
            facets.add("tokens")
        if base.stable != head.stable:
            facets.add("prefix")
        if differs and Kind.TOOLS.value in (base.kind, head.kind):
            facets.add("tools")
        if differs and Kind.CONTRACT.value in (base.kind, head.kind):
            facets.add("contract")
        if not facets:
            return None
        masked = base.sensitive or head.sensitive
        hunks = self._told(base, head) if differs and not masked else ()
        return SectionChange(
            section_id=head.section_id,
            base_id=base.section_id if _is_renamed(base, head) else "",
            status="moved" if facets == {"order"} else "changed",
            facets=tuple(f for f in FACETS if f in facets),
            kind=head.kind,
            zone=head.zone,
            identity=identity(head),
            base_tokens=base.tokens,
            head_tokens=head.tokens,
            base_position=base.position,
            head_position=head.position,
            source=head.source,
            path=head.path,
            line=next((h.head_line or h.base_line for h in hunks if h.head_line or h.base_line), None)
            or line_of(head, self.head),
            whitespace=bool(hunks) and all(h.whitespace for h in hunks),
            masked=masked,
            comparable=comparable,
            fields=fields,
            hunks=hunks,
        )

    # --- texts ----------------------------------------------------------------------------------------------------

    def _told(self, base: Item | None, head: Item | None) -> tuple[Hunk, ...]:
        if any(i is not None and i.section is not None and i.section.tools for i in (base, head)):
            return ()  # told by name (ctxc.compare.tools)
        key = (_key(base), _key(head))
        known = self._hunks.get(key)
        if known is None:
            known = self._hunks[key] = self._compare(base, head)
        return known

    def _compare(self, base: Item | None, head: Item | None) -> tuple[Hunk, ...]:
        old, new = _value_of(base), _value_of(head)
        if old is not ABSENT and new is not ABSENT and base is not None and head is not None:
            return self._values(old, new, base, head)
        if any(i is not None and i.section is None for i in (base, head)):
            # A saved snapshot knows what was rendered, wrapper and all.
            texts = [_rendered(i, s) for i, s in ((base, self.base), (head, self.head))]
        else:
            texts = [_said(i, s) for i, s in ((base, self.base), (head, self.head))]
        if texts[0] is None or texts[1] is None:
            return ()
        before, after = (Text(text=self.mask.text(t.text), places=t.places) for t in texts if t is not None)
        return text_hunks(before, after, self.context)

    def _values(self, old: Any, new: Any, base: Item, head: Item) -> tuple[Hunk, ...]:
        assert base.section is not None and head.section is not None
        found = []
        for change in value_changes(old, new):
            runs = tuple(
                Run(op=op, text=self.mask.text(shown(value)))
                for op, value in (("-", change.base), ("+", change.head))
                if value is not ABSENT
            )
            origin = _inside(head.section, change.path)
            was = _inside(base.section, change.was)
            found.append(
                Hunk(
                    kind="moved" if change.kind == "moved" else "value",
                    path=origin.path,
                    base_line=_line(self.base, was) if change.base is not ABSENT else None,
                    head_line=_line(self.head, origin) if change.head is not ABSENT else None,
                    base_path=was.path if was.path != origin.path else "",
                    pointer="/" + "/".join(str(k).replace("~", "~0").replace("/", "~1") for k in change.path)
                    if change.path
                    else "",
                    runs=runs,
                )
            )
        return tuple(found)


def identity(item: Item) -> str:
    """What a section is, beyond its place: its source for a fragment, else its id."""
    return item.source if item.source.startswith("fragment:") else item.section_id


def line_of(item: Item, sources: Sources | None) -> int | None:
    """The line on which a section begins in its source."""
    if item.section is None or sources is None:
        return None
    origin = item.section.origin
    return _line(sources, origin) if origin.pointer else places_of(item, sources).at(0)


def places_of(item: Item, sources: Sources | None) -> LineMap:
    """Where the lines of what a section says stand in its source."""
    section = item.section
    assert section is not None
    if section.kind is Kind.CONTRACT and section.has_value:
        return LineMap(path=section.origin.path, first=_line(sources, section.origin.child("schema")))
    if section.source_uri.startswith("template:") and is_verbatim(section):
        return line_map(sources, section.origin.child("text"), item.content or "")
    return line_map(sources, section.origin, _words(item))


def _line(sources: Sources | None, origin: Origin) -> int | None:
    if sources is None or not origin.path:
        return None
    span = sources.locate(origin).span
    return span.line if span is not None else None


def _inside(section: Section, path: tuple[str | int, ...]) -> Origin:
    """Where a value inside a section's value stands; of a record, below the key that holds its content."""
    record = section.attributes.get("record")
    return section.origin.child(*path) if record is None else section.origin


def _is_renamed(base: Item, head: Item) -> bool:
    """Whether an id is another one; a turn of a conversation is numbered by its place."""
    return base.section_id != head.section_id and not (head.section is not None and head.section.turn >= 0)


def _differs(base: Item, head: Item) -> bool:
    if base.section is not None and head.section is not None:
        return base.content_hash != head.content_hash
    # The hash of what is sensitive is not saved: what was rendered is all that there is to say.
    if base.content_hash is None or head.content_hash is None:
        return base.rendered_hash != head.rendered_hash if base.rendered_hash and head.rendered_hash else False
    return base.content_hash != head.content_hash


def _fields(base: Item, head: Item) -> tuple[FieldChange, ...]:
    found = []
    for name, facet in _FACTS:
        if base.facts.get(name) != head.facts.get(name):
            told = _SHOWN_NAMES.get(name, name)
            found.append(_field(told, facet, base.facts.get(name), head.facts.get(name)))
    if base.section is not None and head.section is not None:
        for name, facet in _OWN:
            one, other = getattr(base.section, name), getattr(head.section, name)
            if one != other:
                found.append(_field(name, facet, one, other))
        one, other = _roles(base.section), _roles(head.section)
        if one != other:
            found.append(_field("roles", "role", one, other))
    one, other = _score(base.facts), _score(head.facts)
    if one != other:
        found.append(_field("score", "meta", one, other))
    if _is_renamed(base, head):
        found.append(_field("id", "meta", base.section_id, head.section_id))
    return tuple(found)


def _field(name: str, facet: str, base: Any, head: Any) -> FieldChange:
    return FieldChange(name=name, facet=facet, base=_fact(base), head=_fact(head))


def _fact(value: Any) -> str:
    if value is None or isinstance(value, (bool, int, float, list, tuple, dict)):
        return json.dumps(value, ensure_ascii=False) if value is not None else "none"
    return str(value)


def _roles(section: Section) -> str:
    return ", ".join(m.role for m in section.messages)


def _score(facts: Mapping[str, Any]) -> str:
    score = facts.get("score")
    return str(score.get("total", "")) if isinstance(score, Mapping) else ""


def _key(item: Item | None) -> tuple[object, ...]:
    if item is None:
        return ()
    origin = item.section.origin if item.section is not None else None
    return (item.content_hash, item.rendered_hash if item.section is None else None, origin, item.section_id)


def _value_of(item: Item | None) -> Any:
    """The structured value of a section; ABSENT where it is a text, or was cut, or is application text."""
    if item is None or item.section is None:
        return ABSENT
    section = item.section
    if section.kind is Kind.CONTRACT or section.messages or section.tools or item.facts.get("truncated"):
        return ABSENT
    return section.value if section.has_value else ABSENT


def _words(item: Item) -> str:
    """What a section says, without the escapes of data."""
    section, content = item.section, item.content or ""
    assert section is not None
    if section.messages:
        return "\n".join(_spoken(m) for m in section.messages)
    if is_native(section) or is_verbatim(section) or section.kind is Kind.CONTRACT:
        return content
    try:
        value = json.loads(content)
    except ValueError:
        return content
    if isinstance(value, str):
        return value
    return json.dumps(value, ensure_ascii=False, indent=2)


def _spoken(message: Message) -> str:
    lines = [f"{message.role}:"]
    if message.content:
        lines.append(message.content)
    lines += [f"→ {call.name}({call.arguments})" for call in message.tool_calls]
    return "\n".join(lines)


def _said(item: Item | None, sources: Sources | None) -> Text | None:
    """The text of a section with its places; the empty text where there is no section."""
    if item is None:
        return Text(text="", places=LineMap())
    assert item.section is not None
    if item.section.messages:
        return _conversation(item.section, sources)
    return Text(text=_words(item), places=places_of(item, sources))


def _conversation(section: Section, sources: Sources | None) -> Text:
    texts: list[str] = []
    lines: list[int] = []
    path = section.origin.path
    for message in section.messages:
        path = message.origin.path or path
        spoken = _spoken(message)
        places = line_map(sources, message.origin, spoken)
        texts.append(spoken)
        if places.first is not None:
            lines.extend(places.at(n) or places.first for n in range(spoken.count("\n") + 1))
    whole = "\n".join(texts)
    return Text(text=whole, places=LineMap(path=path, lines=lines if len(lines) == whole.count("\n") + 1 else ()))


def _rendered(item: Item | None, sources: Sources | None) -> Text | None:
    """The rendered text of a section, with its wrapper's two lines; None where it was not saved."""
    if item is None:
        return Text(text="", places=LineMap())
    if item.rendered is None or (item.section is not None and item.section.messages):
        return None
    if item.section is None:
        return Text(text=item.rendered, places=LineMap(path=item.path))
    places = places_of(item, sources)
    inner = [places.at(n) or 1 for n in range((item.content or "").count("\n") + 1)]
    wrapped = item.rendered != item.content
    lines = [inner[0], *inner, inner[-1]] if wrapped else inner
    return Text(text=item.rendered, places=LineMap(path=places.path, lines=lines if places.at(0) else ()))
