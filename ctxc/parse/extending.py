"""Templates that extend others: the chain is followed, circles are refused, and the merge becomes the template."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ctxc.base.values import dataclass
from ctxc.model.lookup import candidates
from ctxc.model.template import Template
from ctxc.parse.context import Shared, text_of
from ctxc.parse.load_template import Raw, extend, read_template


@dataclass(frozen=True, slots=True)
class _Item:
    id: str
    version: str
    raw: Raw


def templates_of(raws: Sequence[Raw], shared: Shared) -> list[Template]:
    """The templates, in the order given; one that cannot be made is reported and left out."""
    by_id: dict[str, tuple[_Item, ...]] = {}
    for raw in raws:
        item = _Item(raw.value["template_id"], text_of(raw.value.get("version")), raw)
        by_id[item.id] = (*by_id.get(item.id, ()), item)
    found = []
    circles: dict[frozenset[str], str] = {}
    for raw in raws:
        merged = _merged(raw, by_id, (), circles)
        template = None
        if merged is not None:
            before = {p: shared.errors(p) for p in merged.paths}
            template = read_template(merged)
            if any(shared.errors(p) != n for p, n in before.items()):
                template = None
        if template is None:
            shared.lose(raw.file.path, "template", raw.value["template_id"])
        else:
            found.append(template)
    return found


def _merged(
    raw: Raw, by_id: Mapping[str, tuple[_Item, ...]], chain: tuple[str, ...], circles: dict[frozenset[str], str]
) -> Raw | None:
    """``circles``: the files of each circle that was found, and the one that tells of it."""
    name = text_of(raw.value.get("extends"))
    if not name:
        return raw
    found = candidates(by_id, name)
    if not found:
        raw.file.refer("template", name, "/extends")
        return None
    base = found[-1].raw
    chain = (*chain, raw.file.path)
    if base.file.path in chain:
        told = [*chain[chain.index(base.file.path) :], base.file.path]
        place = circles.setdefault(frozenset(told), raw.file.path)
        for path in chain:
            if path != place:
                raw.file.shared.read_with[path] = place
        if place == raw.file.path:
            raw.file.problem(
                "extends-cycle",
                f"templates extend each other in a circle: {' -> '.join(told)}",
                "remove one of these `extends`",
                at="/extends",
                data={"chain": told},
            )
        return None
    whole = _merged(base, by_id, chain, circles)
    return extend(whole, raw) if whole is not None else None
