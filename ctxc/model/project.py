"""A project: everything that was loaded from one tree, indexed by id."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from typing import TYPE_CHECKING, Any, Protocol

from ctxc.base.values import dataclass

if TYPE_CHECKING:
    # For annotations only: a command that needs nothing but the settings must not build forty dataclasses first.
    from ctxc.base.spans import Location, Origin
    from ctxc.model.contract import Contract, Policy, RequestProfile, ToolSet
    from ctxc.model.finding import Finding
    from ctxc.model.fixture import Conversation, Fixture
    from ctxc.model.fragment import Fragment, LostFragment
    from ctxc.model.provider import ProviderProfile
    from ctxc.model.template import Template


class Sources(Protocol):
    """The files behind a project: their bytes and, on demand, the exact place of a loaded value."""

    def read_text(self, path: str) -> str:
        """Text of a file; raises UnreadableSource."""

    def body(self, path: str) -> str:
        """Text of a Markdown file without its front matter, line ends as LF; raises UnreadableSource."""

    def digest(self, path: str) -> str:
        """Content hash (``sha256:...``) of a file as read; raises UnreadableSource."""

    def read_large(self, path: str) -> bytes:
        """Bytes of a file that may be larger than any text, such as a vocabulary; raises UnreadableSource."""

    def locate(self, origin: Origin, *, key: bool = False) -> Location:
        """The span of the value at a JSON pointer (of its key with ``key``); the file where it is not found."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """``[tool.ctxc]`` or ``ctxc.yaml`` as it applies to a project."""

    templates: tuple[str, ...] = ("templates",)
    fragments: tuple[str, ...] = ("fragments",)
    policies: tuple[str, ...] = ("policies",)
    fixtures: tuple[str, ...] = ("tests/fixtures",)
    provider: str = ""
    model: str = ""
    per_file_ignores: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    extra: Mapping[str, Any] = field(default_factory=dict)  # settings that only one command reads
    origins: Mapping[str, Origin] = field(default_factory=dict)  # of `provider` and `model` where a file names them


@dataclass(frozen=True, slots=True, kw_only=True)
class Project:
    """What was loaded. Each index maps an id to its versions in file order; ``id@version`` picks one.

    ``findings`` are what loading itself found (family 0 and 1); a project with errors still holds whatever could
    be read, and each fixture that depends on a broken file ends as ``invalid``.
    """

    settings: Settings
    sources: Sources
    templates: Mapping[str, tuple[Template, ...]] = field(default_factory=dict)
    fragments: Mapping[str, tuple[Fragment, ...]] = field(default_factory=dict)
    contracts: Mapping[str, tuple[Contract, ...]] = field(default_factory=dict)
    toolsets: Mapping[str, tuple[ToolSet, ...]] = field(default_factory=dict)
    profiles: Mapping[str, tuple[RequestProfile, ...]] = field(default_factory=dict)
    policies: Mapping[str, tuple[Policy, ...]] = field(default_factory=dict)
    providers: Mapping[str, ProviderProfile] = field(default_factory=dict)
    fixtures: Mapping[str, Fixture] = field(default_factory=dict)
    conversations: Mapping[str, Conversation] = field(default_factory=dict)
    findings: tuple[Finding, ...] = ()
    broken: Mapping[str, str] = field(default_factory=dict)  # path of a file that could not be loaded -> id if known
    # path of a definition that could not be loaded -> the other file that it is read with: its list of tools, or the
    # template at which the circle is told that it is in
    broken_with: Mapping[str, str] = field(default_factory=dict)
    broken_kinds: Mapping[str, str] = field(default_factory=dict)  # the same paths -> template, fragment ... if known
    lost: Mapping[str, frozenset[str]] = field(default_factory=dict)  # kind -> ids that broken files define; "": any id
    lost_fragments: tuple[LostFragment, ...] = ()
