"""Fixtures of the tests of counting; what they share by import is in ``conftest_tokens``."""

from conftest_tokens import reference

__all__ = ["reference"]
