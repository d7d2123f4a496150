"""Whether what is printed lands in the log of a CI system that reads it for commands."""

from __future__ import annotations

from collections.abc import Mapping


def is_read_log(environment: Mapping[str, str]) -> bool:
    """Whether a line that is printed may be a command: in GitHub Actions, Azure Pipelines and TeamCity."""
    if environment.get("GITHUB_ACTIONS") == "true":
        return True
    return bool(environment.get("TF_BUILD") or environment.get("TEAMCITY_VERSION"))
