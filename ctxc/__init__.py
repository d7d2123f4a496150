"""Compile, diff, lint and gate what a language model is shown.

The public Python API is ``load``, ``compile``, ``diff`` and ``gate``; each is imported when first used, so
that ``import ctxc`` costs nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

if TYPE_CHECKING:
    from ctxc.app.api import compile, load

__all__ = ["__version__", "compile", "load"]

_API = frozenset({"load", "compile"})


def __getattr__(name: str) -> Any:
    """Import one function of the public API on first use."""
    if name in _API:
        from ctxc.app import api

        return getattr(api, name)
    raise AttributeError(f"module 'ctxc' has no attribute {name!r}")
