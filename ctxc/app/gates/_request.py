"""What a gate is asked."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from ctxc.app.diff_sides import DiffRequest
from ctxc.base.values import dataclass

if TYPE_CHECKING:
    from ctxc.detect.injection import Payload


@dataclass(frozen=True, slots=True, kw_only=True)
class GateRequest:
    """What a gate is asked. Empty texts mean: not said.

    ``against`` is a revision, ``snapshot:FILE``, or nothing for the default base. ``only`` are names of gates.
    ``everything``: the injection trials of all fixtures, not only of those whose request is not the base's.
    ``policy_source`` is ``base`` or ``head``; where nothing is said it is ``base`` in CI. ``fail_on`` is the severity
    from which a gate fails; where nothing is said it is that of the settings. ``policies`` are the ids of those that
    judge, of all where nothing is said.
    """

    against: str = ""
    head: str = ""
    staged: bool = False
    only: tuple[str, ...] = ()
    everything: bool = False
    payloads: tuple[Payload, ...] = ()
    policy_source: str = ""
    fail_on: str = ""
    allow_same: bool = False
    trust_repository: bool = False
    policies: tuple[str, ...] = ()

    def as_diff(self) -> DiffRequest:
        """The same as a request for a diff."""
        return DiffRequest(
            base=self.against,
            head=self.head,
            staged=self.staged,
            allow_same=self.allow_same,
            trust_repository=self.trust_repository,
        )


def in_ci(environment: Mapping[str, str]) -> bool:
    """Whether ``CI`` is set to anything that does not mean no."""
    return environment.get("CI", "").lower() not in ("", "0", "false")
