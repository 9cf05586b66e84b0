"""What the relay saw of a transfer, and what follows from it. Pure.

No packet is taken apart: a program may write into its datagrams what it likes. Two datagrams of the sender with the
same bytes are one packet that was sent twice.
"""

from __future__ import annotations

import base64
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any, Final

_LAST_WORDS: Final = 160


@dataclass(frozen=True)
class Datagram:
    """One datagram as it arrived at the relay, and its fate there: passed, lost, twice, late or silent."""

    s: float
    size: int
    digest: str
    fate: str

    @property
    def passed(self) -> bool:
        """Whether it went on, at once or later."""
        return self.fate in ("passed", "twice", "late")


@dataclass(frozen=True)
class Ended:
    """How a program ended. ``status`` is None where it was stopped."""

    side: str
    status: int | None
    stopped: str
    breaches: tuple[str, ...]
    said: str
    ended_s: float | None


@dataclass(frozen=True)
class Transfer:
    """A transfer that was played: what was to be sent, through which window, on a path of which round trip."""

    name: str
    content: bytes
    window: int
    rtt_ms: float
    record: dict[str, Any]

    @cached_property
    def up(self) -> tuple[Datagram, ...]:
        """What the sender sent, in the order of arrival."""
        return tuple(Datagram(*note) for note in (self.record["datagrams"] or {"up": []})["up"])

    @cached_property
    def down(self) -> tuple[Datagram, ...]:
        """What the receiver answered."""
        return tuple(Datagram(*note) for note in (self.record["datagrams"] or {"down": []})["down"])

    @property
    def flooded(self) -> bool:
        """Whether a side sent more datagrams than are noted."""
        return any((self.record["datagrams"] or {"flooded": {}})["flooded"].values())

    @property
    def stalled(self) -> bool:
        """Whether it computed without end and was stopped."""
        return bool(self.record["stalled"])

    @cached_property
    def programs(self) -> tuple[Ended, ...]:
        """How the programs ended, the sender first."""
        return tuple(self._programs())

    def _programs(self) -> Iterator[Ended]:
        for side, act in zip(("sender", "receiver"), self.record["acts"], strict=False):
            if "program" in act:
                told = act["program"]
                lines = "".join(text for _, text in (*told["out"], *told["err"])).strip().splitlines()
                last = lines[-1].strip()[:_LAST_WORDS] if lines else ""
                breaches = tuple(told["breaches"])
                yield Ended(side, told["status"], told["stopped"], breaches, last, told["ended_s"])

    @property
    def got(self) -> bytes | None:
        """What the receiver wrote to its file; None if there is none."""
        for act in self.record["acts"][1:]:
            kept = act.get("program", {}).get("kept")
            return None if kept is None else base64.b64decode(kept)
        return None

    @property
    def took_s(self) -> float:
        """From the sender's first datagram to its last one, as they arrived."""
        return self.up[-1].s - self.up[0].s if self.up else 0.0

    @property
    def repeats(self) -> int:
        """How many of the sender's datagrams had the bytes of an earlier one."""
        return len(self.up) - len({one.digest for one in self.up})

    @property
    def mean_bytes(self) -> float:
        """The mean payload of the sender's datagrams that carry most: of at least half of the largest one."""
        largest = max((one.size for one in self.up), default=0)
        sizes = [one.size for one in self.up if 2 * one.size >= largest]
        return sum(sizes) / len(sizes) if sizes else 0.0

    def gaps_s(self) -> list[float]:
        """The gaps between the sender's datagrams that were lost in the silence, from the first of them on."""
        return [late.s - early.s for early, late in pairwise(one for one in self.up if one.fate == "silent")]
