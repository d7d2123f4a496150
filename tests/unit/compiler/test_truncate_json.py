"""json: smaller, still JSON, the fields that say what it is still there."""

from __future__ import annotations

import json
import math
from typing import Any

import pytest

from ctxc import tokens
from ctxc.base.errors import UnreadableSource
from ctxc.compiler.truncate import Cut, truncate_json, truncate_text
from ctxc.compiler.truncate._tree import allot, node_of, written

O200K = tokens.get("o200k_base")

RESULT: dict[str, Any] = {
    "status": "ok",
    "artifact_ref": "artifact://claims/1",
    "rows": [{"id": n, "name": f"service {n}", "status": "open", "note": "x" * n} for n in range(200)],
    "log": "line of the log\n" * 300,
    "meta": {"page": 1, "tags": ["a", "b"]},
}


def check(value: object, limit: int, **options: Any) -> Cut:
    """A cut that holds what every cut of a value must hold."""
    result = truncate_json(value, limit, O200K, **options)
    assert result.strategy == "json"
    assert result.tokens_after == (O200K.count(result.text) if result.fits else 0)
    if result.fits:
        assert result.tokens_after <= limit
        assert json.loads(result.text) == result.value
    return result


def test_what_fits_is_left_alone() -> None:
    result = check(RESULT, 100_000)
    assert (result.cut, result.fits, result.value, result.removed) == (False, True, RESULT, ())
    assert list(json.loads(result.text)) == list(RESULT)


@pytest.mark.parametrize("limit", [60, 100, 300, 1_000, 3_000])
def test_lists_and_strings_are_cut_and_say_by_how_much(limit: int) -> None:
    result = check(RESULT, limit)
    value: Any = result.value
    assert value["status"] == "ok" and value["artifact_ref"] == "artifact://claims/1"
    *rows, mark = value["rows"]
    assert mark == {"_truncated": 200 - len(rows)}
    assert rows[:-1] == RESULT["rows"][: len(rows) - 1] if rows else True
    assert value["log"].startswith("line of the log")
    if limit < 3_000:
        kept, _, number = value["log"].rpartition("… [")
        assert RESULT["log"].startswith(kept) and number == f"{4_800 - len(kept)} more]"
        assert "/log" in result.removed
    else:  # an even share is more than it needs
        assert value["log"] == RESULT["log"]
    assert "/rows" in result.removed
    assert result.tokens_after >= limit * 0.85
    assert result.source_refs == result.removed
    assert list(value) == [key for key in RESULT if key in value] + (["_truncated"] if "_truncated" in value else [])


def test_small_fields_stay_whole_beside_large_ones() -> None:
    value: Any = check(RESULT, 150).value
    assert value["meta"] == {"page": 1, "tags": ["a", "b"]}


def test_the_key_fields_are_the_last_to_stay() -> None:
    result = check(RESULT, 22)
    assert result.value == {"status": "ok", "artifact_ref": "artifact://claims/1", "_truncated": 3}
    assert (result.removed, result.lost) == (("",), ())
    result = check(RESULT, 10)
    assert result.value == {"_truncated": 5}
    assert result.lost == ("status", "artifact_ref")
    result = check(RESULT, 3)
    assert (result.text, result.value, result.fits, result.cut) == ("", None, False, True)


@pytest.mark.parametrize(
    "value",
    [
        RESULT,
        RESULT["rows"],
        [10] * 60,
        [[1, [2, [3]]], {"a": {"b": ["说", "\n\x00" * 40]}}],
        {"id": 1, "x": {"id": "i"}},
    ],
)
def test_a_size_is_the_bytes_of_the_text_and_never_over_the_room(value: object) -> None:
    whole = node_of(value, frozenset({"id", "status"}))
    assert whole.size == len(written(whole).encode("utf-8"))
    for room in [*range(min(whole.size, 400)), whole.size - 1, whole.size, whole.size + 1]:
        tree = allot(whole, room)
        assert tree.size == len(written(tree).encode("utf-8"))
        assert tree.size <= max(room, whole.least)
        assert (tree is whole) == (whole.size <= max(room, whole.least))


