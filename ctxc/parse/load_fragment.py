"""Fragment manifests: one object, a list, ``{fragments: [...]}``, or the front matter of a Markdown file."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from ctxc.base.spans import Origin
from ctxc.model.finding import Severity
from ctxc.model.fragment import Fragment, LoadMode, LostFragment
from ctxc.parse.context import File, child, conditions, join, text_of
from ctxc.parse.problems import Problem


def entries(value: Any) -> tuple[str, list[tuple[str, Any]]]:
    """Which definition of the schema a manifest has to meet, and its entries with their pointers."""
    if isinstance(value, list):
        return "list", [(f"/{n}", v) for n, v in enumerate(value)]
    if "fragments" in value:
        listed = value["fragments"]
        return "fragments", [(f"/fragments/{n}", v) for n, v in enumerate(listed)] if isinstance(listed, list) else []
    return "fragment", [("", value)]


def lost_fragment(
    entry: Any, problems: Iterable[Problem], path: str, pointer: str, roots: tuple[str, ...]
) -> LostFragment:
    """What of an entry that cannot be used is known, by its value and what is wrong inside it."""
    if not isinstance(entry, dict):
        return LostFragment(origin=Origin(path, pointer))
    errors = [p for p in problems if p.is_error]
    wrong = {p.pointer.split("/")[1] for p in errors if p.pointer}
    misspelt = any(p.name == "unknown-key" for p in errors)
    name, mode, written = entry.get("fragment_id"), entry.get("load_mode"), entry.get("path")
    when: Mapping[str, tuple[str, ...]] | None = None
    # Conditions under a misspelt name are not the same as none.
    if "applies_when" not in wrong and (entry.get("applies_when") or not misspelt):
        when = conditions(entry.get("applies_when"))
    folders = (path.rpartition("/")[0], *roots) if isinstance(written, str) else ()
    return LostFragment(
        id=name if isinstance(name, str) and "fragment_id" not in wrong else "",
        load_mode=LoadMode(mode) if isinstance(mode, str) and "load_mode" not in wrong else None,
        applies_when=when,
        text_paths=tuple(join(f, str(written).removeprefix("./")) for f in folders),
        origin=Origin(path, pointer),
    )


def read_fragment(
    value: dict[str, Any], file: File, at: str, text_path: str, body_line: int, text_hash: str
) -> Fragment:
    """One entry; ``text_path`` is the file that holds its text, which begins on ``body_line``."""
    mode = LoadMode(value["load_mode"])
    when = conditions(value.get("applies_when"))
    if mode is LoadMode.ROUTE_MATCH and not when:
        file.problem(
            "missing-key", "load_mode route_match without `applies_when`: no route can match it",
            "say which route loads it, or use load_mode always or explicit", at=at,
        )  # fmt: skip
    if mode is LoadMode.COMPACTED and not value.get("source_range"):
        file.problem(
            "missing-key", "a compacted fragment does not say what it summarises",
            "add `source_range:`, such as runs/12.jsonl#L40-L220", at=at,
        )  # fmt: skip
    if mode is LoadMode.REFERENCE and not value.get("operations"):
        file.problem(
            "missing-key", "a fragment that is loaded as a reference does not say how its text can be read",
            "add `operations:`, such as [read_section]", at=at, level=Severity.WARNING,
        )  # fmt: skip
    requires = tuple(value.get("requires", ()))
    for number, name in enumerate(requires):
        file.refer("fragment", name, child(at, "requires", number))
    conflicts = tuple(value.get("conflicts_with", ()))
    for number, name in enumerate(conflicts):
        file.refer("fragment", name, child(at, "conflicts_with", number), Severity.WARNING)
    both = sorted(set(requires) & set(conflicts))
    if both:
        file.problem(
            "bad-value", f"{both[0]} is both required and in conflict", "remove one", at=child(at, "conflicts_with")
        )
    deprecated = value.get("deprecated", "")
    return Fragment(
        id=value["fragment_id"],
        version=text_of(value.get("version")),
        kind=value["kind"],
        load_mode=mode,
        text_path=text_path,
        text_hash=text_hash,
        body_line=body_line,
        applies_when=when,
        requires=requires,
        conflicts_with=conflicts,
        priority=value.get("priority", 50),
        max_tokens=value.get("max_tokens"),
        owner=text_of(value.get("owner")),
        summary=text_of(value.get("summary")),
        deprecated=("deprecated" if deprecated else "") if isinstance(deprecated, bool) else text_of(deprecated),
        source_range=text_of(value.get("source_range")),
        operations=tuple(value.get("operations", ())),
        origin=Origin(file.path, at),
    )
