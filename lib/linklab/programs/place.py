"""Where a program is tried: a lab network of its own."""

from __future__ import annotations

import tempfile
import threading
import time
from collections.abc import Callable
from typing import Any, Final, Protocol

from linklab import lab as labs
from linklab.errors import LabError
from linklab.network import End, Host, Link, Network, Subnet, Switch
from linklab.programs import in_lab
from linklab.programs.simpleperf.submission import Submission
from linklab.runtime import container
from linklab.runtime.backends import choose

RATE_MBPS: Final = 8.0
PACE_MBPS: Final = 8.0
"""What the relay is to let through to the server, of application data."""
DELAY_MS: Final = 10.0
_FAST_MBPS: Final = 100.0

NETWORK: Final = Network(
    name="simpleperf-check",
    nodes=(Host("client"), Host("server"), Host("relay"), Switch("s1")),
    links=(
        *(
            Link(End(name, f"{name}-eth0", f"10.9.0.{number}/24"), End("s1", f"s1-eth{number}"), "", _FAST_MBPS, 0.5)
            for number, name in enumerate(("client", "server", "relay"), 1)
        ),
        Link(
            End("client", "client-eth1", "10.9.1.1/24"),
            End("server", "server-eth1", "10.9.1.2/24"),
            name="shaped",
            rate_mbps=RATE_MBPS,
            delay_ms=DELAY_MS,
            queue_packets=50,
        ),
    ),
    subnets=(Subnet("lan", "10.9.0.0/24"), Subnet("shaped", "10.9.1.0/24")),
)
"""Client and server, joined by a shaped link and by a fast network, on which the relay is a third."""

STALL_CPU_S: Final = 7.0
"""A scene that has cost a lab so much computing makes no progress: ordinary ones cost 1 to 2.6 s."""
STALL_STARTS: Final = 8.0
"""The same on a slow processor, in starts of the lab: an ordinary scene costs up to twice what a start costs."""
_WALL_SHARE: Final = 12.0
"""And no more of the wall's clock than so many times that, on however busy a machine."""
_GRACE_S: Final = 2.0


class Place(Protocol):
    """Plays scenes. ``server`` and ``relay`` are addresses; ``shaped`` is the server's at the end of the shaped link.
    ``virtual``: its clock jumps while all wait, so that who waits costs nobody anything.
    """

    virtual: bool
    title: str

    @property
    def server(self) -> str:
        """The server's address on the fast network."""
        ...

    @property
    def relay(self) -> str:
        """The relay's."""
        ...

    @property
    def shaped(self) -> str:
        """The server's at the end of the shaped link."""
        ...

    def play(self, plans: list[dict[str, Any]]) -> list[dict[str, Any]]:
        """Plays scenes (:mod:`linklab.programs.scene`), up to the first that stalls."""
        ...

    def close(self) -> None:
        """Ends it, with everything in it."""
        ...


class SteadyPlace:
    """A place that outlives its lab: with it one scene is lost, which is played once more in a fresh one.

    Raises LabError where none can be made, and where a scene fails in a fresh one.
    """

    def __init__(self, make: Callable[[], Place]) -> None:
        self._make = make
        self._place = make()
        self.virtual, self.title = self._place.virtual, self._place.title
        self._closed = False

    @property
    def server(self) -> str:
        """As `Place.server`."""
        return self._place.server

    @property
    def relay(self) -> str:
        """As `Place.relay`."""
        return self._place.relay

    @property
    def shaped(self) -> str:
        """As `Place.shaped`."""
        return self._place.shaped

    def play(self, plans: list[dict[str, Any]]) -> list[dict[str, Any]]:
        """As `Place.play`."""
        if self._closed:
            self._renew()
        try:
            return self._place.play(plans)
        except LabError:
            self._renew()
            return self._place.play(plans)

    def _renew(self) -> None:
        self.close()
        self._place = self._make()
        self._closed = False

    def close(self) -> None:
        """As `Place.close`."""
        if not self._closed:
            self._closed = True
            self._place.close()


