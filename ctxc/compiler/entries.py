"""Canonical JSON of what most of a snapshot is made of, written without a sort because the keys are known.

Each is what ``canonical`` makes of the same entry (a test compares) in less than half of the time; a compile of many
fixtures spends a tenth of its time on them otherwise. Names of closed sets and hashes need no escapes.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from ctxc.base.canonical import canonical, json_string
from ctxc.model.package import Decision, State

_WORDS = {True: "true", False: "false"}


def array(items: Iterable[str]) -> str:
    """JSON texts as an array."""
    return f"[{','.join(items)}]"


def section_json(entry: Mapping[str, Any]) -> str:
    """A section, without its location."""
    text = json_string
    content = f'"{entry["content_hash"]}"' if entry["content_hash"] else "null"
    rendered = f'"{entry["rendered_hash"]}"' if entry["rendered_hash"] else "null"
    score = _score_json(entry["score"]) if entry["score"] else "null"
    return (
        f'{{"authority":"{entry["authority"]}","bucket":{text(entry["bucket"])},'
        f'"cacheable":{_WORDS[entry["cacheable"]]},"content_hash":{content},'
        f'"item_id":{text(entry["item_id"])},"kind":"{entry["kind"]}","locator":{text(entry["locator"])},'
        f'"overflow":"{entry["overflow"]}","owner":{text(entry["owner"])},"position":{entry["position"]},'
        f'"priority":{entry["priority"]},"rendered_hash":{rendered},'
        f'"required":{_WORDS[entry["required"]]},"score":{score},'
        f'"section_id":{text(entry["section_id"])},"source_uri":{text(entry["source_uri"])},'
        f'"source_version":{text(entry["source_version"])},"tier":"{entry["tier"]}","time":{text(entry["time"])},'
        f'"tokens":{entry["tokens"]},"truncated":{_WORDS[entry["truncated"]]},"trust":"{entry["trust"]}",'
        f'"verification":"{entry["verification"]}","zone":"{entry["zone"]}"}}'
    )


def _score_json(score: Mapping[str, Any]) -> str:
    """A score with its terms; the numbers are decimal text, the names our own."""
    terms = array(f'{{"name":"{t["name"]}","value":"{t["value"]}","weight":"{t["weight"]}"}}' for t in score["terms"])
    return f'{{"terms":{terms},"total":"{score["total"]}"}}'


def decision_json(decision: Decision) -> str:
    """One line of the trail."""
    after = "null" if decision.after is None else decision.after
    before = "null" if decision.before is None else decision.before
    return (
        f'{{"after":{after},"before":{before},"reason":{json_string(decision.reason)},'
        f'"section_id":{json_string(decision.section_id)},"stage":"{decision.stage}","verdict":"{decision.verdict}"}}'
    )


def state_json(state: State) -> str:
    """How far a candidate came. A reason may be an author's own word."""
    text = json_string
    return (
        f'{{"authorised":{text(state.authorised)},"candidate_id":{text(state.candidate_id)},'
        f'"discoverable":{text(state.discoverable)},"loaded":{text(state.loaded)},"selected":{text(state.selected)}}}'
    )


def cache_json(cache: Mapping[str, Any]) -> str:
    """The segments, where marks stand, and the stable prefix."""
    prefix = f'"{cache["cache_prefix_hash"]}"' if cache["cache_prefix_hash"] else "null"
    segments = array(map(_segment_json, cache["segments"]))
    return (
        f'{{"cache_prefix_hash":{prefix},"marks":{canonical(cache["marks"])},'
        f'"prefix_tokens":{cache["prefix_tokens"]},"segments":{segments}}}'
    )


def _segment_json(segment: Mapping[str, Any]) -> str:
    digest = "null" if segment["hash"] is None else f'"{segment["hash"]}"'
    return (
        f'{{"hash":{digest},"id":{json_string(segment["id"])},"stable":{_WORDS[segment["stable"]]},'
        f'"tokens":{segment["tokens"]},"zone":"{segment["zone"]}"}}'
    )
