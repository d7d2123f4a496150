"""What a project holds, by kind."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from ctxc.app.naming import advice
from ctxc.base.errors import UsageError

if TYPE_CHECKING:
    from ctxc.app.workspace import Workspace

Item = dict[str, Any]


def kinds() -> tuple[str, ...]:
    """Names of everything that can be listed, in the order in which it is listed."""
    return tuple(_LISTS)


def project_kinds() -> tuple[str, ...]:
    """What is listed without a name: what the project itself holds."""
    return tuple(k for k in _LISTS if k not in ("providers", "tokenizers"))


def listing(workspace: Workspace, kind: str) -> list[Item]:
    """Items of a kind, each with ``id``, ``version``, ``path`` and what else tells them apart; sorted by id.

    Raises UsageError for a kind that does not exist.
    """
    if kind not in _LISTS:
        raise UsageError(f"there is nothing called {kind!r} to list", help=advice(kind, kinds()))
    return sorted(_LISTS[kind](workspace), key=lambda item: (item["id"], item["version"], item["path"]))


def names(workspace: Workspace, kind: str) -> list[str]:
    """Ids of a kind, sorted, each once."""
    return sorted({str(item["id"]) for item in listing(workspace, kind)})


def _versions(index: Mapping[str, tuple[Any, ...]], more: Callable[[Any], Item]) -> list[Item]:
    # A tool file that a section names by its path stands in the index under the path, beside its id.
    things = {id(thing): thing for versions in index.values() for thing in versions}
    return [
        {"id": thing.id, "version": thing.version, "path": thing.origin.path, **more(thing)}
        for thing in things.values()
    ]


def _templates(w: Workspace) -> list[Item]:
    return _versions(
        w.project.templates,
        lambda t: {"sections": len(t.sections), "route": ", ".join(t.route), "contract": t.output_contract},
    )


def _fixtures(w: Workspace) -> list[Item]:
    return [
        {
            "id": f.id,
            "version": f.version,
            "path": f.origin.path,
            "template": f.template,
            "expects": f.expect.outcome,
            "conversation": f.conversation,
        }
        for f in w.project.fixtures.values()
    ]


def _fragments(w: Workspace) -> list[Item]:
    def more(fragment: Any) -> Item:
        when = "; ".join(f"{k}: {', '.join(v)}" for k, v in fragment.applies_when.items())
        return {"kind": fragment.kind, "mode": fragment.load_mode.value, "when": when}

    return _versions(w.project.fragments, more)


def _contracts(w: Workspace) -> list[Item]:
    return _versions(w.project.contracts, lambda c: {"required": ", ".join(map(str, c.schema.get("required", ())))})


def _toolsets(w: Workspace) -> list[Item]:
    return _versions(w.project.toolsets, lambda t: {"tools": len(t.tools), "namespace": t.namespace})


def _profiles(w: Workspace) -> list[Item]:
    return _versions(w.project.profiles, lambda p: {"toolset": p.toolset, "contract": p.output_contract})


def _policies(w: Workspace) -> list[Item]:
    return _versions(w.project.policies, lambda p: {"gates": ", ".join(p.gates), "waivers": len(p.waivers)})


def _providers(w: Workspace) -> list[Item]:
    return [
        {
            "id": p.id,
            "version": p.version,
            "path": p.origin.path,
            "shape": p.shape,
            "as_of": p.as_of,
            "models": len(p.models),
            "default_model": p.default_model,
        }
        for p in w.project.providers.values()
    ]


def _tokenizers(w: Workspace) -> list[Item]:
    from ctxc.app.tokenizers import known_tokenizers

    return [
        {
            "id": t.id,
            "version": "",
            "path": t.path,
            "method": t.method,
            "digest": t.digest[:16],
            "needs": t.needs,
            "counts_for": ", ".join(t.counts_for),
            "estimates_for": ", ".join(t.estimates_for),
            "could_count_for": ", ".join(t.could_count_for),
        }
        for t in known_tokenizers(w.project, w.store)
    ]


_LISTS: Mapping[str, Callable[[Workspace], list[Item]]] = {
    "templates": _templates,
    "fixtures": _fixtures,
    "fragments": _fragments,
    "contracts": _contracts,
    "toolsets": _toolsets,
    "profiles": _profiles,
    "policies": _policies,
    "providers": _providers,
    "tokenizers": _tokenizers,
}
