"""Provider profiles by id: those of the project, and the shipped ones, which are parsed when somebody asks."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from typing import Any, NamedTuple

from ctxc.base.errors import InternalFault
from ctxc.base.spans import Origin
from ctxc.model.provider import ProviderProfile
from ctxc.parse import cache, document
from ctxc.parse.context import File, Shared
from ctxc.parse.load_provider import read_provider
from ctxc.parse.problems import did_you_mean, shown
from ctxc.parse.sources import BUILTIN


class _Named(NamedTuple):
    """A shipped profile that has not been parsed, as far as references need it."""

    id: str
    version: str = ""
    origin: Origin = Origin("")


_SHIPPED: dict[tuple[str, str], tuple[ProviderProfile | None, ProviderProfile]] = {}
"""By id and text: the base of a shipped profile and the profile. It is the same in every project of a process."""


def own_profiles(providers: Mapping[str, ProviderProfile]) -> tuple[ProviderProfile, ...]:
    """The profiles that a project itself defines, by id; no shipped one is parsed for it."""
    if isinstance(providers, Providers):
        return tuple(providers.own[name] for name in sorted(providers.own))
    return tuple(p for _, p in sorted(providers.items()) if not p.origin.path.startswith(BUILTIN))


class Providers(Mapping[str, ProviderProfile]):
    """Provider profiles by id. A profile of the project takes the place of a shipped one of the same id."""

    def __init__(
        self, texts: Mapping[str, str], shared: Shared, store: cache.Store | None = None, shapes: Collection[str] = ()
    ) -> None:
        self._texts = dict(texts)
        self._shapes = shapes
        self._shared = shared
        self._store = store
        self.own: dict[str, ProviderProfile] = {}
        self._values: dict[str, tuple[dict[str, Any], File]] = {}
        self._parsed: dict[str, ProviderProfile] = {}
        self.broken: list[tuple[str, str]] = []  # id and path

    @staticmethod
    def path(name: str) -> str:
        """The path under which messages name a shipped profile."""
        return f"{BUILTIN}providers/{name}.yaml"

    def add(self, value: dict[str, Any], file: File) -> None:
        """Take in a profile of the project; it is built by ``link``."""
        name = value["provider_id"]
        first = self._values.get(name)
        if first is not None:
            file.problem(
                "duplicate-id",
                f"the provider profile {shown(name)} is defined twice; first in {first[1].path}",
                "give one another id",
                at="/provider_id",
                data={"first": first[1].path, "first_pointer": ""},
            )
            return
        self._values[name] = (value, file)

    def link(self) -> Providers:
        """Build the project's profiles, each with what it extends."""
        for name in self._values:
            self._build(name, ())
        return self

    def _build(self, name: str, chain: tuple[str, ...]) -> ProviderProfile | None:
        if name in self.own:
            return self.own[name]
        if any(name == n for n, _ in self.broken):
            return None
        value, file = self._values[name]
        base: ProviderProfile | None = None
        wanted = value.get("extends", "")
        if wanted:
            base = self._base(name, wanted, file, (*chain, name))
        profile = read_provider(value, file, base) if base is not None or not wanted else None
        if profile is not None and self._shapes and profile.shape not in self._shapes:
            file.problem(
                "bad-value",
                f"there is no request shape {shown(profile.shape)}{did_you_mean(profile.shape, self._shapes)}",
                f"known: {', '.join(sorted(self._shapes))}",
                at="/shape",
            )
            profile = None
        if profile is None:
            self.broken.append((name, file.path))
            return None
        self.own[name] = profile
        return profile

    def _base(self, name: str, wanted: str, file: File, chain: tuple[str, ...]) -> ProviderProfile | None:
        if wanted in self._values and wanted != name:
            if wanted in chain:
                told = " -> ".join((*chain[chain.index(wanted) :], wanted))
                file.problem(
                    "extends-cycle", f"provider profiles extend each other in a circle: {told}",
                    "remove one of these `extends`", at="/extends",
                )  # fmt: skip
                return None
            return self._build(wanted, chain)
        if wanted in self._texts:  # also its own id: the shipped profile with changes
            return self._shipped(wanted)
        known = sorted({*self._values, *self._texts} - {name})
        file.problem(
            "unknown-reference",
            f"there is no provider profile {shown(wanted)}{did_you_mean(wanted, known)}",
            f"known: {', '.join(known)}",
            at="/extends",
        )
        return None

    def _shipped(self, name: str) -> ProviderProfile:
        found = self._parsed.get(name)
        if found is None:
            found = self._parsed[name] = self._read(name)
        return found

    def _read(self, name: str) -> ProviderProfile:
        text = self._texts[name]
        known = _SHIPPED.get((name, text))
        if known is not None and (known[0] is None or self._shipped(known[0].id) is known[0]):
            return known[1]
        path = self.path(name)
        data = text.encode("utf-8")
        key = cache.key_of("yaml", data)
        value = None
        if self._store is not None:
            space = cache.namespace("parse")
            blob = self._store.get_blobs(space, [key]).get(key)
            entry = cache.decode(blob) if blob is not None else None
            value = entry.value if entry is not None and entry.kind == "provider" else None
        file = File(path, self._shared.apart())
        if value is None:
            value = self._parse(path, data, file)
            if self._store is not None:
                self._store.put_blobs(space, {key: cache.encode(cache.Entry("provider", value))})
        wanted = value.get("extends", "")
        base = self._shipped(wanted) if wanted in self._texts and wanted != name else None
        profile = read_provider(value, file, base)
        if profile is None or file.shared.problems:
            told = "; ".join(p.message for ps in file.shared.problems.values() for p in ps)
            raise InternalFault(f"the shipped provider profile {name!r} is not valid: {told}")
        _SHIPPED[name, text] = (base, profile)
        return profile

    def _parse(self, path: str, data: bytes, file: File) -> Any:
        parsed = document.parse(path, data)
        problems = list(parsed.problems)
        value = self._shared.validator("provider").check(parsed.value, problems) if not parsed.is_broken else None
        if problems:
            told = "; ".join(f"{p.pointer} {p.span or ''} {p.message}" for p in problems[:5])
            raise InternalFault(f"the shipped provider profile {path!r} is not valid: {told}")
        return value

    def as_index(self) -> dict[str, tuple[Any, ...]]:
        """The profiles as references need them: nothing is parsed for it."""
        found: dict[str, tuple[Any, ...]] = {n: (_Named(n),) for n in self._texts}
        found.update({n: (p,) for n, p in self.own.items()})
        return found

    def __getitem__(self, name: str) -> ProviderProfile:
        own = self.own.get(name)
        if own is not None:
            return own
        if name not in self._texts or any(name == n for n, _ in self.broken):
            raise KeyError(name)
        return self._shipped(name)

    def __iter__(self) -> Iterator[str]:
        gone = {n for n, _ in self.broken}
        return iter(sorted(n for n in {*self.own, *self._texts} if n not in gone))

    def __len__(self) -> int:
        return sum(1 for _ in self)
