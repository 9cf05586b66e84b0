"""Controllers of many makes: honest ones of which theory says how they do, and hostile ones."""

from __future__ import annotations

from typing import Final

_NOTHING: Final = """
    def on_acknowledgement(self, now_ms, rtt_ms, acknowledged_packets, in_flight_packets):
        pass

    def on_loss(self, now_ms, sent_ms, lost_packets, in_flight_packets):
        pass

    def on_timeout(self, now_ms, in_flight_packets):
        pass
"""


def fixed(packets: float) -> str:
    """A window that never changes."""
    return f"class Controller:{_NOTHING}\n    def may_fly(self, now_ms):\n        return {packets}\n"


RENO: Final = '''
class Controller:
    """RFC 5681: slow start, then a packet a round trip, and half after a loss."""

    def __init__(self):
        self.window, self.threshold, self.reduced_ms = 10.0, float("inf"), 0.0

    def on_acknowledgement(self, now_ms, rtt_ms, acknowledged_packets, in_flight_packets):
        slow_start = self.window < self.threshold
        self.window += acknowledged_packets if slow_start else acknowledged_packets / self.window

    def on_loss(self, now_ms, sent_ms, lost_packets, in_flight_packets):
        if sent_ms > self.reduced_ms:
            self.window = self.threshold = max(self.window / 2, 2.0)
            self.reduced_ms = now_ms

    def on_timeout(self, now_ms, in_flight_packets):
        self.threshold, self.window = max(in_flight_packets / 2, 2.0), 1.0

    def may_fly(self, now_ms):
        return self.window
'''
RATE: Final = '''
from collections import deque


class Controller:
    """As much as the link delivered in a round trip at best, of the last second: BBR's window without its pacing."""

    def __init__(self):
        self.least_rtt_ms, self.window = float("inf"), 10.0
        self.arrived = deque()

    def on_acknowledgement(self, now_ms, rtt_ms, acknowledged_packets, in_flight_packets):
        self.least_rtt_ms = min(self.least_rtt_ms, rtt_ms)
        self.arrived.append((now_ms, acknowledged_packets))
        while self.arrived[0][0] < now_ms - 100:
            self.arrived.popleft()
        rate = sum(packets for _, packets in self.arrived) / 100
        self.window = max(1.25 * rate * self.least_rtt_ms, 4.0)

    def on_loss(self, now_ms, sent_ms, lost_packets, in_flight_packets):
        pass

    def on_timeout(self, now_ms, in_flight_packets):
        self.window = 4.0

    def may_fly(self, now_ms):
        return self.window
'''
CRASHES: Final = f"""class Controller:{_NOTHING}
    def may_fly(self, now_ms):
        return 10 / (now_ms < 1000)
"""
LOOPS: Final = f"""class Controller:{_NOTHING}
    def may_fly(self, now_ms):
        while now_ms > 1000:
            pass
        return 10
"""
HOARDS: Final = f"""class Controller:
    def __init__(self):
        self.kept = []
{_NOTHING}
    def may_fly(self, now_ms):
        self.kept.append(b"x" * (1 << 20))
        return 10
"""
FLOODS: Final = fixed(1e9)
SLEEPS: Final = f"""import time


class Controller:{_NOTHING}
    def may_fly(self, now_ms):
        time.sleep(3600)
"""
LOOKS: Final = f"""import os
import subprocess


class Controller:
    def __init__(self):
        found = []
        for folder in ("/", "/home", "/root", "/run", "/tmp", "/work", "/proc/1", "/proc/1/root", "/sys"):
            for place, folders, files in os.walk(folder):
                folders[:] = [name for name in folders if name not in ("usr", "proc", "lib", "lib64")][:50]
                found += [os.path.join(place, name) for name in files if "trace" in name or "contest" in name]
        told = subprocess.run(
            ["sh", "-c", "tc -s qdisc show; ip link; ip route; ls /proc; cat /proc/*/cmdline | tr '\\\\0' ' '"],
            capture_output=True, text=True,
        ).stdout
        if found or "netem" in told or "router" in told or "transport.py receive" in told:
            raise RuntimeError(f"seen: {{found}} {{told}}")
        self.told = told
{_NOTHING}
    def may_fly(self, now_ms):
        return 10 if "sender1-eth0" in self.told else 0
"""
"""It looks for the trace in all files, processes and queues that it can see, and ends where it sees anything of it."""
FORGES: Final = f"""import sys


class Controller:
    def __init__(self):
        transport = sys.modules["__main__"]
        transport.time.monotonic = lambda: 0.0
        for name in ("windows.json", "transport.py", "controller.py"):
            with open(name, "w") as file:
                file.write("[[0, 1e99]]")
{_NOTHING}
    def may_fly(self, now_ms):
        return 10
"""
"""It stops the sender's clock, and writes over the files around it."""
