"""Which tokenizer counts: a model's own, or one of its alternatives where the project's configuration asks for it.

What is installed never decides: with the same configuration and the same files a machine either counts the same as
any other, or says what it lacks and stops.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Protocol

from ctxc.base.errors import ConfigError, MissingTokenizer, UnreadableSource
from ctxc.base.values import dataclass

if TYPE_CHECKING:
    from ctxc.model.counting import Tokenizer
    from ctxc.model.project import Project
    from ctxc.model.provider import ModelRow, ProviderProfile, TokenizerRef
    from ctxc.tokens import CountStore

Wanted = Mapping[str, bool | str]
"""The setting ``tokenizers``: a name to whether it is wanted, or to the path of its vocabulary file."""


class Files(Protocol):
    """Where vocabulary files are read from."""

    def read_large(self, path: str) -> bytes:
        """Bytes of a file of the project; raises UnreadableSource."""


# --- what a project asks for ----------------------------------------------------------------------------------------


def with_choice(project: Project) -> Project:
    """The project with the tokenizers that its configuration asks for in the place of those of the models' rows.

    Raises ConfigError for a name that no row has as an alternative, for a vocabulary that comes with a package and is
    given a file, and for one that needs a file and is given none.
    """
    wanted: Wanted = project.settings.extra.get("tokenizers", {})
    if not wanted:
        return project
    for name, value in wanted.items():
        _check(name, value, project.providers)
    return replace(project, providers={k: _profile(p, wanted) for k, p in project.providers.items()})


def files_of(wanted: Wanted) -> tuple[str, ...]:
    """Paths of the vocabulary files that a configuration names, sorted."""
    return tuple(sorted({v.removeprefix("./") for v in wanted.values() if isinstance(v, str)}))


def _profile(profile: ProviderProfile, wanted: Wanted) -> ProviderProfile:
    rows = tuple(_row(row, wanted) for row in profile.models)
    return profile if rows == profile.models else replace(profile, models=rows)


def _row(row: ModelRow, wanted: Wanted) -> ModelRow:
    for ref in row.alternatives:
        value = wanted.get(ref.id, wanted.get(_family(ref.id), False))
        if value is False:
            continue
        taken = replace(ref, file=value.removeprefix("./")) if isinstance(value, str) else ref
        others = tuple(a for a in row.alternatives if a is not ref)
        return replace(row, tokenizer=taken, alternatives=(row.tokenizer, *others), framing=_framing(row))
    return row


def _framing(row: ModelRow) -> Mapping[str, Any]:
    """The framing of a row without the estimate that goes with its own tokenizer, which is kept for that one."""
    if "estimate" not in row.framing:
        return row.framing
    framing = dict(row.framing)
    special = dict(framing.get("by_tokenizer", {}))
    special[row.tokenizer.id] = {**special.get(row.tokenizer.id, {}), "estimate": framing.pop("estimate")}
    return {**framing, "by_tokenizer": special}


def _family(name: str) -> str:
    """``ctok`` of ``ctok_4_8``: the name without the numbers behind it, which tell generations apart."""
    words = name.split("_")
    while len(words) > 1 and words[-1].isdigit():
        words.pop()
    return "_".join(words)


def _check(name: str, value: bool | str, profiles: Mapping[str, ProviderProfile]) -> None:
    from ctxc import tokens

    known = {a.id for p in profiles.values() for row in p.models for a in row.alternatives}
    meant = sorted(k for k in known if name in (k, _family(k)))
    if not meant:
        from ctxc.app.naming import advice

        names = sorted({_family(k) if _family(k) not in known else k for k in known})
        raise ConfigError(
            f"`tokenizers` names {name!r}, which no provider profile has among the alternatives of a model",
            help=advice(name, names, "another vocabulary is named in a provider profile: `tokenizer: {file: PATH}`"),
        )
    comes_along = meant[0] in tokens.ids()
    if comes_along and isinstance(value, str):
        raise ConfigError(
            f"`tokenizers` gives {name!r} the file {value!r}, but it comes with a package", help=f"write `{name}: true`"
        )
    if not comes_along and value is True:
        raise ConfigError(
            f"`tokenizers` asks for {name!r} without its vocabulary file",
            help=f"put the file into the project and write `{name}: PATH`; docs/counting.md says where such files are",
        )


# --- tokenizers -----------------------------------------------------------------------------------------------------


def tokenizers(files: Files, store: CountStore) -> Callable[[TokenizerRef], Tokenizer]:
    """What makes the tokenizer of a reference, each once. Raises MissingTokenizer for what is not there."""
    made: dict[TokenizerRef, Tokenizer] = {}

    def tokenizer(ref: TokenizerRef) -> Tokenizer:
        if ref not in made:
            made[ref] = _made(ref, files, store)
        return made[ref]

    return tokenizer


def _made(ref: TokenizerRef, files: Files, store: CountStore) -> Tokenizer:
    from ctxc import tokens

    if not ref.file:
        return tokens.get(ref.id, store)
    if ref.id in tokens.ids():
        raise ConfigError(
            f"a provider profile names the file {ref.file!r} for the tokenizer {ref.id!r}, which needs none",
            help="give the vocabulary in the file an id of its own",
        )
    try:
        data = files.read_large(ref.file)
    except UnreadableSource as error:
        raise MissingTokenizer(
            f"the vocabulary file of {ref.id} cannot be read: {error.message}",
            help=error.help or "put the file there, or change `tokenizers` in the project's configuration",
            location=error.location,
        ) from error
    return tokens.of_file(ref.id, ref.file, data, store, size=ref.size)


def reference(row: ModelRow, name: str) -> TokenizerRef:
    """What a row says of a tokenizer that was asked for by name (empty: the row's own).

    A name that ends in ``.json`` is the path of a vocabulary file. One that the row does not know counts, but the
    row's factor and band are not its own: the count is then called heuristic.
    """
    from ctxc.model.provider import TokenizerRef

    if not name:
        return row.tokenizer
    known = next((r for r in (row.tokenizer, *row.alternatives) if name in (r.id, r.file)), None)
    if known is not None:
        return known
    return TokenizerRef(id=name, method="heuristic", file=name.removeprefix("./") if name.endswith(".json") else "")


# --- what there is --------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class Known:
    """A tokenizer that can be had. ``needs`` says what it lacks, ``remedy`` what to do about it; empty where nothing.

    ``counts_for`` names the provider profiles with a model whose counts are its own, ``estimates_for`` those with a
    model that it stands in for with a factor, ``could_count_for`` those with a model that has it as an alternative.
    """

    id: str
    path: str = ""
    method: str = ""
    digest: str = ""
    needs: str = ""
    remedy: str = ""
    counts_for: tuple[str, ...] = ()
    estimates_for: tuple[str, ...] = ()
    could_count_for: tuple[str, ...] = ()

    @property
    def is_used(self) -> bool:
        """Whether a model's row names it as what counts."""
        return bool(self.counts_for or self.estimates_for)


def known_tokenizers(project: Project, store: CountStore) -> tuple[Known, ...]:
    """Every tokenizer that there is or that a provider profile names, sorted by id and path."""
    from ctxc import tokens
    from ctxc.model.provider import TokenizerRef

    refs = {(name, ""): TokenizerRef(id=name, method="exact") for name in tokens.ids()}
    for profile in project.providers.values():
        for row in profile.models:
            for ref in (row.tokenizer, *row.alternatives):
                refs.setdefault((ref.id, ref.file), ref)
    with_file = {name for name, path in refs if path}
    make = tokenizers(project.sources, store)
    found = [r for (name, path), r in sorted(refs.items()) if path or name not in with_file]
    return tuple(_known(ref, make, project.providers) for ref in found)


def _known(
    ref: TokenizerRef, make: Callable[[TokenizerRef], Tokenizer], profiles: Mapping[str, ProviderProfile]
) -> Known:
    counts, estimates, could = [], [], []
    for name, profile in sorted(profiles.items()):
        own = {r.tokenizer.method for r in profile.models if _same(r.tokenizer, ref)}
        if own & {"exact", "reproduced"}:
            counts.append(name)
        if own - {"exact", "reproduced"}:
            estimates.append(name)
        if any(_same(a, ref) for r in profile.models for a in r.alternatives):
            could.append(name)
    known = Known(
        id=ref.id,
        path=ref.file,
        counts_for=tuple(counts),
        estimates_for=tuple(estimates),
        could_count_for=tuple(could),
    )
    needs, remedy = _lack(ref)
    if needs:
        return replace(known, needs=needs, remedy=remedy)
    try:
        made = make(ref)
    except MissingTokenizer as error:
        return replace(known, needs=error.message, remedy=error.help)
    return replace(known, method=made.method, digest=made.digest)


def _lack(ref: TokenizerRef) -> tuple[str, str]:
    """What is known to be missing without trying, in a few words, and what to do about it."""
    from ctxc import tokens
    from ctxc.tokens.extras import CTOK

    if not ref.file and ref.id not in tokens.ids():
        return "a vocabulary file", f"put it into the project and write `tokenizers: {{{ref.id}: PATH}}` in ctxc.yaml"
    if _family(ref.id) == CTOK.module and not CTOK.version:
        return f"the extra {CTOK.name}", CTOK.remedy
    return "", ""


def _same(one: TokenizerRef, other: TokenizerRef) -> bool:
    return (one.id, one.file) == (other.id, other.file)
