"""Errors, spans, canonical JSON, hashing and the directory registry: what every other layer may use."""
