"""The trail of one compile: what the stages dropped, decided and found out, in order."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from ctxc.compiler.stage import Request, Stage
from ctxc.model.package import Conflict, Decision, Dropped, State
from ctxc.model.section import Section


class Trail:
    """What the stages have said so far."""

    def __init__(self, request: Request) -> None:
        self.request = request
        self.dropped: list[Dropped] = []
        self.decisions: list[Decision] = []
        self.states: dict[str, State] = {}
        self.conflicts: list[Conflict] = []
        self.dependencies: set[str] = {
            request.fixture.origin.path,
            *request.fixture.inputs.files,
            *request.template.paths,
            *(x.origin.path for x in (request.profile, request.contract, request.toolset) if x is not None),
        }
        # A profile of the project, and the vocabulary that counts.
        self.dependencies |= {p for p in (request.provider.origin.path, request.row.tokenizer.file) if p}

    def take(self, stage: Stage) -> tuple[Section, ...]:
        """Add what a stage decided; its sections."""
        self.dropped.extend(stage.dropped)
        self.decisions.extend(stage.decisions)
        self.conflicts.extend(stage.conflicts)
        self.dependencies |= stage.dependencies
        for state in stage.states:
            before = self.states.get(state.candidate_id)
            self.states[state.candidate_id] = state if before is None else later(before, state)
        return stage.sections

    def unloaded(self, dropped: Sequence[Dropped]) -> None:
        """Candidates that were selected and did not fit."""
        for gone in dropped:
            state = self.states.get(gone.section_id)
            if state is not None:
                self.states[gone.section_id] = replace(state, loaded=f"no:{gone.reason}")

    def paths(self) -> tuple[str, ...]:
        """Everything that was read, sorted."""
        return tuple(sorted(p for p in self.dependencies if p))


def later(before: State, after: State) -> State:
    """Two statements on one candidate: a ``no`` stays."""
    return State(
        candidate_id=before.candidate_id,
        **{
            name: after_value if before_value == "yes" else before_value
            for name in ("discoverable", "selected", "loaded", "authorised")
            for before_value, after_value in ((getattr(before, name), getattr(after, name)),)
        },
    )
