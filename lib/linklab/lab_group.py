"""Start labs side by side from several threads, and end all of them whatever happens."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import linklab
from linklab.errors import LabError
from linklab.lab import Lab
from linklab.runtime.client import LabProcess
from linklab.units import SwitchName


class Labs:
    """Starts labs, also from several threads at once, and ends all that still run when it is told to."""

    def __init__(self, folder: Path, wall_limit_s: float) -> None:
        """`folder` is where labs may write; each gets it whole."""
        self.folder, self.wall_limit_s = folder, wall_limit_s
        self._running: set[Lab | LabProcess] = set()
        self._lock = threading.Lock()
        self.ended = False
        """Whether no lab can be started any more."""

    def start(
        self,
        network: Any,
        switch: SwitchName = "bridge",
        seed: int = 0,
        controller: str | None = None,
    ) -> Lab:
        """Return a lab, as `linklab.start` makes it; one with a controller may read the present folder.

        Raises LabError, also when all labs were ended meanwhile.
        """
        lab = linklab.start(
            network,
            switch=switch,
            controller=controller,
            folder=self.folder,
            wall_limit_s=self.wall_limit_s,
            seed=seed,
            reads=[Path.cwd()] if controller else (),
        )
        self.watch(lab)
        return lab

    @contextlib.contextmanager
    def lab(
        self,
        network: Any,
        switch: SwitchName = "bridge",
        seed: int = 0,
        controller: str | None = None,
    ) -> Iterator[Lab]:
        """Give a lab for the time of a block. Raises LabError, as `start`."""
        lab = self.start(network, switch, seed, controller)
        try:
            yield lab
        finally:
            self.stop(lab)

    def watch(self, lab: Lab | LabProcess) -> None:
        """Make `end` end this lab too. If `end` was called already, end the lab at once and raise LabError."""
        with self._lock:
            if not self.ended:
                self._running.add(lab)
                return
        lab.stop()
        raise LabError("the study was ended")

    def stop(self, lab: Lab | LabProcess) -> None:
        """End one lab."""
        lab.stop()
        with self._lock:
            self._running.discard(lab)

    def end(self) -> None:
        """End all labs, and every one that is started from now on."""
        with self._lock:
            self.ended = True
            running = list(self._running)
            self._running.clear()
        for lab in running:
            lab.stop()
