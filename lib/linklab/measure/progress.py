"""How far a run has come, for whoever watches it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from linklab.measure.flows import Flow, PingFlow, SimpleperfFlow, TcpFlow
from linklab.measure.results import Sample
from linklab.measure.simpleperf_rows import clean, intervals


@dataclass(frozen=True)
class Progress:
    """`done_s` of about `total_s` seconds of the lab's time are over; both 0 while tools get ready.

    `flows` are those that run. `curves` has the intervals so far, by flow and connection, of those tools that print
    them while they run: simpleperf does, iperf3 with ``--json`` tells all at its end.
    """

    flows: tuple[Flow, ...]
    done_s: float
    total_s: float
    curves: Mapping[str, tuple[Sample, ...]]

    @property
    def share(self) -> float:
        """From 0 to 1."""
        return min(1.0, self.done_s / self.total_s) if self.total_s else 0.0

    @property
    def words(self) -> str:
        """What runs, in a line."""
        return ", ".join(map(title, self.flows))


OnProgress = Callable[[Progress], object]
Stop = Callable[[], bool]


def title(flow: Flow) -> str:
    """A flow's name for people: ``ping h1-h4``."""
    kind = {PingFlow: "ping", SimpleperfFlow: "simpleperf", TcpFlow: "TCP"}.get(type(flow), "UDP")
    return f"{kind} {flow.source}-{flow.destination}"


def curves(flows: Sequence[Flow], said: Sequence[str]) -> dict[str, tuple[Sample, ...]]:
    """The intervals in what the tools have printed so far, whole lines only. Pure."""
    found = {}
    for flow, text in zip(flows, said, strict=True):
        if isinstance(flow, SimpleperfFlow) and flow.interval_s is not None:
            lines = clean(text).split("\n")[:-1]
            for name, samples in intervals(lines).items():
                found[f"{flow.source}-{flow.destination} {name}"] = samples
    return found
