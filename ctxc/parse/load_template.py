"""Templates: what they extend is merged in first, then sections, budget and routes become typed."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import field
from typing import Any

from ctxc.base.canonical import digest_json
from ctxc.base.spans import Origin
from ctxc.base.values import dataclass
from ctxc.model.finding import Severity
from ctxc.model.fragment import GROUPS
from ctxc.model.section import Authority, Kind, Overflow, Strategy, Tier, Zone
from ctxc.model.template import Amount, Bucket, Budget, SectionSpec, Select, Template
from ctxc.parse.context import File, child, conditions, text_of
from ctxc.parse.problems import did_you_mean, nearest, shown

WORDS = ("fragments", "runtime", "retrieval", "literal", "toolset", "contract")
"""Sources that are no paths. ``toolset`` and ``contract`` are those of the request profile."""

_KINDS = tuple(k.value for k in Kind)
_RUNTIME = re.compile(r"runtime(?:\.[^\s]+)?\Z")
_WHOLE = ("budget", "variables")  # merged key by key where a template extends another


@dataclass
class Raw:
    """A template as its file says it, or with what it extends merged in: each section with its origin."""

    value: dict[str, Any]
    file: File
    sections: list[tuple[dict[str, Any], Origin]]
    origins: dict[str, Origin] = field(default_factory=dict)  # of keys: where each was written
    paths: tuple[str, ...] = ()


def raw_template(value: dict[str, Any], file: File) -> Raw:
    """A template's own keys, with its own faults reported."""
    sections = []
    seen: dict[str, int] = {}
    for number, section in enumerate(value.get("sections", ())):
        at = child("/sections", number)
        name = section["id"]
        if name in seen:
            file.problem(
                "duplicate-id", f"the section {shown(name)} stands twice (first as section {seen[name] + 1})",
                "give each section an id of its own", at=child(at, "id"),
                data={"first": file.path, "first_pointer": child("/sections", seen[name])},
            )  # fmt: skip
            continue
        seen[name] = number
        sections.append((section, file.origin(at)))
    origins = {key: file.origin(child("", key)) for key in value}
    return Raw(value, file, sections, origins, (file.path,))


def extend(base: Raw, own: Raw) -> Raw:
    """The merge: own keys win; sections of the same id are merged key by key in the base's place, new ones follow."""
    value = {**base.value, **own.value}
    for key in _WHOLE:
        if key in base.value and key in own.value:
            value[key] = {**base.value[key], **own.value[key]}
    base_buckets = base.value.get("budget", {}).get("buckets", {})
    if base_buckets and "buckets" in own.value.get("budget", {}):
        value["budget"] = {**value["budget"], "buckets": {**base_buckets, **own.value["budget"]["buckets"]}}
    mine = {s["id"]: (s, o) for s, o in own.sections}
    sections = []
    for section, origin in base.sections:
        changed = mine.pop(section["id"], None)
        sections.append(({**section, **changed[0]}, changed[1]) if changed else (section, origin))
    sections.extend(mine[s["id"]] for s, _ in own.sections if s["id"] in mine)
    paths = tuple(dict.fromkeys((*own.paths, *base.paths)))
    return Raw(value, own.file, sections, {**base.origins, **own.origins}, paths)


def read_template(raw: Raw) -> Template:
    """The template. Problems are reported at the file in which the faulty value stands."""
    value, file = raw.value, raw.file
    if not raw.sections:
        file.problem("missing-key", "the template has no sections", "add `sections:` with at least one section")
    sections = tuple(_section(s, File(o.path, file.shared), o.pointer) for s, o in raw.sections)
    known = {s.id for s in sections}
    budget = _budget(value.get("budget", {}), raw, known)
    checkpoints = tuple(value.get("checkpoints", ()))
    groups = GROUPS if any(s.source == "fragments" for s in sections) else ()
    for number, name in enumerate(checkpoints):
        if name not in known and name not in groups:
            place = raw.origins["checkpoints"]
            File(place.path, file.shared).problem(
                "unknown-section", f"no section is called {shown(name)}{did_you_mean(name, (*known, *groups))}",
                f"known: {', '.join(sorted((*known, *groups)))}", at=child(place.pointer, number),
            )  # fmt: skip
    for key, kind in (("output_contract", "contract"), ("request_profile", "profile"), ("provider", "provider")):
        written = raw.origins.get(key)
        if written is not None:
            File(written.path, file.shared).refer(kind, text_of(value.get(key)), written.pointer)
    version = text_of(value.get("version"))
    return Template(
        id=value["template_id"],
        version=version,
        sections=sections,
        renderer=value.get("renderer", "chat_messages_v3"),
        output_contract=text_of(value.get("output_contract")),
        request_profile=text_of(value.get("request_profile")),
        provider=text_of(value.get("provider")),
        model=text_of(value.get("model")),
        route=tuple(value.get("route", ())),
        variables={k: text_of(v) for k, v in value.get("variables", {}).items()},
        budget=budget,
        checkpoints=checkpoints,
        focus=tuple(value.get("focus", ())),
        deterministic=tuple(
            {"when": conditions(d["when"]), "reply": d["reply"]} for d in value.get("deterministic", ())
        ),
        extends=text_of(value.get("extends")),
        content_hash=digest_json([{**value, "version": version, "sections": [s for s, _ in raw.sections]}]),
        paths=raw.paths,
        origins=raw.origins,
        origin=file.origin(),
    )


