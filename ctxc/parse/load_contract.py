"""Output contracts and request profiles."""

from __future__ import annotations

from typing import Any

from ctxc.base.canonical import digest_json
from ctxc.model.contract import Contract, RequestProfile
from ctxc.parse.context import File, text_of
from ctxc.parse.jsonschemas import quick_problems


def read_contract(value: dict[str, Any], file: File) -> Contract:
    """An output contract; its schema has to be one."""
    schema = value["schema"]
    for problem in quick_problems(schema, "/schema"):
        file.shared.report(file.path, problem)
    if isinstance(schema, bool):
        file.problem(
            "bad-value", "the schema true or false says nothing about an answer", "write a mapping", at="/schema"
        )
        schema = {}
    version = text_of(value.get("version"))
    refusal, citations = value.get("refusal", {}), value.get("citations", {})
    return Contract(
        id=value["contract_id"],
        version=version,
        schema=schema,
        refusal=refusal,
        citations=citations,
        description=text_of(value.get("description")),
        content_hash=digest_json([value["contract_id"], version, schema, refusal, citations]),
        origin=file.origin(),
    )


def read_profile(value: dict[str, Any], file: File) -> RequestProfile:
    """A request profile."""
    version = text_of(value.get("version"))
    toolset = file.refer("toolset", text_of(value.get("toolset")), "/toolset")
    contract = file.refer("contract", text_of(value.get("output_contract")), "/output_contract")
    static = tuple(value.get("static", ()))
    return RequestProfile(
        id=value["profile_id"],
        version=version,
        toolset=toolset,
        output_contract=contract,
        static=static,
        content_hash=digest_json([value["profile_id"], version, toolset, contract, static]),
        origin=file.origin(),
    )
