"""Labs side by side, one a core, all ended whatever happens."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor, wait
from pathlib import Path
from typing import Any, Literal, TypeVar

import linklab
from linklab.errors import LabError
from linklab.lab import Lab
from linklab.runtime.kinds import choose
from linklab.runtime.process import LabProcess

Item = TypeVar("Item")
Given = TypeVar("Given")
_WALL_LIMIT_S = 1200.0


class Crew:
    """Starts labs, also from several threads at once, and ends all that still run when it ends itself."""

    def __init__(self, folder: Path) -> None:
        """`folder` is where labs may write; each gets it whole, and none of the benchmark's writes there."""
        self._folder = folder
        self._running: set[Lab | LabProcess] = set()
        self._lock = threading.Lock()
        self._ended = False

    def start(
        self,
        network: Any,
        clock: Literal["real", "virtual"] = "virtual",
        switch: Literal["bridge", "ovs", "ovs-user"] = "bridge",
    ) -> Lab:
        """A lab in a guest, as `linklab.start` makes it. Raises `LabError`."""
        kind: Literal["guest"] = "guest"
        lab = linklab.start(network, clock, switch=switch, kind=kind, folder=self._folder, wall_limit_s=_WALL_LIMIT_S)
        self._watch(lab)
        return lab

    def boot(self, clock: Literal["real", "virtual"] = "virtual") -> LabProcess:
        """A lab process without a network. Raises `LabError`."""
        process = LabProcess(choose(clock, "guest"), self._folder, _WALL_LIMIT_S)
        self._watch(process)
        return process

    def stop(self, lab: Lab | LabProcess) -> None:
        """Ends one."""
        lab.stop()
        with self._lock:
            self._running.discard(lab)

    @property
    def ended(self) -> bool:
        """Whether no lab can be started any more."""
        return self._ended

    def side_by_side(self, function: Callable[[Item], Given], items: Iterable[Item], workers: int) -> list[Given]:
        """Calls `function` with each item, `workers` of them at a time; what the calls gave, in order.

        Raises the first failure, or KeyboardInterrupt, once every lab has been ended and every call has returned.
        """
        with ThreadPoolExecutor(workers) as pool:
            futures = [pool.submit(function, item) for item in items]
            try:
                return [future.result() for future in futures]
            except BaseException:
                for future in futures:
                    future.cancel()
                self.end()
                wait(futures)
                raise

    def end(self) -> None:
        """Ends all labs, and every one that is started from now on."""
        with self._lock:
            self._ended = True
            running = list(self._running)
            self._running.clear()
        for lab in running:
            lab.stop()

    def _watch(self, lab: Lab | LabProcess) -> None:
        with self._lock:
            if not self._ended:
                self._running.add(lab)
                return
        lab.stop()
        raise LabError("the benchmark was ended")

    def __enter__(self) -> Crew:
        return self

    def __exit__(self, *_: object) -> None:
        self.end()
