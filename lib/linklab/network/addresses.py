"""Addresses and prefixes to compute with. Each text is read once: who follows packets asks for the same few often."""

from __future__ import annotations

from functools import lru_cache
from ipaddress import IPv4Interface, IPv4Network


@lru_cache(4096)
def interface_of(text: str) -> IPv4Interface:
    """Return an address with its prefix length, as in ``10.0.1.1/24``. Raises ValueError for what is none."""
    return IPv4Interface(text)


@lru_cache(4096)
def prefix_of(text: str) -> IPv4Network:
    """Return a prefix, as in ``10.0.1.0/24``. Raises ValueError for what is none."""
    return IPv4Network(text)
