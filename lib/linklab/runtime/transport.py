"""The way from a client to a lab: what all ways have in common, and a lab that somebody lends (`BorrowedLab`).

Where :data:`VARIABLE` names a Unix socket, labs are borrowed there: a notebook that is graded runs where no guest can
be started. Its requests go over the socket to the judge (:mod:`linklab.grading.broker`), who starts guests, hands
requests on and answers back as they are.
"""

from __future__ import annotations

import contextlib
import socket
from dataclasses import dataclass
from typing import Final

from linklab import errors
from linklab.errors import LabError
from linklab.guest.channel import Channel, ChannelClosed, ChannelTimeout, ClientEnd, Message
from linklab.runtime.backends import Kind
from linklab.runtime.console import Console

VARIABLE: Final = "LINKLAB_LABS"
"""The environment variable that names the lender's socket."""
BOOT_LIMIT_S: Final = 30.0
LONGER_S: Final = 30.0
"""How much longer than asked a borrower waits: the lender looks on the wall clock too, and says what is wrong."""


@dataclass(frozen=True)
class LabFacts:
    """What is known of a lab when it has booted. `clock_s` is its own clock then."""

    kind: Kind
    kernel_release: str
    clock_s: float
    memory_mb: int


class Transport:
    """The way to a lab that has booted: messages over `channel`, and what a client needs to know and to do besides.

    What is said here holds for a lab whose processes are not this machine's, or whose guest stops and goes on by
    itself.
    """

    channel: ClientEnd
    about: LabFacts
    group_pid = 0
    """The process group of the lab on this machine; 0 where it has none here."""

    @property
    def running(self) -> bool:
        """Whether the lab can still be asked. True where only its next answer tells."""
        return True

    def resume(self) -> None:
        """Let the lab's time pass."""

    def pause(self) -> None:
        """Stop the lab's time."""

    def force_interrupt(self) -> None:
        """Make a lab that computes look at what arrived."""

    def cpu_s(self) -> float:
        """Return how long the lab's processes have had a core so far, in seconds; 0 where that cannot be seen here."""
        return 0.0

    def killed_for_memory(self, answer: Message) -> list[str]:
        """Return the programs that were ended since the last answer because the lab's memory was full."""
        return [str(program) for program in answer.get("killed", [])]

    def console_tail(self) -> str:
        """Return the last lines that the guest's kernel or the tools around it wrote, as one line."""
        return ""

    def hang_up(self) -> None:
        """End the lab, or give it back, and return when it is gone. A request that waits for an answer is woken."""
        raise NotImplementedError

    def close(self) -> None:
        """Close what the connection took. Only after `hang_up`, and when no request runs."""
        raise NotImplementedError


class OwnLab(Transport):
    """A lab whose processes this process has started. `pid` is that of the first of them."""

    pid: int
    console: Console

    def cpu_s(self) -> float:
        """Return how long the lab's processes have had a core so far, in seconds."""
        from linklab import process_tree  # psutil, which few labs need

        return process_tree.tree_cpu_s(self.pid)

    def killed_for_memory(self, answer: Message) -> list[str]:
        """Return those that the guest's kernel told of on the console."""
        return self.console.killed_for_memory()

    def console_tail(self) -> str:
        """Return the console's last lines."""
        return self.console.tail()

    def end(self) -> None:
        """End the lab, and close what the connection took."""
        self.hang_up()
        self.close()


class BorrowedLab(Transport):
    """A lab on the lender's side, to be used as one's own. `number` is what the lender calls it."""

    def __init__(self, lender: str, wall_limit_s: float, seed: int) -> None:
        """Ask for a lab and return when it answers. Raises `LabError` where the lender gives none."""
        self._ours = connected(lender)
        self.channel = Channel(self._ours.fileno(), self._ours.fileno())
        try:
            self.channel.send({"want": "lab", "wall_limit_s": wall_limit_s, "seed": str(seed)})
            ready = self.channel.receive(2 * BOOT_LIMIT_S + LONGER_S)
            if "error" in ready:
                raise errors.BY_NAME.get(ready["kind"], LabError)(ready["error"])
            self.number = int(ready["number"])
            lent = Kind(ready["name"])
            self.about = LabFacts(lent, ready["kernel"], ready["clock_s"], ready["memory_mb"])
        except (ChannelClosed, ChannelTimeout):
            self._ours.close()
            raise LabError("no lab could be had here: the lender did not answer") from None
        except BaseException:
            self._ours.close()
            raise

    def hang_up(self) -> None:
        """Give the lab back, which ends it."""
        with contextlib.suppress(OSError):
            self._ours.shutdown(socket.SHUT_RDWR)

    def close(self) -> None:
        """Close the connection."""
        self._ours.close()


def connected(lender: str) -> socket.socket:
    """Return a connection to the lender. Raises `LabError` where nobody is there."""
    ours = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        ours.connect(lender)
    except OSError as error:
        ours.close()
        raise LabError(f"no lab could be had here: {lender}: {error.strerror}") from None
    return ours
