"""What a gate hands to its rules: the policies that judge, what was measured on both sides, locks, and the change.

``ctxc gate`` puts a ``Ground`` into the context; without one (the examples in the documentation) it is made of the
packages and the project's own policies. Policies judge one side at a time, so that a rule never has to ask whose they
are: the gate runs it once with the head's and once with the base's, and a change has to pass both.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import field
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from ctxc.base.errors import CtxcError
from ctxc.base.spans import Location, Origin
from ctxc.base.values import dataclass
from ctxc.model.contract import Policy
from ctxc.model.finding import Finding
from ctxc.model.measured import Measured, MeasuredSection
from ctxc.model.project import Project
from ctxc.rules._locks import BudgetLock, ToolLock
from ctxc.rules.engine import Context, Rule

if TYPE_CHECKING:
    from ctxc.detect.injection import Payload
    from ctxc.detect.secret_rules import SecretRule
    from ctxc.model.change import Change, VersionChange
    from ctxc.model.package import Package
    from ctxc.model.project import Settings
    from ctxc.rules.added_exemption import Exemption


class Kept(Protocol):
    """A cache of results that do not depend on policies, by the content that they were made from."""

    def get(self, space: str, fixtures: Iterable[str], more: str) -> Mapping[str, str]:
        """What was kept for fixtures as they are now, where something was."""

    def put(self, space: str, fixture: str, more: str, text: str) -> None:
        """Keep a result."""


T = TypeVar("T")
Facts = Mapping[str, Collection[str]]

GATE = "gate"
"""The name under which the ground stands among a context's parameters."""

