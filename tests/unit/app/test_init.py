"""``ctxc init``: a small project that works, and that is never overwritten."""

from __future__ import annotations

import json
import re
from pathlib import Path

import jsonschema
import pytest
import yaml

from ctxc.app.api import compile, load
from ctxc.app.init import starter_files, write_starter
from ctxc.base.errors import UsageError


def test_the_starter_compiles_as_it_expects(starter: Path) -> None:
    project = load(starter)
    assert project.findings == ()
    assert list(project.fixtures) == ["opening_hours", "refund_question"]
    packages = [compile(project, fixture) for fixture in project.fixtures]
    assert [(p.outcome.value, p.as_expected) for p in packages] == [("compiled", True)] * 2
    assert all(len(p.expectations) > 2 for p in packages)


def test_a_second_run_writes_nothing(starter: Path) -> None:
    before = {p: p.read_bytes() for p in starter.rglob("*") if p.is_file()}
    again = write_starter(starter)
    assert not any(w.fresh for w in again)
    assert all(w.same for w in again)
    assert {p: p.read_bytes() for p in starter.rglob("*") if p.is_file()} == before


def test_what_was_edited_stays_and_what_is_missing_comes_back(starter: Path) -> None:
    (starter / "ctxc.yaml").write_text("provider: anthropic\n")
    (starter / "policies/platform.md").unlink()
    again = {w.path: w for w in write_starter(starter)}
    assert (starter / "ctxc.yaml").read_text() == "provider: anthropic\n"
    assert (again["ctxc.yaml"].fresh, again["ctxc.yaml"].same) == (False, False)
    assert again["policies/platform.md"].fresh
    assert sum(w.fresh for w in again.values()) == 1


def test_no_second_configuration_is_written(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text('[tool.ctxc]\nmodel = "gpt-4.1"\nprovider = "openai"\n')
    written = {w.path for w in write_starter(tmp_path)}
    assert "pyproject.toml" in written
    assert not (tmp_path / "ctxc.yaml").exists()
    assert load(tmp_path).settings.model == "gpt-4.1"


def test_a_file_in_the_way_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "x").write_text("")
    with pytest.raises(UsageError):
        write_starter(tmp_path / "x")


class Loader(yaml.SafeLoader):
    """Scalars as YAML 1.2 means them, which is how an editor's language server reads them: no timestamps."""


Loader.yaml_implicit_resolvers = {
    first: [(tag, pattern) for tag, pattern in resolvers if tag != "tag:yaml.org,2002:timestamp"]
    for first, resolvers in yaml.SafeLoader.yaml_implicit_resolvers.items()
}


def test_every_yaml_file_names_a_schema_that_accepts_it(starter: Path) -> None:
    checked = 0
    for path in sorted(starter.rglob("*.yaml")):
        text = path.read_text(encoding="utf-8")
        modeline = re.match(r"# yaml-language-server: \$schema=(\S+)\n", text)
        assert modeline, path
        schema = path.parent / modeline[1]
        assert schema.is_file(), f"{path} names {modeline[1]}"
        jsonschema.validate(yaml.load(text, Loader), json.loads(schema.read_text(encoding="utf-8")))
        checked += 1
    assert checked == sum(p.endswith(".yaml") for p in starter_files())
