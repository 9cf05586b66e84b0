"""Whose network a measurement is of: a variant's addresses are its student's alone."""

from __future__ import annotations

from linklab.course import course_network
from linklab.grade.check import Check
from linklab.network import NetworkState


def elsewhere(description: str, state: NetworkState | None) -> Check | None:
    """A failed check if ``state``, as read back at a measurement, is of another network than the student's; else None.

    Addresses tell: rates, delays and queues may be changed, as labs ask for, and are judged as they were. An interface
    that is not there is for other checks to name.
    """
    if state is None:
        return None
    for link in course_network().links:
        for end in link.ends:
            face = state.interface(end.node, end.interface) if end.address is not None else None
            if face is None or not face.addresses or end.address in face.addresses:
                continue
            found = ", ".join(face.addresses)
            return Check.failing(
                description,
                f"this was measured on another network: {end.interface} had {found} there, and {end.address} in yours",
                "start the lab with linklab.start(linklab.course_network()), and measure again",
                f"{end.interface} with {end.address}",
                found,
            )
    return None
