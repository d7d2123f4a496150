"""Policies: what the gate judges by. Data only; the gates give their parameters a meaning."""

from __future__ import annotations

from datetime import date
from typing import Any

from ctxc.base.canonical import digest_json
from ctxc.model.contract import Policy, Waiver
from ctxc.parse.context import File, child, text_of
from ctxc.parse.problems import shown


def read_policy(value: dict[str, Any], file: File) -> Policy:
    """A policy with its waivers."""
    waivers = tuple(_waiver(w, file, child("/waivers", n)) for n, w in enumerate(value.get("waivers", ())))
    version = text_of(value.get("version"))
    gates, rules, where = value.get("gates", {}), value.get("rules", {}), value.get("where", {})
    base = text_of(value.get("base"))
    return Policy(
        id=value["policy_id"],
        version=version,
        gates=gates,
        rules=rules,
        where=where,
        base=base,
        waivers=waivers,
        content_hash=digest_json([value["policy_id"], version, gates, rules, where, base, value.get("waivers", [])]),
        origin=file.origin(),
    )


def _waiver(value: dict[str, Any], file: File, at: str) -> Waiver:
    if not value.get("path") and not value.get("fingerprint"):
        file.problem(
            "missing-key", "the waiver names neither a `path` nor a `fingerprint`",
            "say which file, or which one finding, it speaks of", at=at,
        )  # fmt: skip
    for key in ("created", "expires"):
        try:
            date.fromisoformat(value[key])
        except ValueError:
            file.problem("bad-value", f"{shown(value[key])} is no day", "write YYYY-MM-DD", at=child(at, key))
    return Waiver(
        rule=value["rule"],
        owner=value["owner"],
        reason=value["reason"],
        created=value["created"],
        expires=value["expires"],
        path=text_of(value.get("path")),
        fingerprint=text_of(value.get("fingerprint")),
        id=text_of(value.get("id")),
        ticket=text_of(value.get("ticket")),
        origin=file.origin(at),
    )
