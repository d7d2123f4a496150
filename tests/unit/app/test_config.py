"""The configuration: where it is found, what wins, and every way in which it can be wrong."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from ctxc.app import config
from ctxc.app.workspace import open_workspace
from ctxc.base.errors import ConfigError
from ctxc.parse.schemas import schema


def opened(root: Path, *, flags: dict[str, Any] | None = None, **environment: str) -> config.Config:
    return open_workspace(root, flags=flags or {}, environment=environment, no_cache=True).config


def failure(root: Path, **environment: str) -> ConfigError:
    with pytest.raises(ConfigError) as caught:
        opened(root, **environment)
    return caught.value


def test_the_defaults_are_the_settings_of_the_schema() -> None:
    assert set(config.DEFAULTS) == set(schema("config")["properties"])


def test_without_a_file_everything_is_a_default(tmp_path: Path) -> None:
    found = opened(tmp_path)
    assert {v.origin for v in found.values} == {"default"}
    assert found.settings.fixtures == ("tests/fixtures",)
    assert found.path == ""


def test_flags_win_over_environment_over_file_over_defaults(tmp_path: Path) -> None:
    (tmp_path / "ctxc.yaml").write_text("provider: openai\nmodel: from-file\ntier: strict\n")
    found = opened(tmp_path, flags={"model": "from-flag"}, CTXC_MODEL="from-environment", CTXC_PROVIDER="anthropic")
    by_name = {v.name: (v.value, v.origin) for v in found.values}
    assert by_name["model"] == ("from-flag", "--model")
    assert by_name["provider"] == ("anthropic", "CTXC_PROVIDER")
    assert by_name["tier"] == ("strict", "ctxc.yaml:3:1")
    assert by_name["fail-on"] == ("error", "default")
    assert found.settings.extra["tier"] == "strict"


def test_a_single_folder_may_be_written_as_text(tmp_path: Path) -> None:
    (tmp_path / "ctxc.yaml").write_text("templates: prompts/\n")
    assert opened(tmp_path).settings.templates == ("prompts",)


def test_pyproject_is_read_with_its_lines(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text('[project]\nname = "x"\n\n[tool.ctxc]\nmodel = "gpt-4.1"\n')
    found = opened(tmp_path)
    assert found.path == "pyproject.toml"
    assert {v.name: v.origin for v in found.values}["model"] == "pyproject.toml:5:1"


def test_a_pyproject_that_only_mentions_the_name_is_no_configuration(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text('[project]\ndependencies = ["ctxc-toolkit"]\n')
    assert opened(tmp_path).path == ""


def test_the_search_goes_up_and_stops_at_git(tmp_path: Path) -> None:
    (tmp_path / "ctxc.yaml").write_text("model: outer\n")
    repository = tmp_path / "repository"
    (repository / ".git").mkdir(parents=True)
    (repository / "a" / "b").mkdir(parents=True)
    found = opened(repository / "a" / "b")
    assert (found.root, found.path) == (repository, "")
    (repository / "ctxc.yaml").write_text("model: inner\n")
    found = opened(repository / "a" / "b")
    assert (found.root, found.settings.model) == (repository, "inner")


def test_a_configuration_above_wins_where_there_is_no_git(tmp_path: Path) -> None:
    (tmp_path / "ctxc.yaml").write_text("model: outer\n")
    (tmp_path / "a").mkdir()
    assert opened(tmp_path / "a").root == tmp_path


def test_two_files_are_an_error(tmp_path: Path) -> None:
    (tmp_path / "ctxc.yaml").write_text("model: a\n")
    (tmp_path / "pyproject.toml").write_text('[tool.ctxc]\nmodel = "b"\n')
    assert "both ctxc.yaml and [tool.ctxc]" in failure(tmp_path).message


@pytest.mark.parametrize(
    ("text", "place", "words"),
    [
        ("modle: x\n", "ctxc.yaml:1:1", '"model"'),
        ("a: 1\nmodel: x\nmodel: y\n", "ctxc.yaml:3:1", "twice"),
        ("model: [a]\n", "ctxc.yaml:1:8", "text"),
        ("tier: hard\n", "ctxc.yaml:1:7", "hard"),
        ("model: 'x\n", "ctxc.yaml:", ""),
        ("- a\n- b\n", "ctxc.yaml:1:1", "mapping"),
        ("per-file-ignores: {a: b}\n", "ctxc.yaml:1:23", "list"),
    ],
)
def test_a_wrong_yaml_file_names_the_place(tmp_path: Path, text: str, place: str, words: str) -> None:
    (tmp_path / "ctxc.yaml").write_text(text)
    error = failure(tmp_path)
    assert str(error.location).startswith(place)
    assert words in error.message + error.help


def test_all_mistakes_are_named_at_once(tmp_path: Path) -> None:
    (tmp_path / "ctxc.yaml").write_text("modle: x\ntier: hard\n")
    error = failure(tmp_path)
    assert str(error.location) == "ctxc.yaml:1:1"
    assert "ctxc.yaml:2:7" in error.help


@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        ('[tool.ctxc]\nmodle = "x"\n', 2, '"model"'),
        ("[tool.ctxc]\nmodel = 3\n", 2, "text"),
        ("[tool.ctxc]\nmodel = \n", 2, "not valid TOML"),
        ('[tool.other]\na = 1\n\n[tool.ctxc]\ntier = "hard"\n', 5, "hard"),
    ],
)
def test_a_wrong_pyproject_names_the_line(tmp_path: Path, text: str, line: int, words: str) -> None:
    (tmp_path / "pyproject.toml").write_text(text)
    error = failure(tmp_path)
    assert error.location is not None
    assert error.location.span is not None
    assert error.location.span.line == line
    assert words in error.message + error.help


def test_a_toml_key_of_many_parts_is_refused_before_it_is_parsed(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text("[tool.ctxc]\n" + ".".join("a" * 1 for _ in range(5000)) + " = 1\n")
    assert "more than 64 parts" in failure(tmp_path).message


@pytest.mark.parametrize("folder", ["../outside", "/etc", "a/../b", "~/x", "C:/x"])
def test_folders_stay_inside_the_project(tmp_path: Path, folder: str) -> None:
    (tmp_path / "ctxc.yaml").write_text(f"templates: ['{folder}']\n")
    error = failure(tmp_path)
    assert repr(folder) in error.message
    assert "ctxc.yaml:1:1" in error.message


def test_a_variable_with_an_impossible_value_is_an_error(tmp_path: Path) -> None:
    error = failure(tmp_path, CTXC_TIER="hard")
    assert error.message == "CTXC_TIER is 'hard'"
    assert "strict" in error.help


def test_a_misspelt_variable_is_noticed(tmp_path: Path) -> None:
    assert opened(tmp_path, CTXC_MODLE="x").notes == ("CTXC_MODLE is set and means nothing; did you mean CTXC_MODEL?",)


def test_a_folder_that_is_not_there(tmp_path: Path) -> None:
    assert "is not a folder" in failure(tmp_path / "nowhere").message


@pytest.mark.parametrize("kind", ["folder", "link to nothing", "link to itself", "device"])
def test_a_configuration_that_is_no_file_is_not_taken_for_none(tmp_path: Path, kind: str) -> None:
    place = tmp_path / "ctxc.yaml"
    if kind == "folder":
        place.mkdir()
    else:
        place.symlink_to({"link to nothing": "nowhere", "link to itself": "ctxc.yaml", "device": "/dev/zero"}[kind])
    with pytest.raises(ConfigError, match=r"ctxc\.yaml (cannot be read: |is not a regular file)"):
        open_workspace(tmp_path, flags={}, environment={}, no_cache=True)


def test_an_empty_file_is_an_empty_configuration(tmp_path: Path) -> None:
    (tmp_path / "ctxc.yaml").write_text("# nothing yet\n")
    assert opened(tmp_path).path == "ctxc.yaml"


def test_the_parsed_file_is_cached_by_content(tmp_path: Path) -> None:
    (tmp_path / "p").mkdir()
    file = tmp_path / "p" / "ctxc.yaml"
    for text, model in (("model: a\n", "a"), ("model: a\n", "a"), ("model: b\n", "b")):
        file.write_text(text)
        workspace = open_workspace(tmp_path / "p", flags={}, environment={}, cache_dir=str(tmp_path / "cache"))
        assert workspace.settings.model == model
        assert {v.name: v.origin for v in workspace.config.values}["model"] == "ctxc.yaml:1:1"
        workspace.close()
