"""Rules from outside: from an installed distribution that is named, and from nowhere else."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from lint_world import TEMPLATE, codes, judge, silenced, write

from ctxc.app import plugins
from ctxc.base.errors import UsageError

RULES = """
from ctxc.base.spans import Origin
from ctxc.model.finding import Severity
from ctxc.rules.engine import Rule


def check(context):
    for versions in context.project.templates.values():
        for template in versions:
            yield RULE.finding(context, "no house prefix", at=template.origin.child("template_id"), help="write acme_")


RULE = Rule(code="{code}", name="{name}", severity=Severity.WARNING, doc="A template without the house's prefix.", check=check)
"""


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder of installed packages of its own."""
    place = tmp_path / "site"
    place.mkdir()
    monkeypatch.setattr(plugins, "installed_places", lambda: (str(place),))
    monkeypatch.syspath_prepend(str(place))
    yield place
    for name in ("acme_rules", "other_rules"):
        sys.modules.pop(name, None)


def install(
    place: Path,
    name: str,
    *,
    module: str = "acme_rules",
    code: str = "ACME001",
    rule: str = "house-prefix",
    target: str = "RULE",
    text: str = RULES,
) -> None:
    write(place, {
        f"{module}.py": text.replace("{code}", code).replace("{name}", rule),
        f"{name.replace('-', '_')}-1.0.dist-info/METADATA": f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n",
        f"{name.replace('-', '_')}-1.0.dist-info/entry_points.txt": f"[ctxc.rules]\nall = {module}:{target}\n",
    })  # fmt: skip


def test_a_named_distribution_adds_its_rules(site: Path, tmp_path: Path) -> None:
    install(site, "acme-rules")
    root = write(tmp_path / "p", {"templates/t.yaml": TEMPLATE})
    assert codes(judge(root)) == []
    assert codes(judge(root, plugins=("acme-rules",))) == ["templates/t.yaml:1 ACME001"]
    assert codes(judge(root, plugins=("acme-rules",), ignore=("house-prefix",))) == []
    assert codes(judge(root, plugins=("acme-rules",), select=("ACME001",))) == ["templates/t.yaml:1 ACME001"]


def test_its_findings_are_suppressed_like_others(site: Path, tmp_path: Path) -> None:
    install(site, "acme-rules")
    text = TEMPLATE.replace("id: t\n", "id: t  # ctxc: ignore[house-prefix] reason: older than the house\n", 1)
    root = write(tmp_path / "p", {"templates/t.yaml": text})
    assert silenced(judge(root, plugins=("acme-rules",))) == [("ACME001", "inline", "older than the house")]


def test_what_is_not_installed_is_wrong_usage(site: Path, tmp_path: Path) -> None:
    root = write(tmp_path / "p", {"templates/t.yaml": TEMPLATE})
    with pytest.raises(UsageError, match="no distribution 'acme-rules' is installed"):
        judge(root, plugins=("acme-rules",))


def test_a_distribution_in_the_judged_tree_is_none(site: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    root = write(tmp_path / "p", {"templates/t.yaml": TEMPLATE})
    install(root, "acme-rules")
    monkeypatch.syspath_prepend(str(root))
    monkeypatch.chdir(root)
    with pytest.raises(UsageError, match="no distribution"):
        judge(root, plugins=("acme-rules",))


def test_a_module_of_the_judged_tree_does_not_stand_in_for_an_installed_one(
    site: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    install(site, "acme-rules")
    root = write(tmp_path / "p", {"templates/t.yaml": TEMPLATE, "acme_rules.py": "raise SystemExit('executed')\n"})
    monkeypatch.syspath_prepend(str(root))
    with pytest.raises(UsageError, match="from the project that is judged"):
        judge(root, plugins=("acme-rules",))


@pytest.mark.parametrize(
    "changes",
    [
        {"code": "CTX999"},
        {"code": "acme1"},
        {"rule": "unknown-key"},
        {"rule": "House Prefix"},
        {"target": "check"},
        {"target": "gone"},
        {"text": "import nothing_of_this_name\n"},
        {"text": "raise SystemExit(0)\n"},
    ],
)
def test_what_is_no_proper_rule_is_refused(site: Path, tmp_path: Path, changes: dict[str, str]) -> None:
    install(site, "acme-rules", **changes)  # type: ignore[arg-type]
    root = write(tmp_path / "p", {"templates/t.yaml": TEMPLATE})
    with pytest.raises(UsageError):
        judge(root, plugins=("acme-rules",))


def test_two_distributions_may_not_offer_one_rule(site: Path, tmp_path: Path) -> None:
    install(site, "acme-rules")
    install(site, "other-rules", module="other_rules", code="OTHER001")
    root = write(tmp_path / "p", {"templates/t.yaml": TEMPLATE})
    with pytest.raises(UsageError, match="offered twice"):
        judge(root, plugins=("acme-rules", "other-rules"))
