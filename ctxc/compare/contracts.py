"""Output contracts: the schema as a value, and what else is demanded of an answer."""

from __future__ import annotations

import json
from typing import Any

from ctxc.base.canonical import canonical
from ctxc.compare.descriptions import Telling, brief, described
from ctxc.compare.schemas import schema_changes
from ctxc.compare.values import shown, value_changes
from ctxc.model.change import ContractChange, SchemaChange
from ctxc.model.contract import Contract

_PLAIN = Telling()


def contract_change(base: Contract | None, head: Contract | None, telling: Telling = _PLAIN) -> ContractChange | None:
    """What differs between two contracts; None where nothing does. A version alone is no difference."""
    if base is None and head is None:
        return None
    if base is None or head is None:
        there = base or head
        assert there is not None
        gone = head is None
        reason = "contract removed: answers have no fixed form any more" if gone else "contract added"
        change = SchemaChange(pointer="", kind="contract", breaking=gone, reason=reason)
        return ContractChange(base=named(base), head=named(head), breaking=gone, changes=(change,))
    changes: list[SchemaChange] = []
    if base.id != head.id:
        reason = f"another contract: {base.id} → {head.id}"
        changes.append(SchemaChange(pointer="", kind="contract", breaking=False, reason=reason))
    changes += schema_changes(base.schema, head.schema, "output")
    if base.description != head.description:
        changes.append(
            SchemaChange(
                pointer="/description",
                kind="description",
                breaking=False,
                reason="description only",
                base=base.description,
                head=head.description,
            )
        )
    changes += _others("refusal", dict(base.refusal), dict(head.refusal))
    changes += _others("citations", dict(base.citations), dict(head.citations))
    reserialized = not changes and _bytes(base) != _bytes(head)
    if not changes and not reserialized:
        return None
    return ContractChange(
        base=named(base),
        head=named(head),
        breaking=any(c.breaking for c in changes),
        reserialized=reserialized,
        changes=brief(changes),
        hunks=described(changes, head.origin, telling),
        path=head.origin.path,
        line=telling.line(head.origin),
    )


def named(contract: Contract | None) -> str:
    """``id@version``, or nothing."""
    if contract is None:
        return ""
    return f"{contract.id}@{contract.version}" if contract.version else contract.id


def _bytes(contract: Contract) -> str:
    return json.dumps([contract.schema, dict(contract.refusal), dict(contract.citations)], ensure_ascii=False)


def _others(name: str, base: dict[str, Any], head: dict[str, Any]) -> list[SchemaChange]:
    """The form of a refusal and of citations: whoever recognises them by a field breaks with the field."""
    if canonical(base) == canonical(head):
        return []
    found = []
    for change in value_changes(base, head):
        field = str(change.path[0]) if change.path else ""
        breaking = field == "field" or not head
        what = f"{name}.{'.'.join(map(str, change.path))}" if change.path else name
        reason = f"{what} {'removed' if change.kind == 'removed' else 'added' if change.kind == 'added' else 'changed'}"
        if breaking:
            reason += f": whoever finds the {name.rstrip('s')} by it breaks"
        found.append(
            SchemaChange(
                pointer=f"/{name}" + "".join(f"/{k}" for k in change.path),
                kind=name,
                breaking=breaking,
                reason=reason,
                base=shown(change.base),
                head=shown(change.head),
            )
        )
    return found
