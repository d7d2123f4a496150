"""Which request shape a JSON value has, when nobody said: by the keys that only one interface uses."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

ENDPOINTS: tuple[tuple[str, str], ...] = (
    ("api.anthropic.com", "anthropic"),
    ("api.openai.com/v1/responses", "openai_responses"),
    ("openrouter.ai/api/v1/responses", "openai_responses"),
    ("api.openai.com", "openai"),
    ("bedrock-runtime", "bedrock"),
    ("aiplatform.googleapis.com", "gemini_vertex"),
    ("generativelanguage.googleapis.com", "gemini"),
    ("openrouter.ai", "openrouter"),
    ("api.deepseek.com", "deepseek"),
    ("api.mistral.ai", "mistral"),
    ("dashscope", "qwen"),
)
"""Part of an address, and the provider profile that speaks there; the first that is found in an address is meant."""

PROFILES: Mapping[str, tuple[str, ...]] = {
    "anthropic_messages": ("anthropic",),
    "openai_responses": ("openai_responses",),
    "bedrock_converse": ("bedrock",),
    "gemini_generate_content": ("gemini",),
    "openai_chat": ("openai", "openrouter", "deepseek", "qwen", "mistral"),
}
"""Profiles that a request of a shape may be meant for, the likeliest first."""

_CLAUDE_BLOCKS = frozenset({"tool_use", "tool_result", "thinking", "redacted_thinking", "document", "server_tool_use"})


def shape_of(request: Mapping[str, Any]) -> str | None:
    """The shape of a request, or None where the value looks like no request at all."""
    if "contents" in request or "systemInstruction" in request or "system_instruction" in request:
        return "gemini_generate_content"
    if isinstance(request.get("messages"), list):
        if _is_converse(request):
            return "bedrock_converse"
        return "anthropic_messages" if _is_claude(request) else "openai_chat"
    if "input" in request and ("model" in request or isinstance(request["input"], list)):
        return "openai_responses"
    return None


def profile_at(url: str) -> str:
    """The provider profile that speaks at an address; empty where none is known."""
    return next((profile for part, profile in ENDPOINTS if part in url), "")


def model_of(request: Mapping[str, Any], url: str = "") -> str:
    """The model that a request or its address names; empty where neither does."""
    for key in ("model", "modelId"):
        value = request.get(key)
        if isinstance(value, str) and value:
            return value.removeprefix("models/")
    for mark, end in (("/model/", "/"), ("/models/", ":")):
        _, found, rest = url.partition(mark)
        if found:
            from urllib.parse import unquote

            return unquote(rest.partition(end)[0])
    return ""


def stores_prefix(request: Mapping[str, Any], url: str = "") -> bool:
    """Whether a request stores a prefix under a name (Gemini's ``cachedContents``) and asks for no answer."""
    if "cachedContents" in url:
        return True
    return "contents" in request and ("ttl" in request or "expireTime" in request) and "generationConfig" not in request


def mcp_tools(value: object) -> list[Any]:
    """The tools of an answer to MCP's ``tools/list``, with or without its JSON-RPC envelope, or of a bare list; empty
    for anything else."""
    if isinstance(value, Mapping):
        inner = value.get("result", value)
        if isinstance(inner, Mapping) and not any(k in inner for k in ("messages", "input", "contents", "model")):
            tools = inner.get("tools")
            return tools if isinstance(tools, list) else []
        return []
    if isinstance(value, list) and all(isinstance(t, Mapping) and ("inputSchema" in t) for t in value):
        return value
    return []


def _is_claude(request: Mapping[str, Any]) -> bool:
    if any(key in request for key in ("system", "anthropic_version", "output_config")):
        return True
    if str(request.get("model", "")).startswith("claude"):
        return True
    tools = request.get("tools")
    if isinstance(tools, list) and any(isinstance(t, Mapping) and "input_schema" in t for t in tools):
        return True
    return any(block.get("type") in _CLAUDE_BLOCKS for block in _blocks(request))


def _is_converse(request: Mapping[str, Any]) -> bool:
    if any(key in request for key in ("inferenceConfig", "toolConfig", "modelId", "guardrailConfig")):
        return True
    blocks = list(_blocks(request))
    return bool(blocks) and all("type" not in b for b in blocks)


def _blocks(request: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    for message in request["messages"]:
        content = message.get("content") if isinstance(message, Mapping) else None
        for block in content if isinstance(content, list) else ():
            if isinstance(block, Mapping):
                yield block