KEY_FIELDS = (
    "id status ok code error error_code is_error truncated call_id tool_call_id artifact_ref idempotency_key version "
    "next_cursor"
)


@pytest.mark.parametrize("name", KEY_FIELDS.split())
def test_each_key_field_outlives_a_field_before_it(name: str) -> None:
    smallest = {name: "a value", "_truncated": 2}
    limit = O200K.count(json.dumps(smallest, separators=(",", ":")))
    assert check({"first": "short", name: "a value", "rows": list(range(900))}, limit).value == smallest


class Counting:
    """A tokenizer that knows how often it was asked."""

    def __init__(self) -> None:
        self.asked = 0

    def count(self, text: str) -> int:
        self.asked += 1
        return O200K.count(text)


@pytest.mark.parametrize(
    "value",
    [
        {"rows": [{"n": n, "text": f"row {n}"} for n in range(400)]},
        {"a": "word " * 3000, "b": "说" * 2000, "id": 3},
        {"x": "e4f5a6b7" * 400 + " the " * 800},
    ],
)
def test_a_cut_is_nearly_full_and_takes_few_counts(value: object) -> None:
    """Whole text, smallest form, and a few guesses from how full the last was; 97 percent are enough."""
    tokenizer = Counting()
    result = truncate_json(value, 900, tokenizer)  # type: ignore[arg-type]
    assert 873 <= result.tokens_after <= 900
    assert tokenizer.asked <= 5


def test_key_fields_can_be_named() -> None:
    value = {"claim_no": "c-17", "text": "word " * 500, "other": list(range(500))}
    assert check(value, 18, keep_keys={"claim_no"}).value == {"claim_no": "c-17", "_truncated": 2}
    assert check(value, 9, keep_keys={"claim_no"}).lost == ("claim_no",)
    assert check(value, 9, keep_keys=set()).lost == ()
    text = json.dumps(value)
    assert json.loads(truncate_text(text, 25, "json", O200K, keep=["claim_no"]).text)["claim_no"] == "c-17"


def test_a_long_field_to_be_kept_is_served_before_the_others() -> None:
    value = {"body": "word " * 500, "error": "because " * 500}
    cut: Any = check(value, 80).value
    assert len(cut["error"]) > 300
    assert len(cut.get("body", "")) < 60


def test_key_fields_inside_items_stay_with_their_items() -> None:
    value = {"items": [{"id": f"ev_{n}", "status": "valid", "quote": "so it was agreed " * 60} for n in range(3)]}
    cut: Any = check(value, 120).value
    for item in cut["items"]:
        if "_truncated" not in item:
            assert item["id"].startswith("ev_") and item["status"] == "valid"
    assert cut["items"][0]["quote"].endswith(" more]")


def test_the_first_items_stay() -> None:
    result = check(list(range(1_000)), 50)
    value: Any = result.value
    assert value[:-1] == list(range(len(value) - 1))
    assert value[-1] == {"_truncated": 1_000 - (len(value) - 1)}
    assert result.removed == ("",)


def test_a_string_alone() -> None:
    family = "👨\u200d👩\u200d👧\u200d👦"
    result = check(family * 100, 60)
    assert isinstance(result.value, str)
    kept, _, rest = result.value.rpartition("… [")
    assert kept and set(kept.split(family)) == {""}
    assert rest == f"{700 - len(kept)} more]"


def test_a_number_alone_cannot_be_cut() -> None:
    result = check(10**400, 20)
    assert result.value == {"_truncated": 1}


def test_the_mark_finds_a_free_name() -> None:
    value = {"_truncated": 7, "_truncated_": 8, "a": "word " * 100, "b": "word " * 100}
    cut: Any = check(value, 24, keep_keys={"_truncated", "_truncated_"}).value
    assert cut == {"_truncated": 7, "_truncated_": 8, "_truncated__": 2}


