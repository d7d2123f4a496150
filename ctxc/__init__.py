"""Compile, diff, lint and gate what a language model is shown.

The public Python API is ``load``, ``compile``, ``diff`` and ``gate``; each is imported when first used, so
that ``import ctxc`` costs nothing.
"""

from __future__ import annotations

__version__ = "0.1.0"

TYPE_CHECKING = False  # importing it from typing would double the time that `ctxc --version` takes
if TYPE_CHECKING:
    from typing import Any

    from ctxc.app.api import compile, diff, gate, load

__all__ = ["__version__", "compile", "diff", "gate", "load"]

_API = frozenset({"load", "compile", "diff", "gate"})


def __dir__() -> list[str]:
    return sorted(__all__)


def __getattr__(name: str) -> Any:
    """Import one function of the public API on first use."""
    if name in _API:
        from ctxc.app import api

        return getattr(api, name)
    raise AttributeError(f"module 'ctxc' has no attribute {name!r}")
