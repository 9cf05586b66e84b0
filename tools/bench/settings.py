"""How much is measured: the full benchmark, and a quick look."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from tools.bench.findings import Record


@dataclass(frozen=True)
class Settings:
    """The amounts of one run; durations in the lab's own seconds."""

    quick: bool = False
    repeats: int = 10
    """How often fidelity is measured under each condition; the other parts derive theirs from it."""
    folder: Path = Path("bench-results")
    """What labs may write to: an empty folder of the benchmark's own."""
    cores: int = 1
    earlier: tuple[Record, ...] = ()
    """Fidelity's records of an earlier benchmark, to compare with."""

    def tcp_s(self, is_link: bool) -> int:
        """How long a TCP transfer of the fidelity part lasts on virtual time.

        Slow start costs about 0.2 s of it, and what is asked of TCP on a link (98 % of the ceiling) includes that.
        """
        return 10 if is_link else (3 if self.quick else 5)

    @property
    def udp_s(self) -> int:
        """How long datagrams are sent on virtual time."""
        return 1 if self.quick else 2

    @property
    def pings(self) -> int:
        """How many pings make a round trip's mean on virtual time."""
        return 10 if self.quick else 26

    @property
    def real_repeats(self) -> int:
        """Real time is for the contrast, and every second of it takes one."""
        return max(1, self.repeats // 5)

    @property
    def real_s(self) -> int:
        """How long transfers last in real time."""
        return 1 if self.quick else 3

    @property
    def real_pings(self) -> int:
        """How many pings are sent in real time."""
        return 5 if self.quick else 10

    @property
    def sizes(self) -> tuple[int, ...]:
        """The numbers of nodes (hosts and switches) of the chains and trees."""
        return (10, 50) if self.quick else (10, 50, 100, 200)

    def start_repeats(self, nodes: int) -> int:
        """How often a network of this size is started: plain Mininet takes minutes for the largest."""
        most = 1 if nodes >= 100 or self.quick else (2 if nodes >= 50 else 3)
        return min(self.repeats, most)

    @property
    def course_repeats(self) -> int:
        """How often the course network is started each way."""
        return min(self.repeats, 2 if self.quick else 5)

    @property
    def case_s(self) -> int:
        """How long each flow of the five test cases lasts: 25 s in the report they come from."""
        return 3 if self.quick else 25

    @property
    def speed_s(self) -> int:
        """How long each load of the speed part lasts."""
        return 3 if self.quick else 10


def settings(quick: bool, repeats: int | None, folder: Path, earlier: Sequence[Record] = ()) -> Settings:
    """The settings of one run; `repeats` None leaves them to `quick`."""
    return Settings(quick, repeats or (2 if quick else 10), folder, len(os.sched_getaffinity(0)), tuple(earlier))
