"""A request that holds a secret is left out, with a finding that does not show it."""

from __future__ import annotations

import hashlib
import json

import pytest
from world import call, compiled, evidence, fixture, project, spec, user

from ctxc.app.rows import package_json, row_of
from ctxc.app.snapshots import snapshot_text
from ctxc.app.withhold import Withholder
from ctxc.model.contract import Contract, RequestProfile, ToolSet
from ctxc.model.section import Message, Tool

KEY = "ghp_" + "a1B2c3D4e5F6g7H8i9J0" + "k1L2m3N4o5P6q7R8"


def test_a_clean_package_passes_untouched():
    made = project(sections=[spec("task")])
    package = compiled(made, fixture(user="hi", task="Rotate the key."))
    assert Withholder().check(made, package) is package


def test_a_secret_in_any_text_withholds_the_request():
    for asked in (
        fixture(user=f"use {KEY}"),
        fixture(user="hi", task=f"use {KEY}"),
        fixture(user="hi", history=[user("a"), *call("f", "1", json.dumps({"token": KEY}), "ok")]),
        fixture(user="hi", history=[user("a"), *call("f", "1", "{}", f"token: {KEY}")]),
    ):
        made = project(sections=[spec("task"), spec("history")])
        package = Withholder().check(made, compiled(made, asked))
        assert package.request is None
        assert [f.name for f in package.findings] == ["secret-in-request"]
        finding = package.findings[0]
        assert finding.fixture == "f"
        assert KEY[5:] not in finding.message + finding.help + str(finding.data)
        assert json.loads(package_json(package))["request"] is None


def schema(**more):
    return {"type": "object", "properties": {"k": {"type": "string", **more}}}


def tools(**more):
    return ToolSet(
        id="s", version="1", tools=(Tool(**{"name": "t", "description": "d", "input_schema": schema(), **more}),)
    )


OFFERED = {
    "sections": [spec("tools", source="toolset")],
    "profile": RequestProfile(id="p", version="1", toolset="s"),
}


@pytest.mark.parametrize(
    ("made", "asked"),
    [
        ({**OFFERED, "toolset": tools(input_schema=schema(default=KEY))}, {}),
        ({**OFFERED, "toolset": tools(name=KEY)}, {}),
        ({"contract": Contract(id="c", version="1", schema=schema(enum=[KEY]))}, {}),
        ({"sections": [spec("evidence", source="retrieval")]}, {"evidence": [evidence("e", "text", source=f"kb://{KEY}")]}),
        ({"sections": [spec("history")]}, {"history": [Message(role="user", content="hi", name=KEY)]}),
    ],
    ids=["tool-schema", "tool-name", "contract-schema", "source", "name"],
)  # fmt: skip
def test_t096_a_secret_beside_the_texts_withholds_the_request_too(made, asked):
    world = project(**made)
    package = Withholder().check(world, compiled(world, fixture(user="hi", **asked)))
    assert [f.name for f in package.findings] == ["secret-in-request"]
    assert KEY[8:] not in package_json(package, with_content=True)
    assert KEY[8:] not in snapshot_text(package)


def test_the_texts_of_a_withheld_request_are_masked():
    made = project(sections=[spec("task")])
    package = Withholder().check(made, compiled(made, fixture(user=f"use {KEY}", task="Rotate the key.")))
    content = json.loads(package_json(package, with_content=True))["content"]
    assert [(c["section_id"], c["masked"]) for c in content] == [("task", False), ("user", True)]
    assert content[1]["text"] == "use ghp_" + "*" * 36


def test_the_row_of_a_withheld_request_counts_its_sections():
    made = project(sections=[spec("task")])
    asked = fixture(user=f"use {KEY}", task="Rotate the key.")
    row = row_of(Withholder().check(made, compiled(made, asked)), asked)
    assert (row.outcome, row.kept, row.prefix) == ("compiled", 2, 0)


@pytest.mark.parametrize("place", ["fragment", "user"])
def test_what_comes_again_is_found_again(place):
    """Blocks in which nothing was found are not searched again; those with a secret are, in every request."""
    said = {p: f"use {KEY}" if p == place else f"A plain {p}." for p in ("fragment", "user")}
    policies = [
        spec("policy", source="literal", text="Be brief.", cacheable=True),
        spec("other", kind="policy", source="literal", text=said["fragment"], cacheable=True),
    ]
    made = project(sections=policies)
    keeper, found = Withholder(), []
    for _ in range(3):
        package = keeper.check(made, compiled(made, fixture(user=said["user"])))
        found.append([f.name for f in package.findings])
    assert found == [["secret-in-request"]] * 3
    clean = compiled(project(sections=policies[:1]), fixture(user="hi"))
    assert keeper.check(made, clean) is clean
    assert keeper.check(made, clean) is clean


def verified(snapshot):
    """The id of a snapshot, as docs/formats.md says to work it out."""
    rest = {k: v for k, v in snapshot.items() if k not in ("snapshot_id", "content")}
    rest["sections"] = [{k: v for k, v in s.items() if k != "location"} for s in rest["sections"]]
    data = json.dumps(rest, sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode()
    return f"ctx_{hashlib.sha256(data).hexdigest()[:16]}"


@pytest.mark.parametrize(("source", "masked"), [("kb://plan", False), (f"kb://{KEY}", True)])
def test_a_snapshot_says_where_its_id_is_not_that_of_what_is_shown(source, masked):
    made = project(sections=[spec("evidence", source="retrieval")])
    asked = fixture(user="Straße", evidence=[evidence("e", "text", source=source)])
    package = Withholder().check(made, compiled(made, asked))
    for told in (json.loads(package_json(package))["snapshot"], json.loads(snapshot_text(package))):
        assert told["snapshot_id"] == package.snapshot["snapshot_id"] == verified(package.snapshot)
        assert told.get("masked", False) is masked
        assert (verified(told) == told["snapshot_id"]) is not masked
