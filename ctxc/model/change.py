"""What a model will see differently: the result of ``ctxc diff`` (``ctxc.diff/1``).

Everything is matched by identity (sections by id, tools by name, fragments by fragment id) and described by facets.
Nothing here knows how two packages are compared or how a difference is printed. Tokens are counted as the packages
counted them; bytes are UTF-8; lines count from 1.
"""

from __future__ import annotations

from ctxc.base.values import dataclass
from ctxc.model.revision import Revision
from ctxc.model.section_change import (
    NO_TOKENS,
    Drop,
    FieldChange,
    FirstDifference,
    Hunk,
    Prefix,
    Run,
    SectionChange,
    Tokens,
)

__all__ = [
    "SCHEMA",
    "Block",
    "BudgetChange",
    "Change",
    "ContractChange",
    "Drop",
    "Edit",
    "FieldChange",
    "FirstDifference",
    "FixtureChange",
    "Hunk",
    "Percentiles",
    "Prefix",
    "Revision",
    "Run",
    "SchemaChange",
    "SectionChange",
    "SourceChange",
    "Tokens",
    "ToolChange",
    "ToolsChange",
    "Totals",
    "VersionChange",
]

SCHEMA = "ctxc.diff/1"


@dataclass(frozen=True, slots=True, kw_only=True)
class SchemaChange:
    """One change of a JSON Schema, at a pointer in it. ``breaking`` is judged for the role of the schema."""

    pointer: str
    kind: str
    breaking: bool
    reason: str
    base: str = ""
    head: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolChange:
    """A tool that differs, by name.

    ``status``: added, removed, changed, moved, reserialized (equal as a value, other bytes), unseen (only fields that
    no provider is sent differ: ``unseen`` names them). ``moved`` and ``reserialized`` also hold beside ``changed``.
    """

    name: str
    status: str
    breaking: bool = False
    renamed_from: str = ""
    base_position: int | None = None
    head_position: int | None = None
    moved: bool = False
    reserialized: bool = False
    changes: tuple[SchemaChange, ...] = ()
    hunks: tuple[Hunk, ...] = ()
    unseen: tuple[FieldChange, ...] = ()
    path: str = ""
    line: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolsChange:
    """The tools of a request: what differs as values, order and serialization apart."""

    base_count: int
    head_count: int
    added: int = 0
    removed: int = 0
    changed: int = 0
    moved: int = 0
    reserialized: int = 0
    unseen: int = 0
    breaking: bool = False
    tools: tuple[ToolChange, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class ContractChange:
    """The output contract of a request; empty ids where a side has none."""

    base: str
    head: str
    breaking: bool = False
    reserialized: bool = False
    changes: tuple[SchemaChange, ...] = ()
    hunks: tuple[Hunk, ...] = ()
    path: str = ""
    line: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class BudgetChange:
    """The budget on both sides, in tokens. ``crossed``: over or back under a ceiling, in words; empty where not."""

    base_available: int | None = None
    head_available: int | None = None
    base_headroom: int | None = None
    head_headroom: int | None = None
    crossed: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Block:
    """A section in the layout of one side, in rendered order: what a picture of the request needs."""

    section_id: str
    identity: str
    kind: str
    zone: str
    tokens: int
    stable: bool
    status: str
    truncated: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class FixtureChange:
    """One fixture. ``proof`` says how an unchanged one is known to be: tree, record or compiled.

    ``problems`` are what keeps head from being compiled, ``base_problems`` what keeps base. Where one of them is not
    empty, nothing is said of sections, drops, prefix, tools and contract: there is nothing to compare with.
    """

    fixture_id: str
    status: str
    template: str = ""
    path: str = ""
    facets: tuple[str, ...] = ()
    proof: str = "compiled"
    base_outcome: str = ""
    head_outcome: str = ""
    tokens: Tokens = NO_TOKENS
    prefix: Prefix | None = None
    budget: BudgetChange = BudgetChange()
    sections: tuple[SectionChange, ...] = ()
    drops: tuple[Drop, ...] = ()
    tools: ToolsChange | None = None
    contract: ContractChange | None = None
    fields: tuple[FieldChange, ...] = ()
    base_layout: tuple[Block, ...] = ()
    head_layout: tuple[Block, ...] = ()
    problems: tuple[str, ...] = ()
    base_problems: tuple[str, ...] = ()
    weight: int = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceChange:
    """A file that differs, and its blast radius: what it defines or holds, and what that reaches.

    ``status``: added, removed, modified, renamed. ``objects`` are ``kind id`` of what the file defines or is the text
    of; ``affects`` the fixtures that are compiled from it on either side, ``differs`` those of them that differ.
    """

    path: str
    status: str
    old_path: str = ""
    line_endings: bool = False
    objects: tuple[str, ...] = ()
    templates: tuple[str, ...] = ()
    affects: tuple[str, ...] = ()
    differs: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class VersionChange:
    """A versioned object that is new, gone, changed, or has another version.

    ``content_changed`` is judged on what is compiled, not on file bytes. ``bump``: how far the version went up (also
    ``down``, ``other`` for two styles). ``needed``: the least bump that the change needs; ``missing`` where the bump
    falls short of it.
    """

    id: str
    kind: str
    status: str
    base: str = ""
    head: str = ""
    content_changed: bool = False
    bump: str = "none"
    needed: str = "none"
    missing: bool = False
    breaking: bool = False
    reason: str = ""
    path: str = ""
    line: int | None = None
    base_path: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Edit:
    """The same change of a section in several fixtures, told once. ``effect`` orders edits, largest first.

    ``section`` is that of the first fixture; others may count other tokens (``least`` to ``most``, for other models).
    """

    section: SectionChange
    fixtures: tuple[str, ...]
    effect: int
    least: int = 0
    most: int = 0
    lost_tokens: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Percentiles:
    """Nearest-rank percentiles over the fixtures that changed and have a count on that side, in tokens."""

    p50: int
    p95: int
    max: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Totals:
    """The change in numbers. Percentiles are over fixtures that changed; the largest is named.

    ``unseen``: changed fixtures in which nothing but metadata differs, so that a model sees the same. ``sections`` and
    ``whitespace_sections`` count different changes, each once however many fixtures have it.
    """

    files: int = 0
    fixtures: int = 0
    unchanged: int = 0
    changed: int = 0
    added: int = 0
    removed: int = 0
    compiled: int = 0
    unseen: int = 0
    sections: int = 0
    whitespace_sections: int = 0
    base_tokens: Percentiles | None = None
    head_tokens: Percentiles | None = None
    delta_tokens: Percentiles | None = None
    largest: str = ""
    least_headroom: int | None = None
    least_headroom_fixture: str = ""
    crossed: tuple[str, ...] = ()
    prefixes_moved: int = 0
    lost_tokens: int = 0
    dropped: int = 0
    restored: int = 0
    breaking: int = 0
    missing_bumps: int = 0
    invalid: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """What a model will see differently between two revisions.

    ``fixtures`` are sorted by id, ``edits`` by effect. ``settings`` are settings of the project that differ. ``whole``:
    everything was compiled, rather than what the changed files can reach.
    """

    version: str
    base: Revision
    head: Revision
    sources: tuple[SourceChange, ...] = ()
    fixtures: tuple[FixtureChange, ...] = ()
    versions: tuple[VersionChange, ...] = ()
    edits: tuple[Edit, ...] = ()
    settings: tuple[FieldChange, ...] = ()
    totals: Totals = Totals()
    whole: bool = False

    @property
    def is_empty(self) -> bool:
        """Whether no fixture differs. Files may differ all the same: no model sees that."""
        return all(f.status == "unchanged" for f in self.fixtures)
