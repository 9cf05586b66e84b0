"""Where two recorded runs part: the first packet that fares otherwise."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from itertools import zip_longest
from typing import Final

from linklab.measure import Recording
from linklab.measure.recordings import PacketHop
from linklab.show.player.columns import PlayedRun

_SAME_NS: Final = 100_000
"""Runs that began at another moment differ by some steps of the clock: so much is taken for the same."""


@dataclass(frozen=True)
class RunDifference:
    """The packet that fares otherwise first in two runs: its number in each (None where that run has none), when they
    part, in ns since each run's first packet, and how, in a sentence.
    """

    packets: tuple[int | None, int | None]
    at_ns: int
    words: str


def first_packet_apart(one: PlayedRun, two: PlayedRun) -> RunDifference | None:
    """Return where two runs part; None where every packet of the one fares as it does in the other.

    The packets of each flow are compared in the order in which they were sent, in each direction: by their sizes, by
    where they pass, when, to a tenth of a millisecond since the run's first packet, and how they end.
    """
    found: list[RunDifference] = []
    paths = [_paths(run.recording) for run in (one, two)]
    sequences = [_sequences(run) for run in (one, two)]
    for flow in dict.fromkeys([*sequences[0], *sequences[1]]):
        for packets in zip_longest(*(sequence.get(flow, []) for sequence in sequences)):
            hops = [path[number] if number is not None else [] for path, number in zip(paths, packets, strict=True)]
            differs = _differs(hops[0], hops[1], one.begin_ns, two.begin_ns)
            if differs is not None:
                at_ns, words = differs
                first, second = packets
                found.append(RunDifference((first, second), at_ns, f"{flow[0]}: {words}"))
                break
    return min(found, key=lambda each: each.at_ns, default=None)


def _paths(recording: Recording) -> dict[int, list[PacketHop]]:
    """Return the hops of each packet, without the copies that a switch sends to all before it knows where a host is."""
    found: defaultdict[int, list[PacketHop]] = defaultdict(list)
    for hop in sorted(recording.hops, key=lambda it: (it.queued_ns, it.interface)):
        if hop.discarded != "OTHERHOST":
            found[hop.packet].append(hop)
    return found


def _sequences(run: PlayedRun) -> dict[tuple[str, bool], list[int]]:
    """Return the packets of each flow and direction, in their order.

    Ports and congestion controls may differ from run to run, so the flows of a pair of nodes are told apart by their
    order.
    """
    found: dict[tuple[str, bool], list[int]] = {}
    seen: defaultdict[str, int] = defaultdict(int)
    for flow in sorted(run.flows, key=lambda it: min([*it.forward, *it.back])):
        protocol, *ends = flow.name.split(" ")
        name = " ".join(word.partition(":")[0] for word in (protocol, *ends[-3:]))
        seen[name] += 1
        title = name if seen[name] == 1 else f"{name}, number {seen[name]}"
        found[title, True], found[title, False] = flow.forward, flow.back
    return found


def _differs(
    one: list[PacketHop], two: list[PacketHop], begin_one_ns: int, begin_two_ns: int
) -> tuple[int, str] | None:
    """Return when a packet's two paths part, in ns since the first packet, and how; None where they do not."""
    for here, there in zip_longest(one, two):
        if here is None or there is None:
            hop, begin_ns, where = (here, begin_one_ns, "first") if there is None else (there, begin_two_ns, "second")
            others = two if there is None else one
            what = f"the packet passes {hop.interface} in the {where} run alone"
            if not others:
                what = f"the {where} run alone has this packet, at {hop.interface}"
            return hop.queued_ns - begin_ns, what
        times = here.queued_ns - begin_one_ns, there.queued_ns - begin_two_ns
        at_ns = min(times)
        if here.interface != there.interface:
            return at_ns, f"it goes by {here.interface} in the first run, and by {there.interface} in the second"
        if here.length_bytes != there.length_bytes:
            return at_ns, f"it has {here.length_bytes} bytes in the first run, and {there.length_bytes} in the second"
        if abs(times[0] - times[1]) > _SAME_NS:
            return at_ns, f"it comes to {here.interface} {_apart(times[1] - times[0])} in the second run"
        if here.lost != there.lost:
            lost, other = ("first", "second") if here.lost else ("second", "first")
            return at_ns, f"it is lost at {here.interface} in the {lost} run, and not in the {other}"
        left = [None if hop.left_ns is None else hop.left_ns - hop.queued_ns for hop in (here, there)]
        if left[0] is not None and left[1] is not None and abs(left[0] - left[1]) > _SAME_NS:
            return at_ns, f"it leaves {here.interface} {_apart(left[1] - left[0])} in the second run"
    return None


def _apart(ns: int) -> str:
    return f"{abs(ns) / 1e6:.3f} ms {'later' if ns > 0 else 'earlier'}"
