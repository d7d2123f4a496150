"""Detectors: secrets, personal data, Unicode, role tokens, tools, volatile values, facts. Text in, matches out.

Every detector is a pure function and returns :class:`ctxc.detect.match.Match` values in the order of the text. Rules
turn them into findings. google-re2 does the matching (linear time, whatever the text or the pattern) and is imported
when a scan first runs.
"""
