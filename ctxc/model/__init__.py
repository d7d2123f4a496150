"""Frozen values that every layer passes around. No input, no output, no behaviour beyond small derivations."""