def _section(value: Mapping[str, Any], file: File, at: str) -> SectionSpec:
    name = value["id"]
    kind = _kind(value, file, at)
    source = _source(value, file, at)
    overflow = _overflow(value.get("overflow"))
    low, high = value.get("min_tokens", 0), value.get("max_tokens")
    if high is not None and low > high:
        file.problem(
            "bad-value", f"min_tokens {low:,} is above max_tokens {high:,}", "lower the floor or raise the bound",
            at=child(at, "min_tokens"),
        )  # fmt: skip
    select = value.get("select", {})
    return SectionSpec(
        id=name,
        kind=kind,
        source=source,
        text=value.get("text", ""),
        authority=Authority[value["authority"]] if "authority" in value else None,
        tier=Tier[value["tier"]] if "tier" in value else None,
        zone=Zone(value["zone"]) if "zone" in value else None,
        overflow=overflow,
        priority=value.get("priority", 50),
        required=value.get("required"),
        cacheable=value.get("cacheable"),
        min_tokens=low,
        max_tokens=high,
        select=Select(
            min_score=float(select["min_score"]) if "min_score" in select else None,
            top=select.get("top"),
            dedupe=select.get("dedupe", True),
        ),
        order=value.get("order", ""),
        when=conditions(value.get("when")),
        origin=Origin(file.path, at),
    )


def _kind(value: Mapping[str, Any], file: File, at: str) -> Kind:
    if "kind" in value:
        return Kind(value["kind"])
    if value["id"] in _KINDS:
        return Kind(value["id"])
    source = value.get("source")
    if source == "fragments":
        return Kind.FRAGMENT
    near = nearest(value["id"], _KINDS)
    file.problem(
        "section-kind",
        f"the section {shown(value['id'])} has no kind, and its id is none"
        + (f"; did you mean `kind: {near}`?" if near else ""),
        f"add `kind:`, one of {', '.join(_KINDS)}",
        at=child(at, "id"),
    )
    return Kind.FRAGMENT


def _source(value: Mapping[str, Any], file: File, at: str) -> str:
    source = value.get("source")
    if source is None:
        file.problem(
            "missing-key", f"the section {shown(value['id'])} has no source",
            "add `source:`: a path, fragments, runtime, runtime.KEY, retrieval or literal", at=at,
        )  # fmt: skip
        return ""
    if source == "literal":
        if "text" not in value:
            file.problem("missing-key", "a literal section has no text", "add `text:`", at=at)
        return "literal"
    if "text" in value:
        file.problem(
            "bad-value", "`text` is read only where the source is `literal`", "write `source: literal` or remove it",
            at=child(at, "text"), key=True,
        )  # fmt: skip
    if source in WORDS or _RUNTIME.match(source):
        return str(source)
    place = child(at, "source")
    if "/" not in source and "." not in source and not file.shared.exists(source):
        file.problem(
            "bad-value",
            f"{shown(source)} is neither a source nor a file{did_you_mean(source, WORDS)}",
            f"a path relative to the project root, or one of {', '.join(WORDS)}, runtime.KEY",
            at=place,
        )
        return str(source)
    path = file.file_at_root(source, place)
    if path:
        file.shared.used.add(path)
    return path or str(source)


def _overflow(text: str | None) -> Overflow | None:
    if text is None:
        return None
    action, _, strategy = text.partition(":")
    return Overflow(action=action, strategy=Strategy(strategy) if strategy else None)


def _budget(value: Mapping[str, Any], raw: Raw, known: set[str]) -> Budget:
    place = raw.origins.get("budget")
    if place is None:
        return Budget()
    file = File(place.path, raw.file.shared)
    at = place.pointer
    own = raw.file.path == place.path
    buckets = []
    for name, bucket in value.get("buckets", {}).items():
        where = child(at, "buckets", name)
        floor, soft, most = bucket.get("min", 0), bucket.get("soft"), bucket.get("max")
        bounds = [b for b in (floor, soft, most) if b is not None]
        if bounds != sorted(bounds):
            told = ", ".join(f"{b:,}" for b in bounds)
            file.problem(
                "bad-value", f"the bucket {shown(name)} is not min <= soft <= max ({told})",
                "order the three numbers", at=where,
            )  # fmt: skip
        if own and name not in known and name not in _KINDS:
            file.problem(
                "unknown-section", f"no section or kind is called {shown(name)}{did_you_mean(name, (*known, *_KINDS))}",
                "a bucket is named after a section or a kind", at=where, key=True, level=Severity.WARNING,
            )  # fmt: skip
        buckets.append(
            Bucket(
                id=name,
                min=floor,
                soft=soft,
                max=most,
                borrow=bucket.get("borrow", False),
                origin=Origin(file.path, where),
            )
        )
    window, reserve = value.get("window"), value.get("output_reserve")
    if window is not None and reserve is not None and reserve >= window:
        file.problem(
            "bad-value", f"output_reserve {reserve:,} leaves nothing of the window {window:,}", "lower the reserve",
            at=child(at, "output_reserve"),
        )  # fmt: skip
    return Budget(
        window=window,
        output_reserve=reserve,
        safety_margin=_amount(value.get("safety_margin")),
        ceiling=value.get("ceiling"),
        buckets=tuple(buckets),
        origin=place,
    )


def _amount(value: int | str | None) -> Amount | None:
    """``5%`` as basis points of the window, a number as tokens."""
    if value is None:
        return None
    if isinstance(value, int):
        return Amount(tokens=value)
    whole, _, fraction = value.rstrip("%").partition(".")
    return Amount(basis_points=int(whole) * 100 + int((fraction + "00")[:2]))
