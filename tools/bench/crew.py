"""The benchmark's labs: one a core, each in a guest, all ended whatever happens."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor, wait
from pathlib import Path
from typing import Any, TypeVar

from linklab.lab import Lab
from linklab.labs import Labs
from linklab.runtime.backends import KindName, choose
from linklab.runtime.client import LabProcess
from linklab.units import Clock, SwitchName

Item = TypeVar("Item")
Given = TypeVar("Given")
_WALL_LIMIT_S = 1200.0


class Crew(Labs):
    """Labs in guests, which end when it ends itself; none of the benchmark's writes into their folder."""

    def __init__(self, folder: Path) -> None:
        """`folder` is where labs may write; each gets it whole."""
        super().__init__(folder, _WALL_LIMIT_S, "the benchmark")

    def start(
        self,
        network: Any,
        clock: Clock = "virtual",
        switch: SwitchName = "bridge",
        kind: KindName | None = "guest",
        seed: int = 0,
        controller: str | None = None,
    ) -> Lab:
        """A lab in a guest, as `linklab.start` makes it. Raises `LabError`."""
        return super().start(network, clock, switch, kind, seed, controller)

    def boot(self, clock: Clock = "virtual") -> LabProcess:
        """A lab process without a network. Raises `LabError`."""
        process = LabProcess.spawn(choose(clock, "guest"), self.folder, _WALL_LIMIT_S)
        self.watch(process)
        return process

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

    def __enter__(self) -> Crew:
        return self

    def __exit__(self, *_: object) -> None:
        self.end()
