"""What a fixture expects of its compile, checked one by one."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from ctxc.model.counting import Count
from ctxc.model.fixture import Expect, Fixture
from ctxc.model.package import Dropped, Expectation, Outcome, Placed


def check(
    fixture: Fixture,
    outcome: Outcome,
    placed: Sequence[Placed],
    dropped: Sequence[Dropped],
    count: Count | None,
    texts: Iterable[str],
) -> tuple[Expectation, ...]:
    """Each expectation that the fixture states, and whether it holds; the outcome always."""
    expect = fixture.expect
    found = [_one(fixture, "outcome", expect.outcome, outcome.value, expect.outcome == outcome.value)]
    if outcome is not Outcome.COMPILED:
        return tuple(found)
    if expect.max_input_tokens is not None:
        # The top of the band: an estimate may not pass a ceiling that the real count could breach.
        used = count.upper if count is not None else 0
        found.append(_one(fixture, "max_input_tokens", expect.max_input_tokens, used, used <= expect.max_input_tokens))
    if not (expect.loaded or expect.not_loaded or expect.required_evidence or expect.dropped or asks_for_text(expect)):
        return tuple(found)
    here = names(p.section.section_id for p in placed) | {p.section.item_id for p in placed}
    gone = names(d.section_id for d in dropped)
    for key, wanted, there in (
        ("loaded", expect.loaded, True),
        ("not_loaded", expect.not_loaded, False),
        ("required_evidence", expect.required_evidence, True),
    ):
        found.extend(
            _one(fixture, key, name, name in here, (name in here) is there, item=n) for n, name in enumerate(wanted)
        )
    found.extend(
        _one(fixture, "dropped", name, name in gone, name in gone, item=n) for n, name in enumerate(expect.dropped)
    )
    if asks_for_text(expect):
        haystack = "\x00".join((*texts, *(_decoded(p) for p in placed)))
        for key, texts_, there in (
            ("must_contain", expect.must_contain, True),
            ("must_not_contain", expect.must_not_contain, False),
        ):
            for n, text in enumerate(texts_):
                is_there = text in haystack
                found.append(_one(fixture, key, text, is_there, is_there is there, item=n))
    return tuple(found)


def asks_for_text(expect: Expect) -> bool:
    """Whether a fixture says what its request must or must not contain."""
    return bool(expect.must_contain or expect.must_not_contain)


def names(ids: Iterable[str]) -> set[str]:
    """Ids by which a section may be called: its own, its slot, and what follows the slot."""
    found: set[str] = set()
    for section_id in ids:
        slot, _, rest = section_id.partition("/")
        found.update((section_id, slot))
        if rest:
            found.add(rest)
    return found


def _one(fixture: Fixture, key: str, expected: Any, actual: Any, held: bool, item: int | None = None) -> Expectation:
    # The outcome is expected also where the fixture says nothing of it.
    at = fixture.expect.origin.child(key) if key in fixture.expect.stated else fixture.origin
    if item is not None and key in fixture.expect.stated:
        at = at.child(item)
    return Expectation(key=key, expected=expected, actual=actual, held=held, origin=at)


def _decoded(placed: Placed) -> str:
    """A section's content as data: a text that stands in a block as a JSON string is looked for as a text."""
    content = placed.content
    if not content or content[0] not in '"{[':
        return content
    try:
        return "\x00".join(_strings(json.loads(content)))
    except ValueError:
        return content


def _strings(value: Any) -> Iterable[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for item in value.values():
            yield from _strings(item)
    elif isinstance(value, list):
        for item in value:
            yield from _strings(item)
    elif value is not None:
        yield json.dumps(value)
