"""YAML from parse events: values with plain scalars left open, and nodes with places where something is unusual.

The fast reader takes the ordinary file: one document, no aliases, no tags, no repeated keys. Whatever else stands
there, the careful reader takes, which knows every place and says what is wrong. Both give the same value where both
give one. Decisions: aliases are allowed and bounded; an anchor may be defined again (the last definition before the
use counts); the merge key ``<<`` is refused (YAML 1.2 has none, and what a file says should stand in it); tags other
than the seven of the core schema are refused; keys are text.
"""

from __future__ import annotations

import re

from ctxc.parse.nodes import Parsed
from ctxc.parse.text import has_controls
from ctxc.parse.yaml_events import Unusual, library, read_ordinary
from ctxc.parse.yaml_nodes import read_nodes

_RARE_BYTES = (b"\xc2", b"\xe2\x80\xa8", b"\xe2\x80\xa9", b"\xef\xbb\xbf", b"\xef\xbf\xbe", b"\xef\xbf\xbf")
_RARE = re.compile("[\x80-\x9f\u2028\u2029\ufeff\ufffe\uffff]").search


def parse_yaml(text: str) -> Parsed:
    """The value of a YAML text with LF line ends; plain scalars are ``Plain``."""
    data = text.encode("utf-8")
    if not has_controls(data) and (data.isascii() or not _holds_rare(text, data)):
        try:
            return Parsed(read_ordinary(data))
        except Unusual:
            pass
        except library().YAMLError:
            pass
    return read_nodes(text)


def _holds_rare(text: str, data: bytes) -> bool:
    # Searching bytes first is many times faster than a character class over the text.
    return any(b in data for b in _RARE_BYTES) and _RARE(text) is not None
