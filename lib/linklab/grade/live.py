"""What a check needs of a running lab, and how it gets its state."""

from __future__ import annotations

from typing import Protocol, runtime_checkable

from linklab.errors import LabError
from linklab.network import NetworkState


class LiveNode(Protocol):
    """A node of a running lab, on which commands run."""

    def cmd(self, command: str, /) -> str:
        """What the command printed."""
        ...


@runtime_checkable
class LiveLab(Protocol):
    """A running lab, as far as checks use it."""

    def state(self) -> NetworkState:
        """The network as it is now, read back from the kernel."""
        ...

    def __getitem__(self, name: str, /) -> LiveNode:
        """The node called ``name``."""
        ...


Checkable = LiveLab | NetworkState
"""What most checks take: a running lab, or a state that was read back from one."""


def state_of(lab: Checkable) -> NetworkState:
    """The network as it is now. Raises LabError if ``lab`` is neither a lab nor a state."""
    if isinstance(lab, NetworkState):
        return lab
    if isinstance(lab, LiveLab):
        return lab.state()
    raise LabError(f"this check got a {type(lab).__name__}: give it the lab that linklab.start returned")


def running(lab: Checkable) -> LiveLab:
    """The lab itself, for checks that run commands in it. Raises LabError if it is only a state."""
    if isinstance(lab, NetworkState) or not isinstance(lab, LiveLab):
        raise LabError(
            f"this check sends packets and got a {type(lab).__name__}: give it the lab that linklab.start returned"
        )
    return lab
