"""Addresses of networks: which are public, private, or reserved for documentation.

Own tables (IANA special-purpose registries, 2025-10), because the standard library's answer changed between releases.
"""

from __future__ import annotations

import ipaddress
import re

_V4_RESERVED = tuple(
    ipaddress.IPv4Network(net)
    for net in (
        "0.0.0.0/8", "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "169.254.0.0/16", "172.16.0.0/12", "192.0.0.0/24",
        "192.0.2.0/24", "192.88.99.0/24", "192.168.0.0/16", "198.18.0.0/15", "198.51.100.0/24", "203.0.113.0/24",
        "224.0.0.0/4", "240.0.0.0/4",
    )
)  # fmt: skip
_V4_PRIVATE = tuple(
    ipaddress.IPv4Network(net)
    for net in ("10.0.0.0/8", "100.64.0.0/10", "169.254.0.0/16", "172.16.0.0/12", "192.168.0.0/16")
)
_V6_GLOBAL = ipaddress.IPv6Network("2000::/3")
_V6_RESERVED = tuple(ipaddress.IPv6Network(net) for net in ("2001::/23", "2001:db8::/32", "2002::/16", "3fff::/20"))
_V6_PRIVATE = tuple(ipaddress.IPv6Network(net) for net in ("fc00::/7", "fe80::/10"))
_OCTETS = re.compile(r"(?:0|[1-9][0-9]{0,2})(?:\.(?:0|[1-9][0-9]{0,2})){3}")
_DOMAINS = "internal|intranet|corp|lan|home|local|private|consul|vpn"
_SERVICES = (
    "jenkins|vault|wiki|jira|gitlab|grafana|kibana|nexus|artifactory|prometheus|sonar|sonarqube|argocd|confluence"
)
INTERNAL_NAMES = f"{_DOMAINS}|{_SERVICES}"
"""Alternatives of a pattern: the last label of internal host names, and services that run under a bare name."""

_INTERNAL_NAME = re.compile(rf"(?:.*\.)?(?:{_DOMAINS})|{_SERVICES}")
_OWN_MACHINE = re.compile(r"(?:host|gateway|kubernetes)\.docker\.internal|localhost\..*")


def _parse(text: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    try:
        if ":" in text:
            return ipaddress.IPv6Address(text.partition("%")[0])
        return ipaddress.IPv4Address(text) if _OCTETS.fullmatch(text) else None
    except ValueError:
        return None


def is_public(text: str) -> bool:
    """True for an address on the public Internet, outside the ranges for documentation and special uses."""
    address = _parse(text)
    if isinstance(address, ipaddress.IPv4Address):
        return not any(address in network for network in _V4_RESERVED)
    if isinstance(address, ipaddress.IPv6Address):
        return address in _V6_GLOBAL and not any(address in network for network in _V6_RESERVED)
    return False


def is_internal_host(host: str) -> bool:
    """True for a private or link-local address, an internal domain, or the bare name of a common internal service.

    The machine itself (loopback, ``host.docker.internal``) is not internal in this sense: it names nobody's network.
    """
    name = host.strip("[]").rstrip(".").lower()
    address = _parse(name)
    if isinstance(address, ipaddress.IPv4Address):
        return any(address in network for network in _V4_PRIVATE)
    if isinstance(address, ipaddress.IPv6Address):
        return any(address in network for network in _V6_PRIVATE)
    return _INTERNAL_NAME.fullmatch(name) is not None and _OWN_MACHINE.fullmatch(name) is None
