"""Which two states are compared, and what happens where one of them cannot be read."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

import pytest
from diff_projects import (
    POLICY,
    basic,
    by_id,
    diff_of,
    differing,
    environment,
    fixture,
    fragment,
    run_command,
    text_of,
)
from repos import Repo

from ctxc.base.errors import RevisionError, UnreadableSource, UsageError
from ctxc.source.git import Repository

NINETY = POLICY.replace("30 days", "90 days")


@pytest.fixture
def two(repo: Repo) -> Repo:
    """A repository with the basic project and one edit of its policy."""
    repo.commit("base", basic())
    repo.commit("head", {"policies/policy.md": NINETY})
    return repo


def test_the_work_tree_is_head_and_untracked_files_are_in_it(two: Repo) -> None:
    two.write("fragments/other.md", fragment("other", "Other.\n", when="{area: [other]}"))
    two.write("ignored.log", "x")
    change = diff_of(two, base="HEAD")
    assert (change.head.kind, change.head.rev) == ("worktree", "")
    assert differing(change) == ["c"]
    assert [(s.path, s.status) for s in change.sources] == [("fragments/other.md", "added")]


def test_ignored_files_are_not_in_the_work_tree(two: Repo) -> None:
    two.commit("ignore", {".gitignore": "fragments/private.md\n"})
    two.write("fragments/private.md", fragment("private", "Private.\n", when="{area: [other]}"))
    two.write("policies/policy.md", POLICY)
    change = diff_of(two, base="HEAD")
    assert [s.path for s in change.sources] == ["policies/policy.md"]


def test_the_index_is_what_the_next_commit_holds(two: Repo) -> None:
    two.write("policies/policy.md", POLICY.replace("30 days", "60 days"))
    two.git("add", "-A")
    two.write("policies/policy.md", POLICY.replace("30 days", "120 days"))
    staged = diff_of(two, base="HEAD", staged=True)
    assert staged.head.kind == "index"
    assert [r.text for r in by_id(staged)["a"].sections[0].hunks[0].runs if r.op == "+"] == ["60"]
    work = diff_of(two, base="HEAD")
    assert [r.text for r in by_id(work)["a"].sections[0].hunks[0].runs if r.op == "+"] == ["120"]


def test_a_base_that_is_the_head_compares_nothing(two: Repo) -> None:
    for request in ({"base": "HEAD", "head": "HEAD"}, {"base": "HEAD"}, {"base": "main", "staged": True}):
        with pytest.raises(RevisionError) as caught:
            diff_of(two, **request)
        assert "is the head itself" in caught.value.message and "--allow-same" in caught.value.help
    assert diff_of(two, base="HEAD", allow_same=True).is_empty
    # Two commits with one tree were compared, and are equal.
    two.commit("empty")
    assert diff_of(two, base="HEAD~1", head="HEAD").is_empty


def test_revisions_that_are_none(two: Repo) -> None:
    for name, part in (
        ("nowhere", "is not a revision"),
        ("--output=x", "cannot be a revision"),
        ("a..b", "is a range"),
    ):
        with pytest.raises(RevisionError) as caught:
            diff_of(two, base=name)
        assert part in caught.value.message
    assert not (two.path / "x").exists()
    with pytest.raises(UsageError):
        diff_of(two, base="HEAD~1", head="HEAD", staged=True)


def test_the_first_commit_has_nothing_to_compare_with(repo: Repo) -> None:
    for path, text in basic().items():
        repo.write(path, text)
    with pytest.raises(RevisionError) as caught:
        diff_of(repo)
    assert "nothing to compare with: the repository has no commit yet" in caught.value.message
    status, out, err = run_command(repo, "diff")
    assert (status, out) == (2, "") and "nothing to compare with" in err


def test_a_branch_is_compared_with_the_commit_it_left(two: Repo) -> None:
    two.git("checkout", "-q", "-b", "feature", "HEAD~1")
    two.commit("feature", {"fragments/returns.md": fragment("returns", "Be quick.\n")})
    change = diff_of(two)
    assert change.base.commit == two.id("main~1") and "merge base with main" in change.base.how
    # The edit of the policy on main is none of this branch's.
    assert [s.path for s in change.sources] == ["fragments/returns.md"]


def test_a_pull_request_in_a_shallow_clone(two: Repo, tmp_path: Path) -> None:
    two.git("checkout", "-q", "-b", "feature")
    feature = two.commit("feature", {"fragments/returns.md": fragment("returns", "Be quick.\n")})
    two.git("checkout", "-q", "main")
    main = two.commit("main moved", {"policies/policy.md": POLICY})
    two.git("checkout", "-q", "--detach")
    merge = two.merge("feature", f"Merge {feature} into {main}")
    two.git("update-ref", "refs/pull/1/merge", merge)
    two.git("checkout", "-q", "main")
    ci = Repo(tmp_path / "ci")
    ci.git("remote", "add", "origin", two.path.as_uri())
    fetch = ["-c", "protocol.file.allow=always", "fetch", "-q", "--no-tags", "origin"]
    ci.git(*fetch, "--depth=1", "+refs/pull/1/merge:refs/remotes/pull/1/merge")
    ci.git("checkout", "-q", "--detach", "refs/remotes/pull/1/merge")
    variables = {"GITHUB_REF": "refs/pull/1/merge", "GITHUB_SHA": merge, "GITHUB_BASE_REF": "main"}
    with pytest.raises(RevisionError) as caught:
        diff_of(ci, env=variables)
    assert main[:12] in caught.value.message and "shallow" in caught.value.message
    assert "fetch-depth: 0" in caught.value.help
    ci.git(*fetch, "--depth=1", main)
    change = diff_of(ci, env=variables)
    assert (change.base.commit, change.base.label) == (main, f"{main[:12]} (pull-request-merge)")
    assert differing(change) == ["a"]


def test_only_what_is_needed_has_to_be_there(two: Repo) -> None:
    """An object that no fixture needs may be missing from the clone."""
    two.commit("other", {"images/big.bin": b"\x00" * 1000, "policies/policy.md": POLICY})
    oid = two.id("HEAD:images/big.bin")
    (two.path / ".git/objects" / oid[:2] / oid[2:]).unlink()
    change = diff_of(two, base="HEAD~1", head="HEAD")
    assert differing(change) == ["a", "b", "c"]


def test_a_blob_that_is_needed_and_missing_is_named(two: Repo) -> None:
    oid = two.id("HEAD:policies/policy.md")
    (two.path / ".git/objects" / oid[:2] / oid[2:]).unlink()
    with pytest.raises(RevisionError) as caught:
        diff_of(two, base="HEAD~1", head="HEAD")
    assert "policies/policy.md" in caught.value.message


def test_links_are_followed_inside_the_tree(two: Repo) -> None:
    two.commit("texts", {"texts/one.md": "Number one.\n", "texts/two.md": "Number two.\n"})
    (two.path / "policies/policy.md").unlink()
    two.link("policies/policy.md", "../texts/one.md")
    two.commit("link")
    (two.path / "policies/policy.md").unlink()
    two.link("policies/policy.md", "../texts/two.md")
    two.commit("another target")
    change = diff_of(two, base="HEAD~1", head="HEAD")
    runs = [(r.op, r.text) for r in by_id(change)["a"].sections[0].hunks[0].runs]
    assert runs == [("=", "Number "), ("-", "one"), ("+", "two"), ("=", ".")]
    assert [s.path for s in change.sources] == ["policies/policy.md"]


def test_a_link_that_leaves_the_tree_and_a_pointer_without_content(two: Repo) -> None:
    (two.path / "policies/policy.md").unlink()
    two.link("policies/policy.md", "/etc/passwd")
    two.commit("leaves")
    change = diff_of(two, base="HEAD~1", head="HEAD")
    assert {f.head_outcome for f in change.fixtures} == {"invalid"}
    assert "root:" not in text_of(change, "json")
    (two.path / "policies/policy.md").unlink()
    pointer = "version https://git-lfs.github.com/spec/v1\noid sha256:" + "a" * 64 + "\nsize 12345\n"
    two.commit("pointer", {"policies/policy.md": pointer})
    change = diff_of(two, base="HEAD~2", head="HEAD")
    assert {f.head_outcome for f in change.fixtures} == {"invalid"}
    assert any("LFS pointer" in p for p in by_id(change)["a"].problems)


def test_a_sub_module_is_not_entered(two: Repo, tmp_path: Path) -> None:
    other = Repo(tmp_path / "other")
    other.commit("x", {"a.md": fragment("inside", "Inside.\n", when="{area: [other]}")})
    two.git("-c", "protocol.file.allow=always", "submodule", "add", "-q", str(other.path), "fragments/sub")
    two.commit("sub-module")
    change = diff_of(two, base="HEAD~1", head="HEAD")
    assert change.is_empty
    assert not any("fragments/sub" in s.path for s in change.sources)


def test_a_linked_work_tree(two: Repo, tmp_path: Path) -> None:
    place = tmp_path / "wt"
    two.git("worktree", "add", "-q", str(place), "HEAD~1")
    assert (place / ".git").is_file()
    linked = Repo(place)
    change = diff_of(linked, base="HEAD", head="main")
    assert differing(change) == ["a", "b", "c"]
    status, out, _ = run_command(linked, "diff", "HEAD", "main")
    assert status == 0 and "[-30-]{+90+}" in out


def test_hook_variables_do_not_lead_astray(two: Repo, tmp_path: Path) -> None:
    other = Repo(tmp_path / "other")
    other.commit("other", {"a.md": "x\n"})
    config = (two.path / ".git/config").read_bytes()
    own = {"GIT_DIR": str(two.path / ".git"), "GIT_INDEX_FILE": str(two.path / ".git/index"), "GIT_WORK_TREE": "."}
    assert differing(diff_of(two, base="HEAD~1", head="HEAD", env=own)) == ["a", "b", "c"]
    foreign = {"GIT_DIR": str(other.path / ".git")}
    status, out, err = run_command(two, "diff", "HEAD~1", "HEAD", "-v", **foreign)
    assert status == 0 and "3 of 3 fixtures differ" in out
    assert "is another repository" in err and str(two.path / ".git") in err
    assert (two.path / ".git/config").read_bytes() == config


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="needs root, to give a repository away")
def test_a_repository_of_somebody_else(two: Repo) -> None:
    subprocess.run(["chown", "-R", "12345:12345", str(two.path)], check=True)
    home = two.path.parent / "home"
    home.mkdir()
    status, out, err = run_command(two, "diff", "HEAD~1", "HEAD", HOME=str(home))
    assert (status, out) == (2, "")
    assert "safe.directory" in err and "not a git repository" not in err
    assert list(home.iterdir()) == []
    assert differing(diff_of(two, base="HEAD~1", head="HEAD", trust_repository=True)) == ["a", "b", "c"]


def test_names_that_are_not_ascii(repo: Repo) -> None:
    name = "policies/docs ü/設計 メモ.md"
    files = {k: v.replace("policies/policy.md", f"'{name}'") for k, v in basic().items() if k != "policies/policy.md"}
    repo.commit("base", {**files, name: "one\n"})
    repo.commit("head", {name: "two\n"})
    change = diff_of(repo, base="HEAD~1", head="HEAD")
    assert [s.path for s in change.sources] == [name]
    assert by_id(change)["a"].sections[0].path == name
    printed = text_of(change, "json")
    assert name in printed and "\\3" not in printed and f'\\"{name}' not in printed


def test_a_project_in_a_folder_of_its_repository(repo: Repo) -> None:
    repo.commit("base", {f"app/prompts/{k}": v for k, v in basic().items()} | {"app/prompts/ctxc.yaml": "model: m\n"})
    repo.commit("other folder", {"README.md": "Nothing of ours.\n"})
    repo.commit("head", {"app/prompts/policies/policy.md": NINETY})
    change = diff_of(repo, at=repo.path / "app/prompts", base="HEAD~1", head="HEAD")
    assert [s.path for s in change.sources] == ["policies/policy.md"] and len(differing(change)) == 3
    assert diff_of(repo, at=repo.path / "app/prompts", base="HEAD~2", head="HEAD~1").is_empty


def test_a_project_that_the_base_does_not_have(repo: Repo) -> None:
    repo.commit("nothing", {"README.md": "x\n"})
    repo.commit("project", basic())
    change = diff_of(repo, base="HEAD~1", head="HEAD")
    assert {f.status for f in change.fixtures} == {"added"} and len(change.fixtures) == 3
    assert change.base.errors == 0


def test_text_outside_the_folders_is_followed(repo: Repo) -> None:
    files = {k: v.replace("policies/policy.md", "docs/policy.md") for k, v in basic().items()}
    repo.commit("base", {**files, "docs/policy.md": POLICY, "docs/unrelated.md": "x\n"})
    repo.commit("head", {"docs/policy.md": NINETY, "docs/unrelated.md": "y\n"})
    change = diff_of(repo, base="HEAD~1", head="HEAD")
    assert differing(change) == ["a", "b", "c"]
    assert [s.path for s in change.sources] == ["docs/policy.md"]


def test_a_configuration_that_is_broken_at_base_says_where(two: Repo) -> None:
    from ctxc.base.errors import ConfigError

    two.commit("broken", {"ctxc.yaml": "modell: x\n"})
    two.commit("mended", {"ctxc.yaml": "model: x\n"})
    with pytest.raises(ConfigError) as caught:
        diff_of(two, base="HEAD~1", head="HEAD")
    assert "HEAD~1" in caught.value.message and caught.value.location is not None


def test_status_one_only_where_it_is_asked_for(two: Repo) -> None:
    assert run_command(two, "diff", "HEAD~1", "HEAD")[0] == 0
    assert run_command(two, "diff", "HEAD~1", "HEAD", "--exit-code")[0] == 1
    two.commit("same")
    assert run_command(two, "diff", "HEAD~1", "HEAD", "--exit-code")[0] == 0
    for format in ("json", "markdown", "html"):
        assert run_command(two, "diff", "HEAD~2", "HEAD", "--exit-code", "-f", format)[0] == 1


def test_wrong_usage(two: Repo) -> None:
    for arguments, part in (
        (("--only", "contents"), "did you mean content?"),
        (("-f", "htm"), "did you mean html?"),
        (("--output", "pdf:x"), "no output format"),
        (("HEAD~1", "--against", "HEAD"), "BASE is given twice"),
        (("--fixture", "zzz"), "no fixture matches"),
        (("--model", "gpt-4o"), "--against-model"),
        (("snapshot:",), "names no file"),
        (("snapshot:none.json",), "cannot be read"),
    ):
        status, out, err = run_command(
            two,
            "diff",
            *(
                arguments
                if "HEAD~1" in arguments or ":" in arguments[0] or "--model" in arguments
                else ("HEAD~1", "HEAD", *arguments)
            ),
        )
        assert (status, out) == (2, ""), arguments
        assert part in err, (arguments, err)


def test_only_and_fixture_narrow_what_is_shown(two: Repo) -> None:
    two.commit("more", {"fragments/billing.md": fragment("billing", "Ask again.\n", when="{area: [billing]}")})
    status, out, _ = run_command(two, "diff", "HEAD~2", "HEAD", "--fixture", "b", "--stat")
    assert status == 0 and "1 of 1 fixture differs" in out and "fragments/billing" in out and "[-" not in out
    _, out, _ = run_command(two, "diff", "HEAD~2", "HEAD", "--only", "order")
    assert "policy" not in out.split("files")[0].split("\n\n")[-1]


def test_the_cache_gives_the_same_and_is_not_believed_blindly(two: Repo, tmp_path: Path) -> None:
    from ctxc.app.diff import diff_workspace
    from ctxc.app.diff_sides import DiffRequest
    from ctxc.app.workspace import open_workspace

    cache = tmp_path / "cache"

    def once(**request: object) -> tuple[str, tuple[str, ...]]:
        workspace = open_workspace(two.path, flags={}, environment=environment(two), cache_dir=str(cache))
        outcome = diff_workspace(workspace, DiffRequest(**{"base": "HEAD~1", "head": "HEAD", **request}))
        return text_of(outcome.change, "json"), outcome.notes

    cold, _ = once()
    warm, notes = once()
    assert warm == cold and notes == ("from the cache: these two trees were compared before",)
    by_name, notes = once(base=two.id("HEAD~1"), head="main")
    assert notes[0].startswith("from the cache") and '"rev":"main"' in by_name
    import sqlite3

    with sqlite3.connect(next(cache.glob("*.sqlite3"))) as store:
        store.execute(
            "update blobs set value = cast('{\"version\": 1}' as blob), seal = seal where space = 'app.diff.change'"
        )
    again, notes = once()
    assert again == cold and not notes[0].startswith("from the cache")


def test_output_is_the_same_in_any_surroundings(two: Repo, tmp_path: Path) -> None:
    printed = set()
    for seed, zone, locale, cwd in (
        ("0", "UTC", "C", two.path),
        ("1", "Asia/Kathmandu", "C.UTF-8", two.path / "fragments"),
        ("777", "America/St_Johns", "POSIX", tmp_path),
    ):
        status, out, err = run_command(
            two, "-C", str(two.path), "diff", "HEAD~1", "HEAD", "-f", "json", cwd=cwd, PYTHONHASHSEED=seed, TZ=zone,
            LC_ALL=locale,
        )  # fmt: skip
        assert status == 0, err
        printed.add(out)
    assert len(printed) == 1


def test_a_saved_snapshot_as_base(two: Repo) -> None:
    status, _, err = run_command(two, "snapshot", "save")
    assert status == 0, err
    names = sorted(p.name for p in (two.path / "tests/snapshots").iterdir())
    assert names == ["a.json", "b.json", "c.json"]
    two.write("policies/policy.md", POLICY)
    change = diff_of(two, base="snapshot:tests/snapshots/a.json")
    told = by_id(change)
    assert list(told) == ["a"] and told["a"].facets[:1] == ("content",)
    assert [(r.op, r.text) for r in told["a"].sections[0].hunks[0].runs if r.op != "="] == [("-", "90"), ("+", "30")]
    assert told["a"].prefix.first_difference.section_id == "policy"
    assert told["a"].prefix.first_difference.byte is None
    whole = diff_of(two, base="snapshot:tests/snapshots")
    assert differing(whole) == ["a", "b", "c"]


def test_of_a_saved_snapshot_the_whole_sections_before_the_first_difference_stay_cached(two: Repo) -> None:
    """It has no bytes to compare; that the policy is equal its hash says."""
    run_command(two, "snapshot", "save")
    two.write("fragments/returns.md", fragment("returns", "Ask for the order number.\nBe short.\n"))
    saved = by_id(diff_of(two, base="snapshot:tests/snapshots/a.json"))["a"].prefix
    exact = by_id(diff_of(two, base="HEAD"))["a"].prefix
    segments = json.loads((two.path / "tests/snapshots/a.json").read_text())["cache"]["segments"]
    policy = sum(s["tokens"] for s in segments if s["id"] == "policy")
    assert 0 < policy < saved.base_tokens == exact.base_tokens
    assert exact.lost_tokens < saved.lost_tokens <= saved.base_tokens - policy


def test_snapshots_that_cannot_be_compared(two: Repo) -> None:
    run_command(two, "snapshot", "save")
    path = two.path / "tests/snapshots/a.json"
    good = path.read_text()
    for text, part in (
        (good.replace("ctxc.snapshot/1", "ctxc.snapshot/9"), "not comparable"),
        (good.replace('"id": "o200k_base"', '"id": "cl100k_base"'), "was counted by cl100k_base"),
        ("{", "is not JSON"),
        ("[1]", "no snapshot is in it"),
        (good.replace('"sections": [', '"sections": [7, '), "damaged"),
    ):
        path.write_text(text)
        with pytest.raises(UnreadableSource) as caught:
            diff_of(two, base="snapshot:tests/snapshots/a.json")
        assert part in caught.value.message, (part, caught.value.message)


def test_golden_snapshots_are_saved_checked_and_accepted(two: Repo) -> None:
    assert run_command(two, "snapshot", "check")[0] == 2, "nothing to compare with is not a pass"
    assert "3 snapshots written" in run_command(two, "snapshot", "save")[1]
    assert run_command(two, "snapshot", "check")[:2] == (0, "3 snapshots the same\n")
    two.write("policies/policy.md", POLICY)
    two.write("tests/fixtures/d.yaml", fixture("d"))
    (two.path / "tests/fixtures/c.yaml").unlink()
    status, out, err = run_command(two, "snapshot", "check")
    assert status == 1 and "[-90-]{+30+}" in out
    assert "d has no snapshot" in err and "c: its fixture is gone" in err
    assert run_command(two, "snapshot", "review")[0] == 2, "review asks, and needs a terminal"
    for action in ("save", "accept", "review"):
        status, _, err = run_command(two, "snapshot", action, CI="true")
        assert status == 2 and "not written where CI is set" in err
    assert run_command(two, "snapshot", "check", CI="true")[0] == 1
    assert run_command(two, "snapshot", "accept")[:2] == (0, "3 snapshots written, 1 removed, 0 as they were\n")
    assert run_command(two, "snapshot", "check", CI="true")[0] == 0
    text = (two.path / "tests/snapshots/a.json").read_text()
    assert "Refund window is 30 days" in text and str(two.path) not in text


def opened(repo: Repo) -> Repository:
    repository = Repository.discover(repo.path, environ=environment(repo))
    assert repository is not None
    return repository


def test_revisions_looked_up_together_mean_what_each_means_alone(two: Repo) -> None:
    """Ancestors of HEAD are asked for without ``git rev-parse``; nothing else may come of that."""
    first, second = two.id("HEAD~1"), two.id("HEAD")
    two.git("tag", "-a", "v1", "-m", "annotated", first)
    two.git("tag", "HEAD", first)  # a tag of that name is not HEAD
    two.git("branch", "old", first)
    expected = {
        "HEAD": second, "@": second, "HEAD~1": first, "@^": first, "HEAD^1": first, "HEAD~0^": first, "old": first,
        "v1": first, second: second,
    }  # fmt: skip
    for names in (tuple(expected), ("HEAD~1", "HEAD"), ("HEAD~9", "old", "HEAD")):
        with opened(two) as repository:
            repository.resolve_all(names)
            found = {n: repository.resolve(n) for n in names if n in expected}
        assert found == {n: expected[n] for n in names if n in expected}
    with opened(two) as repository:
        repository.resolve_all(["HEAD~9", "HEAD^7", "@~1~1~1"])
        for missing in ("HEAD~9", "HEAD^7", "@~1~1~1"):
            with pytest.raises(RevisionError, match="is not a revision of this repository"):
                repository.resolve(missing)
