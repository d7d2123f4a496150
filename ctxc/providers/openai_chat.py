"""OpenAI Chat Completions (``POST /v1/chat/completions``).

System parts become one system message (``developer`` where the model's row says so), joined by a blank line; they
become content parts of that message only where a cache mark has to stand between them. Every turn is a message of its
own. The protocol has no place for "this tool result is an error": the result's own text has to say so.
Sources: openai SDK 3.57.0 typed parameters; prompt caching and structured outputs guides, October 2026.
"""

from __future__ import annotations

from ctxc.providers._chat_render import Dialect
from ctxc.providers._chat_shape import ChatShape

SHAPE = ChatShape(
    dialect=Dialect(id="openai_chat", max_tokens_key="max_completion_tokens", marker="prompt_cache_breakpoint"),
    capabilities=frozenset(
        {"system", "history", "tools", "json_schema", "cache_marks", "images", "developer_role", "tool_results"}
    ),
)
