"""A request that holds a secret is left out, with a finding that does not show it."""

from __future__ import annotations

import json

from world import call, compiled, fixture, project, spec, user

from ctxc.app.rows import package_json
from ctxc.app.withhold import Withholder

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