SECTION_KEYS = frozenset(["section", "kind", "zone", "authority", "trust", "path"])
"""Keys of a ``where`` that speak of sections; the others speak of a fixture as a whole."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Ground:
    """What a gate's rules judge by. ``base`` is None where there is nothing to compare with.

    ``owner`` is the project whose policies these are. ``packages`` gives the package of a fixture at head, compiled
    when it is asked for; ``affected`` are the fixtures whose request is not the base's (None: all). ``memo`` outlives
    one judgement: what does not depend on policies is worked out once; ``kept`` outlives the run. ``evaluated`` is what
    a result has to be newer than, in seconds since 1970 (None: not known), ``bundle`` identifies what is judged.
    ``secret_rules`` and ``hosts`` (internal names) are those that the configuration of the policies' side adds.
    ``exempted`` are the suppressions and entries of the baseline that the change adds.
    ``by_base``: the policies are those of the base. ``former`` are fixtures that a policy of the base may also name as
    the base knew them. ``renamed`` gives the base's id of a fixture that only has another one now, under which ``base``
    holds it as well. ``settings`` are the base's and the head's.
    """

    policies: tuple[Policy, ...]
    owner: Project
    head: Mapping[str, Measured]
    base: Mapping[str, Measured] | None = None
    by_base: bool = False
    former: Mapping[str, Measured] = field(default_factory=dict)
    renamed: Mapping[str, str] = field(default_factory=dict)
    load_base: Callable[[], Project] | None = None
    settings: tuple[Settings, Settings] | None = None
    change: Change | None = None
    packages: Callable[[str], Package] | None = None
    affected: frozenset[str] | None = None
    budgets: BudgetLock | None = None
    tools: ToolLock | None = None
    payloads: tuple[Payload, ...] | None = None
    secret_rules: tuple[SecretRule, ...] = ()
    hosts: tuple[str, ...] = ()
    kept: Kept | None = None
    bundle: str = ""
    evaluated: int | None = None
    exempted: tuple[Exemption, ...] = ()
    unchanged: bool = False
    memo: dict[Any, Any] = field(default_factory=dict)

    @property
    def base_project(self) -> Project | None:
        """The project at the base, loaded when it is first asked for; None without a base."""
        return self.load_base() if self.load_base is not None else None

    def may_touch(self, paths: Collection[str]) -> bool:
        """Whether the change may concern one of these files of the head; to find out more takes loading the base."""
        if self.change is None:
            return True
        return any(path in paths for s in self.change.sources for path in (s.path, s.old_path))

    def once(self, key: Any, make: Callable[[], T]) -> T:
        """What ``make`` gives for a key, worked out once for both judgements."""
        if key not in self.memo:
            self.memo[key] = make()
        found: T = self.memo[key]
        return found


def ground(context: Context) -> Ground:
    """The ground of a context."""
    given = context.params.get(GATE, {}).get("ground")
    return given if isinstance(given, Ground) else context.shared(_own)


def _own(context: Context) -> Ground:
    from ctxc.rules._locks import read_budgets, read_tools
    from ctxc.rules._measuring import measure

    project = context.project
    fixtures = {name: f for name, f in project.fixtures.items() if name in context.packages}
    return Ground(
        policies=tuple(v[-1] for v in project.policies.values()),
        owner=project,
        head={n: measure(context.packages[n], f, project, context.tokenizers) for n, f in fixtures.items()},
        packages=context.packages.__getitem__,
        budgets=read_budgets(context.tree),
        tools=read_tools(context.tree),
    )


# --- policies ------------------------------------------------------------------------------------------------------


def judged_by_base(context: Context) -> bool:
    """Whether the policies are those of the base."""
    return ground(context).by_base


def place_of_settings(context: Context) -> Location:
    """Where the configuration of the project stands."""
    return Location("pyproject.toml" if not context.tree.exists("ctxc.yaml") else "ctxc.yaml")


def settings(context: Context, step: str) -> Iterator[tuple[Policy, Mapping[str, Any]]]:
    """Each policy that has parameters for a step, with them; ``true`` is no parameters, ``false`` switches it off."""
    for policy in ground(context).policies:
        value = policy.gates.get(step)
        if isinstance(value, Mapping):
            yield policy, value
        elif value is True:
            yield policy, {}


def items(value: Any) -> tuple[tuple[Any, Mapping[str, Any]], ...]:
    """One object or a list of them, each with its place in the list (``None`` where there is no list)."""
    if isinstance(value, Mapping):
        return ((None, value),)
    return tuple(enumerate(value)) if isinstance(value, (list, tuple)) else ()


def at(policy: Policy, *keys: Any) -> Origin:
    """Where a parameter of a policy stands; keys that are None are left out."""
    return policy.origin.child("gates", *(k for k in keys if k is not None))


def place_of(context: Context, policy: Policy, *keys: Any) -> Location:
    """The same as a location in the file that the policy was read from."""
    return place_in(ground(context).owner, context.project, at(policy, *keys))


def place_in(owner: Project, judged: Project, origin: Origin) -> Location:
    """Where a part of a policy stands: without a line where the judged tree has another text in its file.

    ``owner`` is the project whose policy it is. A line of the base would be shown as one of the head.
    """
    place = owner.sources.locate(origin)
    return place if owner is judged or _same(owner, judged, place.path) else place._replace(span=None)


def _same(one: Project, other: Project, path: str) -> bool:
    try:
        return one.sources.digest(path) == other.sources.digest(path)
    except CtxcError:
        return False


# --- where -----------------------------------------------------------------------------------------------------------


def fits(where: Mapping[str, Any], facts: Facts) -> bool:
    """Whether every key of a ``where`` fits; a key that says nothing of this thing does not."""
    return all(_named(facts.get(key, ()), wanted) for key, wanted in where.items())


def _named(values: Collection[str], wanted: Any) -> bool:
    patterns = (wanted,) if isinstance(wanted, str) else wanted
    return any(v == p or fnmatchcase(v, p) for p in patterns for v in values)


def of_fixture(where: Mapping[str, Any]) -> dict[str, Any]:
    """The part of a ``where`` that speaks of fixtures."""
    return {k: v for k, v in where.items() if k not in SECTION_KEYS}


def of_sections(where: Mapping[str, Any]) -> dict[str, Any]:
    """The part of a ``where`` that speaks of sections."""
    return {k: v for k, v in where.items() if k in SECTION_KEYS}


def facts_of(measured: Measured) -> dict[str, Collection[str]]:
    """What a ``where`` can say of a fixture."""
    return {
        "template": (measured.template,),
        "request_profile": (measured.profile,) if measured.profile else (),
        "provider": (measured.provider,),
        "model": (measured.model,),
        "fixture": (measured.fixture,),
        "conversation": (measured.conversation,) if measured.conversation else (),
    }


_OF_SECTION: Mapping[str, Callable[[MeasuredSection], Collection[str]]] = {
    "section": lambda s: [n for n in (s.id, s.slot, s.item, s.fragment) if n],
    "kind": lambda s: (s.kind,),
    "zone": lambda s: (s.zone,),
    "authority": lambda s: (s.authority,),
    "trust": lambda s: (s.trust,),
    "path": lambda s: (s.path,),
}
"""What a ``where`` can say of a rendered section."""


def selected(context: Context, policy: Policy, where: Mapping[str, Any]) -> tuple[Measured, ...]:
    """The fixtures at head of which a policy's ``where`` speaks, and that have a request; sorted by id."""
    known = ground(context)
    key = ("selected", bool(known.former), repr(of_fixture(policy.where)), repr(of_fixture(where)))
    return known.once(key, lambda: tuple(m for m in chosen(known, policy, where) if m.has_request))


