"""Parse events of YAML through libyaml: the one place that imports it, and the fast reader of ordinary files."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from ctxc.parse import limits
from ctxc.parse.scalars import Plain


class Unusual(Exception):
    """The fast reader met something that the careful one has to look at."""


# libyaml reads these as line ends (YAML 1.1) or refuses them; in YAML 1.2 they are ordinary characters.
_FOREIGN = "\x85\u2028\u2029\ufeff"


@lru_cache(maxsize=1)
def library() -> Any:
    """The ``yaml`` package, imported on first use: a warm load needs none."""
    import yaml

    return yaml


def parser_of(text: str | bytes) -> Any:
    """A parser of events: libyaml's, else the pure one (8.7 times slower, measured November 2026)."""
    yaml = library()
    if yaml.__with_libyaml__:
        return yaml.cyaml.CParser(text)
    return yaml.Loader(text)


def holds_surrogate(text: str) -> bool:
    """Whether a text holds half of a surrogate pair; libyaml refuses its escape, the pure parser lets it through."""
    return not text.isascii() and any("\ud800" <= c <= "\udfff" for c in text)


def read_ordinary(text: bytes) -> Any:
    """The value of an ordinary YAML text; raises Unusual for any other, and yaml's own errors."""
    yaml = library()
    scalar_event, alias_event = yaml.ScalarEvent, yaml.AliasEvent
    mapping_start, mapping_end = yaml.MappingStartEvent, yaml.MappingEndEvent
    sequence_start, sequence_end = yaml.SequenceStartEvent, yaml.SequenceEndEvent
    document_start, document_end, stream_end = yaml.DocumentStartEvent, yaml.DocumentEndEvent, yaml.StreamEndEvent
    pure = not yaml.__with_libyaml__
    following = parser_of(text).get_event
    following()  # the start of the stream
    root: Any = Plain("")
    stack: list[tuple[Any, bool, Any]] = []
    container: Any = None
    in_map = False
    key: Any = None
    count = documents = 0
    while True:
        event = following()
        kind = event.__class__
        if kind is scalar_event:
            if event.tag is not None or event.anchor is not None:
                raise Unusual
            value: Any = event.value
            if pure and holds_surrogate(value):
                raise Unusual
            if in_map and key is None:
                if value in container or (value == "<<" and event.implicit[0]):
                    raise Unusual
                key = value
                continue
            if event.implicit[0]:
                value = Plain(value)
            count += 1
            if in_map:
                container[key] = value
                key = None
            elif container is not None:
                container.append(value)
            else:
                root = value
        elif kind is mapping_start or kind is sequence_start:
            if event.tag is not None or event.anchor is not None or (in_map and key is None):
                raise Unusual
            count += 1
            fresh: Any = {} if kind is mapping_start else []
            if in_map:
                container[key] = fresh
            elif container is not None:
                container.append(fresh)
            else:
                root = fresh
            stack.append((container, in_map, key))
            if len(stack) > limits.DEPTH or count > limits.NODES:
                raise Unusual
            container, in_map, key = fresh, kind is mapping_start, None
        elif kind is mapping_end or kind is sequence_end:
            container, in_map, key = stack.pop()
            key = None
        elif kind is stream_end:
            break
        elif kind is document_start:
            documents += 1
            if documents > 1:
                raise Unusual
        elif kind is not document_end:
            assert kind is alias_event, kind
            raise Unusual
    if count > limits.NODES:
        raise Unusual
    return root


def stand_ins(text: str) -> tuple[str, dict[int, str]]:
    """The text with unused private characters for those that libyaml takes for line ends, and the way back."""
    present = [c for c in _FOREIGN if c in text]
    if not present:
        return text, {}
    spare = (chr(c) for c in range(0xE000, 0xF8FF) if chr(c) not in text)
    forth = {ord(c): next(spare) for c in present}
    return text.translate(forth), {ord(s): chr(c) for c, s in forth.items()}


def scalar_ranges(text: str) -> tuple[int, list[tuple[tuple[int, int], tuple[int, int]]]]:
    """The line of the first value, and from where to where (line and column from 0) text of quoted or block scalars
    stands: there ``#`` begins no comment. Of a text that cannot be parsed, what comes before the error."""
    yaml = library()
    first = text.count("\n") + 1
    ranges: list[tuple[tuple[int, int], tuple[int, int]]] = []
    try:
        parser = parser_of(stand_ins(text)[0])
        while True:
            event = parser.get_event()
            if event.__class__ is yaml.StreamEndEvent:
                break
            if event.__class__ in (yaml.ScalarEvent, yaml.MappingStartEvent, yaml.SequenceStartEvent, yaml.AliasEvent):
                first = min(first, event.start_mark.line)
            if event.__class__ is yaml.ScalarEvent:
                start, end = event.start_mark, event.end_mark
                begin = (start.line, start.column)
                if event.style in ("|", ">"):
                    begin = (start.line + 1, 0)  # the header line may end in a comment
                ranges.append((begin, (end.line, end.column)))
    except yaml.YAMLError:
        pass
    return first, ranges
