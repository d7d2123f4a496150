"""Hand the SARIF file to code scanning, by the REST interface: nobody else's action has to be trusted for it.

Whatever goes wrong here is told and changes nothing of the verdict.
"""

from __future__ import annotations

import base64
import gzip
import json
from pathlib import Path

from ctxc_action.api import MAY_NOT, Api, told
from ctxc_action.runner import Runner


def run(runner: Runner) -> int:
    """Status 0, always."""
    name = runner.value("GATE_SARIF")
    if not name or not Path(name).is_file():
        print("No SARIF file: the gate ended without a report.")
        return 0
    if not runner.may_write("code scanning"):
        return 0
    api = Api(runner.value("GITHUB_API_URL", "https://api.github.com"), runner.value("GATE_TOKEN"))
    value = {
        "commit_sha": runner.value("GITHUB_SHA"),
        "ref": runner.value("GITHUB_REF"),
        "sarif": _packed(Path(name), f"ctxc-gate/{runner.key}/"),
    }
    status, _ = api.call("POST", f"/repos/{runner.repository}/code-scanning/sarifs", value)
    if status == 202:
        print("The findings were handed to code scanning.")
    elif status in MAY_NOT:
        needs = "the job needs `security-events: write`, and the repository code scanning"
        runner.tell(f"no code scanning ({told(status)}): {needs}")
    else:
        runner.tell(f"no code scanning: {told(status)}", "warning")
    return 0


def _packed(path: Path, category: str) -> str:
    """As the interface wants it: gzip, then base64. The category keeps two uses of the action apart."""
    log = json.loads(path.read_text(encoding="utf-8"))
    for run_of_log in log["runs"]:
        run_of_log.setdefault("automationDetails", {"id": category})
    data = json.dumps(log, ensure_ascii=False, separators=(",", ":")).encode("utf-8")
    return base64.b64encode(gzip.compress(data, mtime=0)).decode("ascii")
