"""A small project built from model values, for tests of the compiler that need no files and no parser."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ctxc import tokens
from ctxc.base.canonical import digest_text
from ctxc.base.errors import UnreadableSource
from ctxc.base.spans import Location, Origin
from ctxc.compiler.pipeline import Compiler, Options
from ctxc.model.contract import Contract, RequestProfile, ToolSet
from ctxc.model.fixture import Expect, Fixture, Inputs, Principal, Record
from ctxc.model.fragment import Fragment, LoadMode
from ctxc.model.package import Package
from ctxc.model.project import Project, Settings
from ctxc.model.provider import ModelRow, ProviderProfile, TokenizerRef
from ctxc.model.section import Kind, Message, ToolCall
from ctxc.model.template import Budget, SectionSpec, Template
from ctxc.providers import shape


class MemorySources:
    """Texts by path."""

    def __init__(self, files: Mapping[str, str]) -> None:
        self.files = dict(files)

    def read_text(self, path: str) -> str:
        if path not in self.files:
            raise UnreadableSource(f"{path!r} does not exist", help="create it")
        return self.files[path]

    def body(self, path: str) -> str:
        return self.read_text(path)

    def digest(self, path: str) -> str:
        return digest_text(self.read_text(path))

    def locate(self, origin: Origin, *, key: bool = False) -> Location:
        return Location(origin.path, None, origin.pointer)


TOKENIZER = TokenizerRef(id="o200k_base", method="exact")


def provider(
    name: str = "test",
    shape_id: str = "openai_chat",
    *,
    window: int = 128_000,
    capabilities: Sequence[str] = ("tools", "json_schema"),
    tokenizer: TokenizerRef = TOKENIZER,
    framing: Mapping[str, Any] | None = None,
) -> ProviderProfile:
    """A provider profile with one model, ``m``."""
    row = ModelRow(
        pattern="*",
        window=window,
        tokenizer=tokenizer,
        framing=framing if framing is not None else {"per_message": 3, "per_name": 1, "priming": 3},
        capabilities=frozenset(capabilities),
    )
    return ProviderProfile(
        id=name,
        version="1",
        shape=shape_id,
        platform="test",
        as_of="2026-11-30",
        sources=(),
        models=(row,),
        default_model="m",
    )


def project(
    *,
    sections: Sequence[SectionSpec] = (),
    budget: Budget | None = None,
    files: Mapping[str, str] | None = None,
    fragments: Sequence[Fragment] = (),
    contract: Contract | None = None,
    toolset: ToolSet | None = None,
    profile: RequestProfile | None = None,
    providers: Sequence[ProviderProfile] = (),
    **template: Any,
) -> Project:
    """A project with one template ``t``."""
    known = {p.id: p for p in (providers or (provider(),))}
    made = Template(
        id="t",
        version="1",
        sections=tuple(sections),
        provider=next(iter(known)),
        model="m",
        budget=budget or Budget(),
        output_contract=contract.id if contract else "",
        request_profile=profile.id if profile else "",
        origin=Origin("templates/t.yaml"),
        paths=("templates/t.yaml",),
        **template,
    )
    return Project(
        settings=Settings(),
        sources=MemorySources(files or {}),
        templates={"t": (made,)},
        fragments={f.id: (f,) for f in fragments},
        contracts={contract.id: (contract,)} if contract else {},
        toolsets={toolset.id: (toolset,)} if toolset else {},
        profiles={profile.id: (profile,)} if profile else {},
        providers=known,
    )


def fixture(
    *,
    history: Sequence[Message] = (),
    evidence: Sequence[Record] = (),
    memory: Sequence[Record] = (),
    tool_results: Sequence[Record] = (),
    handoff: Sequence[Record] = (),
    fragments: Sequence[str] = (),
    summary: str = "",
    route: Mapping[str, Sequence[str]] | None = None,
    principal: Principal | None = None,
    expect: Expect | None = None,
    now: str = "2026-11-30T12:00:00Z",
    name: str = "f",
    **values: Any,
) -> Fixture:
    """A fixture of template ``t``; further keywords are ``inputs`` values."""
    return Fixture(
        id=name,
        template="t",
        now=now,
        route={k: tuple(v) for k, v in (route or {}).items()},
        principal=principal,
        inputs=Inputs(
            values=values,
            history=tuple(history),
            evidence=tuple(evidence),
            memory=tuple(memory),
            tool_results=tuple(tool_results),
            handoff=tuple(handoff),
            fragments=tuple(fragments),
            summary=summary,
        ),
        expect=expect or Expect(),
        origin=Origin(f"tests/fixtures/{name}.yaml"),
    )


def compiler(made: Project, options: Options | None = None) -> Compiler:
    """A compiler with the real tokenizers and shapes."""
    return Compiler(made, tokenizers=lambda ref: tokens.get(ref.id), shapes=shape, options=options)


def compiled(made: Project, asked: Fixture) -> Package:
    """The package of one fixture."""
    return compiler(made).compile(asked)


def spec(name: str, kind: Kind | None = None, source: str = "runtime", **more: Any) -> SectionSpec:
    """A template section; the kind is the id where the id is a kind."""
    return SectionSpec(id=name, kind=kind or Kind(name), source=source, **more)


def evidence(name: str, text: str, relevance: float = 0.5, **more: Any) -> Record:
    """A piece of evidence with a relevance."""
    return Record(id=name, text=text, scores={"relevance": relevance, **more.pop("scores", {})}, **more)


def user(text: str) -> Message:
    """A user message."""
    return Message(role="user", content=text)


def assistant(text: str) -> Message:
    """An assistant message."""
    return Message(role="assistant", content=text)


def call(name: str, identity: str, arguments: str, result: str) -> tuple[Message, Message]:
    """A tool call and its result."""
    return (
        Message(role="assistant", content="", tool_calls=(ToolCall(id=identity, name=name, arguments=arguments),)),
        Message(role="tool", content=result, tool_call_id=identity),
    )


def fragment(name: str, path: str, kind: str = "core", mode: LoadMode = LoadMode.ALWAYS, **more: Any) -> Fragment:
    """A fragment."""
    return Fragment(
        id=name,
        version="v1",
        kind=kind,
        load_mode=mode,
        text_path=path,
        origin=Origin("fragments/manifest.json", f"/{name}"),
        **more,
    )
