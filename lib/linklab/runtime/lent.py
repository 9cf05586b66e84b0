"""Labs that somebody else starts: where :data:`VARIABLE` names a Unix socket, a notebook borrows them there.

A notebook that is graded runs where no guest can be started. Its requests go over the socket to the judge
(:mod:`linklab.grading.broker`), who starts guests, hands requests on and answers back as they are.
"""

from __future__ import annotations

import contextlib
import socket
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

from linklab import errors
from linklab.errors import LabError
from linklab.runtime.kinds import Kind, whole_seed
from linklab.runtime.process import BOOT_LIMIT_S, LabProcess
from linklab.runtime.wire import Channel, ChannelClosed, ChannelTimeout

VARIABLE: Final = "LINKLAB_LABS"
"""The environment variable that names the lender's socket."""
FRAME_BYTES: Final = 64 * 1024
_LONGER_S: Final = 30.0
"""The lender looks on the wall clock too, and says what is wrong."""


class LentProcess(LabProcess):
    """A lab process on the lender's side, to be used as one's own. `number` is what the lender calls it."""

    def __init__(
        self, lender: str, clock: str, kind: str | None, folder: Path | None, wall_limit_s: float, seed: int
    ) -> None:
        """Asks for a lab and returns when it answers. Raises `LabError` where the lender gives none."""
        self.folder, self.wall_limit_s, self.seed = folder, wall_limit_s + _LONGER_S, whole_seed(seed)
        self._lock = threading.RLock()
        self._requests, self._group, self._memory_mb = 0, 0, 0
        self._clock_s: list[float] = []
        self._stopped = False
        self._ended: list[str] = []
        self._ours = connected(lender)
        self._channel = Channel(self._ours.fileno(), self._ours.fileno(), frame_bytes=FRAME_BYTES)
        try:
            wanted = {"want": "lab", "clock": clock, "kind": kind, "wall_limit_s": wall_limit_s, "seed": str(self.seed)}
            self._channel.send(wanted)
            ready = self._channel.receive(2 * BOOT_LIMIT_S + _LONGER_S)
            if "error" in ready:
                raise getattr(errors, ready["kind"], LabError)(ready["error"])
            self.number = int(ready["number"])
            self.kind = Kind(ready["name"], ready["clock"])
            self.kernel_release, self._clock_s = ready["kernel"], [ready["clock_s"]]
            self.kernel_seeded = bool(ready["kernel_seeded"])
            self._memory_mb = ready["memory_mb"]
        except (ChannelClosed, ChannelTimeout):
            self.stop()
            raise LabError("no lab could be had here: the lender did not answer") from None
        except BaseException:
            self.stop()
            raise

    @property
    def running(self) -> bool:
        """Whether it was not given back yet."""
        return not self._stopped

    def _pause(self) -> None:
        """The lender does."""

    def _resume(self) -> None:
        """The lender does."""

    def _computed_s(self) -> float:
        """Nothing: the lender knows, and says so."""
        return 0.0

    def relay(
        self,
        request: dict[str, Any],
        on_event: Callable[[Any], None] | None,
        stop: Callable[[], bool] | None,
        on_print: Callable[[str], None] | None = None,
    ) -> tuple[dict[str, Any], bool]:
        """As a lab process of one's own."""
        answer, interrupted = super().relay(request, on_event, stop, on_print)
        self._ended = [str(program) for program in answer.get("killed", [])]
        return answer, interrupted

    def killed_for_memory(self) -> list[str]:
        """The programs that the last answer told of."""
        ended, self._ended = self._ended, []
        return ended

    def console_tail(self) -> str:
        """Nothing: the lender has it, and says what is of use."""
        return ""

    def stop(self) -> None:
        """Gives the lab back, which ends it. Calling it twice does no harm."""
        if self._stopped:
            return
        self._stopped = True
        with contextlib.suppress(OSError):
            self._ours.shutdown(socket.SHUT_RDWR)
        with self._lock:
            self._ours.close()


def connected(lender: str) -> socket.socket:
    """A connection to the lender. Raises `LabError` where nobody is there."""
    ours = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        ours.connect(lender)
    except OSError as error:
        ours.close()
        raise LabError(f"no lab could be had here: {lender}: {error.strerror}") from None
    return ours