def chosen(known: Ground, policy: Policy, where: Mapping[str, Any]) -> Iterator[Measured]:
    """The fixtures at head of which a policy's ``where`` speaks, sorted by id."""
    for name in sorted(known.head):
        measured = known.head[name]
        if holds_for(policy, where, facts_at(known, measured)):
            yield measured


def fits_something(known: Ground) -> bool:
    """Whether some policy speaks of some fixture."""
    return any(True for policy in known.policies for _ in chosen(known, policy, {}))


def facts_at(known: Ground, measured: Measured) -> Facts:
    """What a ``where`` can say of a fixture at head: as it is, and for the base's policies also as it was there."""
    facts = facts_of(measured)
    before = known.former.get(measured.fixture)
    if before is None:
        return facts
    return {key: (*values, *facts[key]) for key, values in facts_of(before).items()}


def holds_for(policy: Policy, where: Mapping[str, Any], facts: Facts) -> bool:
    """Whether a fixture's facts fit what a policy and one of its rules say."""
    return fits(of_fixture(policy.where), facts) and fits(of_fixture(where), facts)


def sections(measured: Measured, policy: Policy, where: Mapping[str, Any]) -> tuple[MeasuredSection, ...]:
    """The rendered sections of which a policy's ``where`` speaks."""
    wanted = [(_OF_SECTION[k], v) for w in (policy.where, where) for k, v in of_sections(w).items()]
    if not wanted:
        return measured.sections
    return tuple(s for s in measured.sections if all(_named(facts(s), names) for facts, names in wanted))


# --- findings --------------------------------------------------------------------------------------------------------


def origin_of(context: Context, fixture: str) -> Origin:
    """Where a fixture stands."""
    found = context.project.fixtures.get(fixture)
    if found is not None:
        return found.origin
    measured = ground(context).head.get(fixture)
    return Origin(measured.path if measured is not None else "")


def told(
    context: Context,
    rule: Rule,
    policy: Policy,
    keys: Iterable[Any],
    message: str,
    *,
    at: Origin | Location,
    help: str,
    fixture: str = "",
    related: Iterable[tuple[Origin | Location, str]] = (),
    data: Mapping[str, Any] | None = None,
) -> Finding:
    """A finding by a parameter of a policy, which stands among the related places."""
    now = context.project.policies.get(policy.id, ())
    since = judged_by_base(context) and (not now or now[-1].content_hash != policy.content_hash)
    where = (place_of(context, policy, *keys), f"policy {policy.id} {'of the base ' if since else ''}asks for it")
    return rule.finding(
        context,
        message,
        at=at,
        help=help,
        fixture=fixture,
        related=[*related, where],
        data={"policy": policy.id, **(data or {})},
    )


def is_about(context: Context, policy: Policy, change: VersionChange) -> bool:
    """Whether a policy judges a versioned object: by its file, and by the templates whose requests are made with it.

    What no fixture is seen to use is judged by every policy.
    """
    facts: dict[str, Collection[str]] = {"path": [p for p in (change.path, change.base_path) if p]}
    templates = {change.id} if change.kind == "template" else _users(context, change.kind, change.id)
    if templates:
        facts["template"] = templates
    return fits({k: v for k, v in policy.where.items() if k in facts}, facts)


def _users(context: Context, kind: str, name: str) -> set[str]:
    """Templates of which some fixture, on either side, is compiled with an object."""
    known = ground(context)
    both = [*known.head.values(), *(known.base or {}).values()]
    match kind:
        case "fragment":
            return {m.template for m in both if name in m.fragments}
        case "contract":
            return {m.template for m in both if m.contract == name}
        case "profile":
            return {m.template for m in both if m.profile == name}
        case _:
            return set()


def version_changes(context: Context) -> tuple[VersionChange, ...]:
    """What changed with or without a bump; empty without a base."""
    known = ground(context)
    if known.change is not None:
        return known.change.versions
    if known.load_base is None:
        return ()
    from ctxc.compare.versions import version_changes as compared

    base = known.load_base()
    return known.once("versions", lambda: compared(base, context.project))