def test_pointers_are_escaped() -> None:
    value = {"a/b~c": {"long": "word " * 200, "id": 1}, "id": 2}
    assert check(value, 60).removed == ("/a~1b~0c/long",)


def test_another_writer_of_the_text() -> None:
    def render(value: object) -> str:
        return json.dumps(value, indent=2)

    result = check(RESULT, 300, render=render)
    assert result.text == render(result.value)
    assert result.tokens_after >= 240


@pytest.mark.parametrize("value", [math.nan, math.inf, {"a": [-math.inf]}, {"when": object()}, {"a": {1, 2}}, b"bytes"])
def test_what_json_cannot_hold_is_refused(value: object) -> None:
    with pytest.raises(UnreadableSource, match="JSON cannot hold") as caught:
        truncate_json(value, 10, O200K)
    assert caught.value.help


def nested(levels: int) -> Any:
    value: Any = "x" * 2_000
    for _ in range(levels):
        value = [value]
    return value


def test_depth() -> None:
    assert check(nested(99), 210).fits
    result = check(nested(101), 100)
    assert (result.fits, result.text, result.note) == (False, "", "not cut: it is nested more than 100 levels deep")
    assert truncate_json(nested(101), 10_000, O200K).value == nested(101)
    with pytest.raises(UnreadableSource, match="nested too deeply"):
        truncate_json(nested(200_000), 100, O200K)


# -- from text ---------------------------------------------------------------------------------------------------------


def from_text(text: str, limit: int) -> Cut:
    result = truncate_text(text, limit, "json", O200K)
    assert result.tokens_before == O200K.count(text)
    if result.fits:
        assert O200K.count(result.text) == result.tokens_after <= limit
    return result


def test_text_that_fits_keeps_its_white_space() -> None:
    text = '{ "a" : 1,\n "a": 2 }'
    assert from_text(text, 100).text == text


def test_white_space_goes_first() -> None:
    text = json.dumps(RESULT["rows"][:5], indent=8)
    result = from_text(text, O200K.count(json.dumps(RESULT["rows"][:5])))
    assert json.loads(result.text) == RESULT["rows"][:5]
    assert (result.cut, result.note) == (False, "only white space was left out")


def test_numbers_and_repeated_keys_stay_as_written() -> None:
    text = '{"id": 1.10, "id": 1E5, "code": -0.0, "ok": 12345678901234567890123, "fill": "' + "word " * 300 + '"}'
    result = from_text(text, 60)
    assert result.text.startswith('{"id":1.10,"id":1E5,"code":-0.0,"ok":12345678901234567890123,"fill":"word word')


def test_an_escaped_half_of_a_pair_stays_escaped() -> None:
    text = '{"id": "\\ud83d", "fill": "' + "word " * 300 + '"}'
    result = from_text(text, 40)
    assert result.text.startswith('{"id":"\\ud83d","fill":"word')


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("word " * 300, "Expecting value"),
        ('{"a": "' + "word " * 300, "Unterminated string"),
        ('{"a": NaN, "b": "' + "word " * 300 + '"}', "NaN is not JSON"),
        ("[" * 150 + "1" + "]" * 150 + " " * 5_000, "nested more than 100 levels"),
        ("[" * 90_000, "nested more than 100 levels"),
        ("[" + "9" * 5_000 + "]", "a number of 5,000 characters"),
        ("\ufeff" + json.dumps(RESULT), "BOM"),
    ],
)
def test_what_is_not_json_is_cut_as_text_and_says_so(text: str, why: str) -> None:
    result = from_text(text, 30)
    assert (result.strategy, result.cut, result.fits) == ("tail", True, True)
    assert result.note.startswith("not cut as JSON: ") and why in result.note
    assert result.text.endswith(" tokens cut …]")
