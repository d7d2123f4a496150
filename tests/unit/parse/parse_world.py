"""A project from a dictionary of files, and its findings in short."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from ctxc.model.project import Project

TEXT_PROVIDER = """provider_id: text
version: 1.0.0
shape: text
platform: none
as_of: "2026-11-30"
default_model: any
models:
  - {pattern: "*", window: 128000, tokenizer: {id: o200k_base, method: exact}}
"""

Load = Callable[..., Project]


class BlobStore:
    """A store of blobs in memory that counts what it is asked for."""

    def __init__(self) -> None:
        self.blobs: dict[str, dict[str, bytes]] = {}
        self.asked = self.found = 0

    def get_blobs(self, namespace: str, keys: object) -> dict[str, bytes]:
        """The blobs that are there."""
        space = self.blobs.get(namespace, {})
        wanted = list(keys)  # type: ignore[call-overload]
        self.asked += len(wanted)
        here = {k: space[k] for k in wanted if k in space}
        self.found += len(here)
        return here

    def put_blobs(self, namespace: str, blobs: Mapping[str, bytes]) -> None:
        """Keep blobs."""
        self.blobs.setdefault(namespace, {}).update(blobs)


def short(project: Project) -> list[str]:
    """Findings as ``path:line:col name``, in order."""
    return [f"{f.location} {f.name}" for f in project.findings]
