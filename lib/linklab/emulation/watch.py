"""Watching measurements from inside: what the network has counted, and several programs followed to their end.

Each function runs inside the lab, called by the agent with its `Context`.
"""

from __future__ import annotations

import time
from typing import Any

from mininet.net import Mininet

from linklab.emulation import processes
from linklab.emulation.commands import network
from linklab.emulation.namespace import Namespace, namespace_of
from linklab.emulation.netlink import links, qdisc
from linklab.emulation.readback import read_state
from linklab.runtime.agent import Context, Interrupted

_TICK_S = 1.0
_REAL_TICK_S = 0.1
_SLEEP_S = 0.002
_LOOK_S = 0.01
_REORDERINGS = ("TCPSACKReorder", "TCPRenoReorder", "TCPTSReorder")


def look(context: Context, with_state: bool) -> dict[str, Any]:
    """The counters of all shaped interfaces, how often TCP noticed reordering on any host, and the lab's clock.

    `with_state` also reads the network back.
    """
    net = network(context)
    owners = {intf.name: node.name for node in (*net.hosts, *net.switches) for intf in node.intfList()}
    queues, reorderings = [], 0
    for there in _namespaces(net):
        shaped = list(qdisc.counted(there.kernel))
        names = {device.index: device.name for device in links.devices(there.kernel)} if shaped else {}
        for counted in shaped:
            name = names.get(counted.index, str(counted.index))
            queues.append(
                {
                    "node": owners.get(name, ""),
                    "interface": name,
                    "sent_packets": counted.sent_packets,
                    "sent_bytes": counted.sent_bytes,
                    "dropped_packets": counted.dropped_packets,
                    "overlimits": counted.overlimits,
                    "backlog_packets": counted.backlog_packets,
                }
            )
        with there.entered(), open("/proc/thread-self/net/netstat", encoding="ascii") as table:
            reorderings += _sum_of(table.read(), _REORDERINGS)
    state = read_state(net).to_json() if with_state else None
    return {"queues": queues, "reorderings": reorderings, "state": state, "now_s": time.monotonic()}


def _namespaces(net: Mininet) -> list[Namespace]:
    return list({namespace_of(node).number: namespace_of(node) for node in (*net.hosts, *net.switches)}.values())


def _sum_of(netstat: str, names: tuple[str, ...]) -> int:
    """The counters of these names in /proc/net/netstat: a line of names, then a line of numbers."""
    lines = netstat.splitlines()
    total = 0
    for heading, values in zip(lines[::2], lines[1::2], strict=True):
        table = dict(zip(heading.split()[1:], values.split()[1:], strict=True))
        total += sum(int(table[name]) for name in names if name in table)
    return total


def follow(context: Context, numbers: list[int], limit_s: float) -> str:
    """Waits until these programs have ended, at most `limit_s` of the lab's time: "done", "timeout" or "interrupted".

    Each second of the lab's time, and once more in the end, it emits what the programs have said since, and the
    status of those that have ended. In real time it also sleeps for 2 ms ten times a second and tells how much later
    than asked it woke up: the kernel's timers that delay and pace packets are as late. In between it never waits longer
    than 10 ms, so that a moment in which nothing ran is seen whenever it comes (``longest_late_ms``).
    """
    news = _News(numbers)
    begin_s = time.monotonic()
    outcome, end_s, due_s, sleep_s = "done", begin_s + limit_s, begin_s + _TICK_S, begin_s
    try:
        while running := [number for number in numbers if news.statuses[number] is None]:
            now_s = time.monotonic()
            if now_s >= end_s:
                outcome = "timeout"
                break
            if now_s >= due_s:
                context.emit(news.taken(now_s - begin_s))
                due_s += _TICK_S
                continue
            wake_s = min(due_s, end_s)
            if context.clock == "real":
                if now_s >= sleep_s:
                    news.late_ms.append(_lateness_ms())
                    sleep_s = now_s + _REAL_TICK_S
                wake_s = min(wake_s, sleep_s, now_s + _LOOK_S)
            fds = {fd: number for number in running for fd in context.state["programs"][number].open_fds}
            ready = context.poll(fds, max(0.0, wake_s - time.monotonic()))
            if context.clock == "real":
                news.longest_late_ms = max(news.longest_late_ms, 1000 * (time.monotonic() - wake_s))
            # one that has closed its output but still runs is looked at each time
            for number in sorted({*(fds[fd] for fd in ready), *(set(running) - set(fds.values()))}):
                news.hear(number, processes.read(context, number, 0.0, "output"))
    except Interrupted:
        outcome = "interrupted"
    context.emit(news.taken(time.monotonic() - begin_s))
    return outcome


class _News:
    """What programs have said and come to since it was last told."""

    def __init__(self, numbers: list[int]) -> None:
        self.statuses: dict[int, int | None] = dict.fromkeys(numbers)
        self.late_ms: list[float] = []
        self.longest_late_ms = 0.0
        self._said: dict[int, str] = {}

    def hear(self, number: int, answer: dict[str, Any]) -> None:
        self.statuses[number] = answer["status"]
        if answer["output"]:
            self._said[number] = self._said.get(number, "") + answer["output"]

    def taken(self, done_s: float) -> dict[str, Any]:
        """As JSON, and then it is no news any more."""
        ended = {str(number): status for number, status in self.statuses.items() if status is not None}
        said, late_ms = {str(number): text for number, text in self._said.items()}, self.late_ms
        longest_late_ms = max((self.longest_late_ms, *late_ms))
        self._said, self.late_ms, self.longest_late_ms = {}, [], 0.0
        return {
            "done_s": done_s,
            "said": said,
            "statuses": ended,
            "late_ms": late_ms,
            "longest_late_ms": longest_late_ms,
        }


def _lateness_ms() -> float:
    before_s = time.monotonic()
    time.sleep(_SLEEP_S)
    return 1000 * (time.monotonic() - before_s - _SLEEP_S)
