"""What networks take from the course network that they belong to, variants from variants. Pure."""

from __future__ import annotations

from linklab.network.validation import Network


def name_beside(course: Network, name: str) -> str:
    """Return a network's name, with the variant's behind it where the course network is one."""
    return name if course.name == "course" else f"{name}-{course.name.removeprefix('course-')}"


def address_start(course: Network) -> str:
    """Return the first two numbers of all addresses, as in ``10.0``."""
    return ".".join(course.subnets[0].prefix.split(".")[:2])
