"""Every finding code, in one table. A code is never reused; the hundred is the family (CONVENTIONS section 2).

0 loading and schema, 1 manifests and composition, 2 budget, cost and latency, 3 content, 4 cache, 5 trust,
6 tools and contracts, 7 versions and compatibility, 8 expectations and evidence, 9 hygiene.
"""

from __future__ import annotations

from collections.abc import Mapping

from ctxc.model.finding import Severity

_E, _W, _I = Severity.ERROR, Severity.WARNING, Severity.INFO

CODES: Mapping[str, tuple[str, Severity]] = {
    # 0: loading and schema
    "CTX001": ("syntax", _E),
    "CTX002": ("duplicate-key", _E),
    "CTX003": ("unknown-key", _E),
    "CTX004": ("wrong-type", _E),
    "CTX005": ("missing-key", _E),
    "CTX006": ("bad-value", _E),
    "CTX007": ("alias-expansion", _E),
    "CTX008": ("bad-alias", _E),
    "CTX009": ("custom-tag", _E),
    "CTX010": ("merge-key", _E),
    "CTX011": ("multiple-documents", _E),
    "CTX012": ("too-deep", _E),
    "CTX013": ("too-large", _E),
    "CTX014": ("unreadable-file", _E),
    "CTX015": ("byte-order-mark", _W),
    "CTX016": ("wrong-encoding", _E),
    "CTX017": ("control-character", _E),
    "CTX018": ("mixed-line-ends", _W),
    "CTX019": ("float-like-version", _W),
    "CTX020": ("lone-surrogate", _E),
    "CTX021": ("bad-number", _E),
    "CTX022": ("unknown-file-kind", _W),
    "CTX023": ("ambiguous-file-kind", _E),
    "CTX024": ("front-matter", _E),
    "CTX025": ("invalid-json-schema", _E),
    "CTX026": ("lfs-pointer", _E),
    "CTX027": ("conflict-marker", _E),
    "CTX028": ("bad-message", _E),
    "CTX029": ("bad-record", _E),
    # 1: manifests and composition
    "CTX101": ("duplicate-id", _E),
    "CTX102": ("unknown-reference", _E),
    "CTX103": ("ambiguous-id", _W),
    "CTX104": ("extends-cycle", _E),
    "CTX105": ("requires-cycle", _E),
    "CTX106": ("missing-file", _E),
    "CTX107": ("path-case", _E),
    "CTX108": ("path-outside", _E),
    "CTX109": ("ambiguous-path", _E),
    "CTX110": ("path-collision", _E),
    "CTX111": ("empty-project", _E),
    "CTX112": ("section-kind", _E),
    "CTX113": ("unknown-fragment", _E),
    "CTX114": ("no-provider", _E),
    "CTX115": ("unknown-model", _E),
    "CTX116": ("missing-input", _E),
    "CTX117": ("unknown-variable", _E),
    "CTX118": ("unknown-section", _E),
    "CTX119": ("sensitive-names-nothing", _W),
    "CTX120": ("turn-without-reply", _E),
    "CTX121": ("fragment-conflict", _E),
    "CTX122": ("fragment-overrun", _E),
    "CTX123": ("missing-now", _E),
    "CTX124": ("bad-time", _E),
    "CTX125": ("unknown-renderer", _E),
    "CTX126": ("unknown-checkpoint", _E),
    # 2: budget, cost and latency
    "CTX200": ("no-input-budget", _E),
    "CTX201": ("token-ceiling", _E),
    "CTX202": ("budget-exceeded", _E),
    # 5: trust
    "CTX500": ("authority-raised", _E),
    "CTX501": ("untrusted-zone", _E),
    # 6: tools and contracts
    "CTX600": ("capability-missing", _E),
    "CTX601": ("provider-refuses", _E),
    # 8: expectations and evidence
    "CTX800": ("unexpected-outcome", _E),
    "CTX801": ("expectation-failed", _E),
}
"""Code to name and default severity."""

_BY_NAME: Mapping[str, str] = {name: code for code, (name, _) in CODES.items()}


def code_of(name: str) -> str:
    """The code of a name; raises KeyError for a name that is in no table."""
    return _BY_NAME[name]


def name_of(code: str) -> str:
    """The name of a code; raises KeyError for an unknown code."""
    return CODES[code][0]


def severity_of(name: str) -> Severity:
    """Default severity of a name."""
    return CODES[_BY_NAME[name]][1]
