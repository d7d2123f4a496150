"""Run ``ctxc gate``, and tell what came out: the log with annotations, the reports, the outputs, the summary.

The step always ends with status 0: what the gate says is the output ``exit-code``, and the last step of the action
makes it the job's, when everything has been reported.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from ctxc_action import pages
from ctxc_action.runner import Runner

ENDINGS = {"json": "json", "markdown": "md", "html": "html", "sarif": "sarif", "junit": "xml", "gitlab": "gitlab.json",
           "jsonl": "jsonl", "text": "txt", "concise": "concise.txt"}  # fmt: skip
ALWAYS = ("json", "markdown", "html", "sarif")
FAULT = 3
SAID_LIMIT = 20_000
"""Characters of stderr that a page shows; the log has them all."""


def run(runner: Runner) -> int:
    """Run the gate and report. The outputs are those of ``action.yml``."""
    folder = Path(tempfile.mkdtemp(prefix="ctxc-gate-", dir=runner.temporary))
    files = _files(runner, folder)
    refusal = _refusal(runner)
    status, said = (2, refusal) if refusal else _judge(runner, files)
    report = _report(files["json"])
    if report is None and status in (0, 1):
        # What judged nothing has not passed, whatever its status says.
        status, said = FAULT, said or "the gate ended without a report"
    page = files["markdown"]
    if report is None:
        page.write_text(pages.not_judged(status, said[-SAID_LIMIT:]), encoding="utf-8", newline="\n")
    runner.summary(pages.fit_summary(page.read_text(encoding="utf-8")))
    runner.output("exit-code", status)
    for name, value in _figures(report).items():
        runner.output(name, value)
    runner.output("reports", folder)
    for name in ALWAYS:
        runner.output(f"report-{name}", files[name] if files[name].is_file() else "")
    return 0


def _files(runner: Runner, folder: Path) -> dict[str, Path]:
    """Where each report is written, by format."""
    more = runner.value("GATE_REPORTS").replace(",", " ").split()
    return {name: folder / f"ctxc-gate.{ENDINGS.get(name, 'txt')}" for name in (*ALWAYS, *more)}


def _refusal(runner: Runner) -> str:
    """Why nothing may be judged here at all; empty where it may."""
    if runner.value("GITHUB_EVENT_NAME") == "pull_request_target":
        return (
            "pull_request_target checks out the base, with a token that may write: the gate would compare the base\n"
            "with itself. Use the event pull_request.\n"
        )
    return ""


def _judge(runner: Runner, files: dict[str, Path]) -> tuple[int, str]:
    """Status of the gate, and what it wrote on stderr."""
    given = {"--against": "GATE_BASE", "--policy-source": "GATE_POLICY_SOURCE", "--fail-on": "GATE_FAIL_ON",
             "--only": "GATE_ONLY"}  # fmt: skip
    command = [sys.executable, "-I", "-m", "ctxc", "-C", runner.value("GATE_PROJECT", "."), "--no-cache", "gate"]
    command += [f"{option}={runner.value(name)}" for option, name in given.items() if runner.value(name)]
    command += [line.strip() for line in runner.value("GATE_ARGS").splitlines() if line.strip()]
    for name, path in files.items():
        command += ["--output", f"{name}:{path}"]
    # No variable of the action reaches ctxc; caches are not read, whoever wrote them.
    environment = {k: v for k, v in os.environ.items() if not k.startswith("GATE_")}
    done = subprocess.run(command, env=environment, stderr=subprocess.PIPE, check=False)
    said = done.stderr.decode("utf-8", "replace")
    sys.stderr.write(said)
    sys.stderr.flush()
    return (done.returncode if done.returncode in (0, 1, 2) else FAULT), said


def _report(path: Path) -> dict[str, Any] | None:
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    return found if isinstance(found, dict) else None


def _figures(report: dict[str, Any] | None) -> dict[str, object]:
    """What later steps may want to decide by; empty texts where nothing was judged or compared."""
    names = ("findings", "errors", "warnings", "token-difference", "prefix-changed")
    if report is None:
        return dict.fromkeys(names, "")
    tally, release = report["summary"], report["release"]
    delta = release["tokens_delta"]
    return {
        "findings": tally["errors"] + tally["warnings"] + tally["notes"],
        "errors": tally["errors"],
        "warnings": tally["warnings"],
        "token-difference": "" if delta is None else delta,
        "prefix-changed": "" if delta is None else str(release["prefixes_moved"] > 0).lower(),
    }
