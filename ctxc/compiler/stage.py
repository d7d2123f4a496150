"""What every stage shares: the resolved request, and the result of a stage."""

from __future__ import annotations

from dataclasses import field

from ctxc.base.values import dataclass
from ctxc.compiler.memo import Lane, Memo
from ctxc.model.contract import Contract, RequestProfile, ToolSet
from ctxc.model.counting import Tokenizer
from ctxc.model.finding import Finding
from ctxc.model.fixture import Fixture
from ctxc.model.package import Conflict, Decision, Dropped, State
from ctxc.model.project import Project
from ctxc.model.provider import ModelRow, ProviderProfile
from ctxc.model.section import Section
from ctxc.model.template import Bucket, Template
from ctxc.providers.port import Shape


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """What a caller may change for one compile; empty means: as the project says."""

    provider: str = ""
    model: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """The budget in tokens. ``available`` is the most that the whole counted request may take."""

    window: int
    output_reserve: int
    safety_margin: int
    ceiling: int | None
    max_input: int | None
    available: int
    buckets: tuple[Bucket, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """A fixture with everything that it refers to, resolved."""

    project: Project
    fixture: Fixture
    template: Template
    profile: RequestProfile | None
    contract: Contract | None
    toolset: ToolSet | None
    provider: ProviderProfile
    row: ModelRow
    model: str
    limits: Limits
    now: str
    lane: Lane
    memo: Memo

    @property
    def tokenizer(self) -> Tokenizer:
        """Who counts."""
        return self.lane.tokenizer

    @property
    def reference(self) -> Tokenizer:
        """Who counts what authors limit without a model in mind."""
        return self.lane.reference

    @property
    def shape(self) -> Shape:
        """Who renders."""
        return self.lane.shape

    @property
    def contract_in_field(self) -> bool:
        """Whether the contract's schema goes into the provider's structured-output field."""
        return "json_schema" in self.row.capabilities and "json_schema" in self.shape.capabilities


@dataclass(frozen=True, slots=True, kw_only=True)
class Stage:
    """What a stage hands on: the sections that live, and what it decided on the way."""

    sections: tuple[Section, ...]
    dropped: tuple[Dropped, ...] = ()
    decisions: tuple[Decision, ...] = ()
    states: tuple[State, ...] = ()
    conflicts: tuple[Conflict, ...] = ()
    findings: tuple[Finding, ...] = ()
    dependencies: frozenset[str] = field(default_factory=frozenset)


class Refused(Exception):
    """A compile that cannot go on because its sources are wrong; carries the findings. Caught by the pipeline."""

    def __init__(self, *findings: Finding) -> None:
        super().__init__(findings[0].message if findings else "refused")
        self.findings = findings


def drop(
    section: Section, stage: str, reason: str, detail: str = "", tokens: int | None = None
) -> tuple[Dropped, Decision]:
    """A dropped section and the decision that says so; ``tokens`` where it was counted."""
    return (
        Dropped(
            section_id=section.section_id,
            kind=section.kind.value,
            stage=stage,
            reason=reason,
            tokens=tokens,
            detail=detail,
            section=section,
        ),
        Decision(
            section_id=section.section_id,
            stage=stage,
            verdict="dropped",
            reason=f"{reason}: {detail}" if detail else reason,
            before=tokens,
            after=0 if tokens is not None else None,
        ),
    )
