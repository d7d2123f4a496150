"""One step of the action, by name: ``run.py install | gate | sarif | comment``. Standard library only.

It is started with ``python -I``, so that nothing of the checkout that is judged can be imported; therefore the folder
of the action, which the workflow chose, is named here.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

from ctxc_action import comment, gate, install, sarif
from ctxc_action.runner import Runner

STEPS = {"install": install.run, "gate": gate.run, "sarif": sarif.run, "comment": comment.run}


def main(arguments: list[str]) -> int:
    """The step's exit status; only ``install`` ends a job, everything else leaves that to the last step."""
    if len(arguments) != 1 or arguments[0] not in STEPS:
        print(f"usage: run.py {'|'.join(STEPS)}", file=sys.stderr)
        return 2
    return STEPS[arguments[0]](Runner(os.environ))


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