class LabPlace:
    """A lab on virtual time, started with its first scene. Raises LabError where there can be none."""

    virtual = True
    title = "in a lab on virtual time"
    server, relay, shaped = "10.9.0.2", "10.9.0.3", "10.9.1.2"

    def __init__(self, submission: Submission, network: Network = NETWORK) -> None:
        """``network`` is where the program is tried; of the addresses above only simpleperf's has all."""
        self._submission, self._network = submission, network
        self._lab: labs.Lab | None = None
        self._limit_s = STALL_CPU_S
        choose()
        self._folder = tempfile.TemporaryDirectory(prefix="linklab-check-")

    def _started(self) -> labs.Lab:
        if self._lab is None:
            # inside a container's walls students try their own programs, and nobody is graded
            untrusted = not container.chosen()
            # traced: relay and record are in the guest too, and who becomes its kernel could write them anew
            self._lab = labs.start(self._network, folder=self._folder.name, untrusted=untrusted, traced=True)
            self._lab.process.call(
                in_lab.prepare,
                [host.name for host in self._network.hosts],
                self._submission.encoded(),
                self._submission.packages is not None,
            )
            self._limit_s = max(STALL_CPU_S, STALL_STARTS * self._lab.process.cpu_s())
        return self._lab

    def play(self, plans: list[dict[str, Any]]) -> list[dict[str, Any]]:
        """As `Place.play`. After a scene that stalled the next one gets a fresh lab."""
        if self._lab is not None and not self._lab.process.running:
            # it died between two scenes: that is no stall of this one's
            self._end_lab()
        process = self._started().process
        watch = _Watch(process.cpu_s, self._limit_s, process.stop)
        try:
            records = process.call(in_lab.play, plans, on_event=watch.hear, stop=watch.stalled)
        except (LabError, KeyboardInterrupt) as ended:
            if not watch.fired and (process.running or isinstance(ended, KeyboardInterrupt)):
                raise
            # the program has taken the whole lab along, or the limit was over before the scene began
            self._end_lab()
            return [_lost(watch)]
        finally:
            watch.done()
        if records[-1]["stalled"]:
            self._end_lab()
            if not watch.fired:
                raise KeyboardInterrupt
        return records

    def _end_lab(self) -> None:
        if self._lab is not None:
            self._lab.stop()
            self._lab = None

    def close(self) -> None:
        """Ends the lab."""
        self._end_lab()
        self._folder.cleanup()


def _lost(watch: _Watch) -> dict[str, Any]:
    """The record of a scene that went with its lab: no more is known than which programs ran."""
    return {
        "server": None,
        "listening": [],
        "alive": False,
        "restarted": None,
        "acts": [],
        "relay": [],
        "datagrams": None,
        "listeners": [],
        "stalled": True,
        "by": watch.running,
        "end_s": 0.0,
    }


class _Watch:
    """Looks how much computing a lab does for one request: its own clock cannot tell, it stands still meanwhile."""

    def __init__(self, cpu_s: Callable[[], float], limit_s: float, end: Callable[[], None]) -> None:
        """``cpu_s`` tells how much the lab has computed so far, in seconds, and less once it has ended. ``end`` ends
        it: a program that only computes leaves the guest no moment to hear anything else.
        """
        self._cpu_s, self._limit_s, self._end = cpu_s, limit_s, end
        self._from_s = cpu_s()
        self._spent_s = 0.0
        self._began_s = time.monotonic()
        self.fired = False
        self.running: list[str] = []
        self._timer: threading.Timer | None = None

    def hear(self, running: list[str]) -> None:
        """Keep whose programs run now, "server" or "client"."""
        self.running = running

    def stalled(self) -> bool:
        """Whether it is too much."""
        self._spent_s = max(self._spent_s, self._cpu_s() - self._from_s)
        took_s = time.monotonic() - self._began_s
        if not self.fired and (self._spent_s > self._limit_s or took_s > _WALL_SHARE * self._limit_s):
            self.fired = True
            self._timer = threading.Timer(_GRACE_S, self._end)
            self._timer.daemon = True
            self._timer.start()
        return self.fired

    def done(self) -> None:
        """The request has been answered."""
        if self._timer is not None:
            self._timer.cancel()
