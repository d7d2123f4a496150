"""Values of a request that decide whether a cached prefix is found, and what a change of one loses.

Which settings count, for which zone, and what the provider calls the change, is the ``invalidation`` table of a
profile: one row a change, ``kept``, ``lost`` or ``unknown`` for each of tools, system and messages. ``unknown`` is
taken as lost: a promise that nobody made is not relied on.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from ctxc.model.provider import ProviderProfile

ZONES = ("tools", "system", "messages")
CONTENT = frozenset({"tools", "system", "messages"})
"""Changes that are the blocks themselves, not a setting beside them."""

DEPTH = 12  # levels of a request that are searched for pictures and citations


def settings_of(request: Mapping[str, Any]) -> dict[str, str]:
    """Every setting that any provider's table names and that this request has, as text. Absent is not a value.

    An explicit ``auto`` of ``tool_choice`` is the same as none.
    """
    found: dict[str, str] = {}
    for change, read in _READERS.items():
        value = read(request)
        if value not in (None, "", False, {}, []):
            found[change] = value if isinstance(value, str) else _text(value)
    return found


def keys_by_zone(settings: Mapping[str, str], profile: ProviderProfile, keyed_by: tuple[str, ...]) -> dict[str, str]:
    """For each zone the settings that its cached blocks depend on, as one text; equal texts, equal keys.

    ``keyed_by`` names settings that lose everything for the model at hand.
    """
    affecting: dict[str, list[str]] = {zone: [] for zone in ZONES}
    for row in profile.invalidation:
        change = str(row.get("change"))
        if change in CONTENT:
            continue
        for zone in ZONES:
            if row.get(zone) != "kept" or change in keyed_by:
                affecting[zone].append(change)
    return {
        zone: _text([[change, settings.get(change, "")] for change in changes if change in settings])
        for zone, changes in affecting.items()
    }


def content_keys(profile: ProviderProfile) -> dict[str, tuple[str, ...]]:
    """For each zone the later zones whose content it depends on all the same: where tools are lost when the system
    text changes, the provider does not keep them in front of it."""
    found: dict[str, tuple[str, ...]] = {}
    for number, zone in enumerate(ZONES):
        rows = [r for r in profile.invalidation if r.get("change") in ZONES[number + 1 :]]
        found[zone] = tuple(str(r["change"]) for r in rows if r.get(zone) not in ("kept", None))
    return found


def reason_of(change: str, profile: ProviderProfile) -> tuple[str, bool]:
    """The provider's own name for a change, and whether the table is certain of what it loses."""
    for row in profile.invalidation:
        if row.get("change") == change:
            return str(row.get("reason") or f"{change}_changed"), "unknown" not in row.values()
    return f"{change}_changed", False


def _text(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, sort_keys=True, separators=(",", ":"), default=str)


def _map(value: object) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


def _any(request: Mapping[str, Any], *names: str) -> Any:
    for name in names:
        here: Any = request
        for key in name.split("."):
            here = _map(here).get(key)
        if here not in (None, ""):
            return here
    return None


def _tool_choice(request: Mapping[str, Any]) -> Any:
    value = _any(request, "tool_choice", "toolConfig.toolChoice", "toolConfig.functionCallingConfig")
    if isinstance(value, Mapping):
        value = {k: v for k, v in value.items() if k != "disable_parallel_tool_use"}
        if value in ({"type": "auto"}, {"auto": {}}, {"mode": "AUTO"}):
            return None
    return None if value == "auto" else value


def _tool_types(request: Mapping[str, Any]) -> Iterator[str]:
    tools = request.get("tools")
    for tool in tools if isinstance(tools, list) else ():
        kind = _map(tool).get("type")
        if isinstance(kind, str):
            yield kind


def _contains(value: object, test: Callable[[Mapping[str, Any]], bool], depth: int = DEPTH) -> bool:
    # Texts are by far the most of what is walked: they are left out before anything is called for them.
    if depth <= 0:
        return False
    if isinstance(value, dict):
        if test(value):
            return True
        inside: Iterable[Any] = value.values()
    elif isinstance(value, (list, tuple)):
        inside = value
    elif isinstance(value, Mapping):
        return _contains(dict(value), test, depth)
    else:
        return False
    return any(_contains(v, test, depth - 1) for v in inside if type(v) not in _PLAIN)


_PLAIN = frozenset({str, int, float, bool, type(None)})


def _spoken(request: Mapping[str, Any]) -> list[Any]:
    return [request.get(key) for key in ("system", "messages", "input", "contents")]


def _is_image(value: Mapping[str, Any]) -> bool:
    return value.get("type") in ("image", "image_url", "input_image") or isinstance(value.get("image"), Mapping)


def _has_citations(value: Mapping[str, Any]) -> bool:
    return _map(value.get("citations")).get("enabled") is True


_READERS: Mapping[str, Callable[[Mapping[str, Any]], Any]] = {
    "model": lambda r: _any(r, "model", "modelId"),
    "prompt_cache_key": lambda r: _any(r, "prompt_cache_key"),
    "service_tier": lambda r: _any(r, "service_tier", "serviceTier"),
    "response_format": lambda r: _any(r, "response_format", "text.format"),
    "reasoning_effort": lambda r: _any(r, "reasoning_effort", "reasoning.effort"),
    "verbosity": lambda r: _any(r, "verbosity", "text.verbosity"),
    "parallel_tool_calls": lambda r: "false" if r.get("parallel_tool_calls") is False else None,
    "context_management": lambda r: _any(r, "context_management"),
    "web_search": lambda r: any(t.startswith("web_search") for t in _tool_types(r)),
    "citations": lambda r: _contains(_spoken(r), _has_citations),
    "speed": lambda r: _any(r, "speed"),
    "output_format": lambda r: _any(r, "output_config.format", "output_format", "outputConfig.textFormat"),
    "tool_choice": _tool_choice,
    "disable_parallel_tool_use": lambda r: _map(r.get("tool_choice")).get("disable_parallel_tool_use") is True,
    "images": lambda r: _contains(_spoken(r), _is_image),
    "thinking": lambda r: _any(
        r,
        "thinking",
        "additionalModelRequestFields.thinking",
        "additionalModelRequestFields.reasoning_config",
        "generationConfig.thinkingConfig",
    ),
    "effort": lambda r: _any(r, "output_config.effort"),
}
