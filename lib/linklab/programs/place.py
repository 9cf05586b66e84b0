"""Where a program is tried: in a lab of its own on virtual time, where waiting costs nothing."""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Callable
from typing import Any, Final

from linklab import lab as labs
from linklab.errors import LabError
from linklab.files import temporary_folder
from linklab.network import Network
from linklab.programs.engine import in_lab
from linklab.programs.submission import SubmittedProgram
from linklab.runtime import container
from linklab.runtime.backends import choose

STALL_CPU_S: Final = 7.0
"""A scene that has cost a lab so much computing makes no progress: ordinary ones cost 1 to 2.6 s."""
STALL_STARTS: Final = 8.0
"""The same on a slow processor, in starts of the lab: an ordinary scene costs up to twice what a start costs."""
_WALL_SHARE: Final = 12.0
"""On a busy machine a scene may last so many times that many seconds by the wall's clock."""
_GRACE_S: Final = 2.0


class LabPlace:
    """A lab with this network on virtual time, which starts with its first scene. Raises LabError where none can.

    ``started`` is called with each lab before its first scene. A scene may cost ``stall_cpu_s`` of computing,
    `STALL_CPU_S` where nothing is said.
    """

    def __init__(
        self,
        program: SubmittedProgram,
        network: Network,
        started: Callable[[labs.Lab], object] = lambda _: None,
        stall_cpu_s: float | None = None,
    ) -> None:
        choose()
        self._stall_cpu_s = STALL_CPU_S if stall_cpu_s is None else stall_cpu_s
        self._program, self._network, self._prepared = program, network, started
        self._opened = contextlib.ExitStack()
        self._lab: labs.Lab | None = None
        self._limit_s = self._stall_cpu_s
        self._python = ""

    @property
    def title(self) -> str:
        """Where the program runs, and by which Python, for reports."""
        return f"in a lab on virtual time{self._python and f', by Python {self._python}'}"

    def _started(self) -> labs.Lab:
        if self._lab is None:
            folder = self._opened.enter_context(temporary_folder())
            # inside a container's walls students try their own programs, and nobody is graded
            untrusted = not container.chosen()
            # traced: relay and record are in the guest too, and who becomes its kernel could write them anew
            self._lab = labs.start(self._network, folder=folder, untrusted=untrusted, traced=True)
            hosts, program = [host.name for host in self._network.hosts], self._program
            self._python = self._lab.process.call(in_lab.prepare, hosts, program.encoded(), program.packages)
            self._prepared(self._lab)
            self._limit_s = max(self._stall_cpu_s, STALL_STARTS * self._lab.process.cpu_s())
        return self._lab

    def play(self, plan: dict[str, Any]) -> dict[str, Any]:
        """Play a scene (`linklab.programs.engine.scene`) and return its record.

        A scene that fails is played once more in a lab made anew. Raises LabError where it fails there too.
        """
        try:
            return self._play(plan)
        except LabError:
            self.close()
            return self._play(plan)

    def _play(self, plan: dict[str, Any]) -> dict[str, Any]:
        """Play a scene. After one that stalled the next one gets a fresh lab."""
        if self._lab is not None and not self._lab.process.running:
            # it died between two scenes: that is no stall of this one's
            self.close()
        process = self._started().process
        watch = _Watch(process.cpu_s, self._limit_s, process.stop)
        try:
            record: dict[str, Any] = process.call(in_lab.play, plan, on_event=watch.hear, stop=watch.stalled)
        except (LabError, KeyboardInterrupt) as ended:
            if not watch.fired and (process.running or isinstance(ended, KeyboardInterrupt)):
                raise
            # the program has taken the whole lab along, or the limit was over before the scene began
            self.close()
            return _lost(watch)
        finally:
            watch.done()
        if record["stalled"]:
            self.close()
            if not watch.fired:
                raise KeyboardInterrupt
            if watch.is_late:
                record["by"] = []
        return record

    def close(self) -> None:
        """End the lab, with everything in it. The next scene starts another one."""
        if self._lab is not None:
            self._lab.stop()
            self._lab = None
        self._opened.close()


def _lost(watch: _Watch) -> dict[str, Any]:
    """Return the record of a scene that was lost with its lab. It says only which programs ran."""
    return {
        "server": None,
        "listening": [],
        "alive": False,
        "restarted": None,
        "acts": [],
        "relay": [],
        "datagrams": None,
        "listeners": {},
        "stalled": True,
        "by": [] if watch.is_late else watch.running,
        "end_s": 0.0,
    }


class _Watch:
    """Watches how much a lab computes for one request: its own clock cannot tell, for it stands still meanwhile."""

    def __init__(self, cpu_s: Callable[[], float], limit_s: float, end: Callable[[], None]) -> None:
        """Begin. ``cpu_s`` tells how many seconds the lab has computed so far, and fewer once it has ended.

        ``end`` ends the lab: a program that only computes leaves the guest no moment to hear anything else.
        """
        self._cpu_s, self._limit_s, self._end = cpu_s, limit_s, end
        self._from_s = cpu_s()
        self._spent_s = 0.0
        self._began_s = time.monotonic()
        self.fired = False
        self.is_late = False
        """Whether it was the wall's clock that ended the scene: then this machine was busy, and no program to blame."""
        self.running: list[str] = []
        self._timer: threading.Timer | None = None

    def hear(self, running: list[str]) -> None:
        """Keep whose programs run now, "server" or "client"."""
        self.running = running

    def stalled(self) -> bool:
        """Return True once the lab has computed, or the scene has lasted, too long."""
        self._spent_s = max(self._spent_s, self._cpu_s() - self._from_s)
        took_s = time.monotonic() - self._began_s
        if not self.fired and (self._spent_s > self._limit_s or took_s > _WALL_SHARE * self._limit_s):
            self.fired = True
            self.is_late = self._spent_s <= self._limit_s
            self._timer = threading.Timer(_GRACE_S, self._end)
            self._timer.daemon = True
            self._timer.start()
        return self.fired

    def done(self) -> None:
        """Stop watching when the request has been answered."""
        if self._timer is not None:
            self._timer.cancel()
