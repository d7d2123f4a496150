"""Servers that speak Chat Completions: vLLM, llama.cpp, DeepSeek, Qwen (Model Studio), Mistral and others.

The form is that of ``openai_chat`` with ``max_tokens`` and, where a provider has marks, ``cache_control`` on content
parts (Qwen). What else differs stands in the profiles: ``limits.max_tokens_key``, capabilities, cache rules.
Sources: DeepSeek API guides, Model Studio context cache guide, vLLM OpenAI-compatible server, read November 2026.
"""

from __future__ import annotations

from ctxc.providers._chat_render import Dialect
from ctxc.providers._chat_shape import ChatShape

SHAPE = ChatShape(
    dialect=Dialect(id="openai_compatible", max_tokens_key="max_tokens", marker="cache_control"),
    capabilities=frozenset({"system", "history", "tools", "json_schema", "cache_marks", "images", "tool_results"}),
)
