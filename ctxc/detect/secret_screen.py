"""Whether a search for secrets can find anything: what every request is asked, of all its texts at once.

Most requests hold no secret, and then neither the rules are read nor their patterns compiled: what each shipped rule is
searched by, and how bad it is, stands in a table of its own (``tools/build_detect_data.py prefilters``; a test compares
it with the rules).
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from functools import cache

from ctxc.detect import data
from ctxc.detect.patterns import PatternSet, haystack
from ctxc.detect.projections import projections
from ctxc.model.finding import Severity


def may_hold_secrets(texts: Iterable[str], *, severity: Severity) -> bool:
    """False only where ``find_secrets`` finds nothing of this severity in any of the texts; by one search of them all.

    What a rule is searched for by (its prefilter) in a text, or in a decoded reading of it, stands in the same reading
    of all texts together, a line each: no escape and no base64 run goes past the end of a line, and a prefilter knows
    neither beginning nor end of a text (a test).
    """
    screen = _screen(severity)
    whole = "\n".join(texts)
    readings = (whole, *(projection.text for projection in projections(whole)))
    return any(screen.which(haystack(reading).data) for reading in readings)


@cache
def _screen(severity: Severity) -> PatternSet:
    rows: list[list[str]] = json.loads(data.read("secret_prefilters.json"))
    return PatternSet([prefilter for prefilter, name in rows if Severity[name] >= severity])
