"""What a model will see differently: the result of ``ctxc diff`` (``ctxc.diff/1``).

Everything is matched by identity (sections by id, tools by name, fragments by fragment id) and described by facets.
Nothing here knows how two packages are compared or how a difference is printed. Tokens are counted as the packages
counted them; bytes are UTF-8; lines count from 1.
"""

from __future__ import annotations

from dataclasses import dataclass

from ctxc.model.revision import Revision

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
class Run:
    """A run of text: ``=`` stands on both sides, ``-`` only at base, ``+`` only at head."""

    op: str
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Hunk:
    """One edit, at its source lines, word by word.

    ``kind``: edit, added, removed, moved (the text stands elsewhere now), value (``pointer`` names it). Lines are those
    of the files that the texts came from (``base_path`` is empty where it is ``path``); None where the text has none.
    ``count`` and ``also`` (further lines at head): the same edit was found so many times and is told once.
    """

    kind: str
    path: str
    base_line: int | None = None
    head_line: int | None = None
    runs: tuple[Run, ...] = ()
    before: tuple[str, ...] = ()
    after: tuple[str, ...] = ()
    base_path: str = ""
    pointer: str = ""
    whitespace: bool = False
    count: int = 1
    also: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class FieldChange:
    """A fact of a section, a fixture or a tool that differs; texts as they are printed."""

    name: str
    facet: str
    base: str
    head: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Tokens:
    """Tokens on both sides; None where a side has no count. ``exact`` is false where a count has an error band,
    ``comparable`` where the sides were counted by different tokenizers: then there is no difference to speak of."""

    base: int | None
    head: int | None
    exact: bool = True
    comparable: bool = True

    @property
    def delta(self) -> int | None:
        """Head less base, None where one is missing or the other says nothing about it."""
        return None if self.base is None or self.head is None or not self.comparable else self.head - self.base


@dataclass(frozen=True, slots=True, kw_only=True)
class SectionChange:
    """A section that differs. ``masked``: its texts are sensitive and are never shown.

    ``identity`` is what it was matched by; ``base_id`` its id at base where that differs. ``base_tokens`` of an added
    section and ``head_tokens`` of a removed one are 0. ``comparable`` is false where another tokenizer counted each
    side. ``whitespace``: nothing but white space differs in its text.
    """

    section_id: str
    status: str
    facets: tuple[str, ...]
    kind: str
    zone: str
    base_tokens: int
    head_tokens: int
    identity: str = ""
    base_id: str = ""
    base_position: int | None = None
    head_position: int | None = None
    source: str = ""
    path: str = ""
    line: int | None = None
    whitespace: bool = False
    masked: bool = False
    comparable: bool = True
    fields: tuple[FieldChange, ...] = ()
    hunks: tuple[Hunk, ...] = ()

    @property
    def delta(self) -> int:
        """Tokens more (or less) than at base; 0 where that cannot be said."""
        return self.head_tokens - self.base_tokens if self.comparable else 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Drop:
    """A candidate that falls out at head, came back, or is left out for another reason.

    ``status``: dropped (it was rendered, or is new and left out), restored, gone (left out at base, no candidate any
    more), other_reason.
    """

    section_id: str
    kind: str
    status: str
    tokens: int
    base_reason: str = ""
    head_reason: str = ""
    detail: str = ""
    new: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class FirstDifference:
    """Where two requests part, in the provider's physical order.

    ``byte`` counts in the request's bytes, ``percent`` is its share of the base's length, ``token`` the tokens in front
    of it. None where a side holds no texts. ``reason`` is the provider's own name for the loss (``system_changed``).
    ``base_text`` and ``head_text`` are what stands there, shortened.
    """

    section_id: str
    reason: str
    byte: int | None = None
    token: int | None = None
    percent: float | None = None
    path: str = ""
    line: int | None = None
    base_text: str = ""
    head_text: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Prefix:
    """The cached prefix. ``stable``: byte-identical on both sides (equal hashes).

    ``lost_tokens``: tokens of the base's prefix behind the first difference; their cache is lost. ``marks``: the cache
    marks stand elsewhere though the bytes are the same.
    """

    stable: bool
    base_hash: str = ""
    head_hash: str = ""
    base_tokens: int = 0
    head_tokens: int = 0
    lost_tokens: int = 0
    marks: bool = False
    reasons: tuple[str, ...] = ()
    first_difference: FirstDifference | None = None


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
    """One fixture. ``proof`` says how an unchanged one is known to be: tree, record or compiled."""

    fixture_id: str
    status: str
    template: str = ""
    path: str = ""
    facets: tuple[str, ...] = ()
    proof: str = "compiled"
    base_outcome: str = ""
    head_outcome: str = ""
    tokens: Tokens = Tokens(base=None, head=None)
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
