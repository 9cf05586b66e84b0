"""Questions about packets: which one is it? What is right comes from what the student captured or recorded.

The notebook has ``packets = measure.seen(run)`` (or of captures), and ``show.replay`` shows the same numbers::

    def check_packets(packets: object, answers: object) -> Iterable[Check]:
        found = seen_packets(packets)
        told = PacketNumber("told", "the acknowledgement that tells of the loss", found, tells_of_first_loss, HINTS)
        return checks_of("packets", answers, [told])
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

from linklab.grade.check import Check, Hints
from linklab.grade.measured import require_type
from linklab.grade.questions import as_number, not_a_number
from linklab.measure import Seen, SeenPacket

Which = Callable[[Seen], Iterable[SeenPacket]]
"""Finds packets among those that were seen."""


def seen_packets(given: object) -> Seen:
    """Return the packets that a student hands in, from `measure.seen`; refuse all else."""
    hint = "packets = measure.seen(run), with a run of record=True, or of captures"
    return require_type("packets", given, Seen, hint, "what measure.seen returns")


def tell_of_loss(found: Seen) -> Iterator[SeenPacket]:
    """Find the acknowledgements that tell a sender of a loss: each third duplicate."""
    return (it for it in found.packets if it.tcp is not None and it.tcp.tells_of_loss)


def tells_of_first_loss(found: Seen) -> Sequence[SeenPacket]:
    """Find the acknowledgement that tells a sender of a loss for the first time."""
    return [*tell_of_loss(found)][:1]


def stayed_longest(interface: str) -> Which:
    """Find the packets that stayed longest in a queue, among those that left it; only a recording has that."""

    def which(found: Seen) -> list[SeenPacket]:
        stays = {
            it.number: stay.stayed_ns
            for it in found.packets
            if (stay := it.at(interface)) and stay.stayed_ns is not None and not stay.dropped
        }
        longest = max(stays.values(), default=0)
        return [it for it in found.packets if stays.get(it.number) == longest]

    return which


@dataclass(frozen=True)
class PacketSlip:
    """Packets that a mistake leads to: ``reason`` says what they are, ``step`` what to do."""

    which: Which
    reason: str
    step: str


@dataclass(frozen=True)
class PacketNumber:
    """A packet's number, as the player shows it. ``which`` finds the right ones: any of them passes.

    Slips of every such question are known: the number of another list, a packet of the other direction, data for an
    acknowledgement, and the packet beside the right one. ``slips`` are the question's own, and come first.
    """

    key: object
    what: str
    found: Seen
    which: Which
    hints: Hints
    slips: Sequence[PacketSlip] = ()
    explanation: str = ""

    def checks(self, answer: object) -> Iterable[Check]:
        """Judge a number."""
        right = [*self.which(self.found)]
        if not right:
            hint = "run the cell that records once more, and then the player's"
            return (Check.failing(self.what, "there is no such packet in what was recorded", hint),)
        problem = not_a_number(self.what, answer, "")
        if problem is not None:
            return (problem,)
        number, expected = as_number(answer), "a packet's number, as the player shows it"
        if number != int(number) or number > len(self.found.packets):
            reason = f"there is no packet {number:g}: the player has 1 to {len(self.found.packets)}"
            return (Check.failing(self.what, reason, self.hints, expected, f"{number:g}"),)
        if number in {it.number for it in right}:
            return (Check.passing(self.what, expected, f"{number:g}", self.explanation),)
        given = self.found.packets[int(number) - 1]
        reason, step = next(self._slips(given, right), ("that is not it", ""))
        return (Check.failing(self.what, f"packet {number:g}: {reason}", step or self.hints, expected, f"{number:g}"),)

    def _slips(self, given: SeenPacket, right: Sequence[SeenPacket]) -> Iterator[tuple[str, str]]:
        for slip in self.slips:
            if given.number in {it.number for it in slip.which(self.found)}:
                yield slip.reason, slip.step
        for it in right:
            of = next((sighting.source for sighting in it.sightings if sighting.frame == given.number), "")
            if of:
                yield f"that is its number in {of}", "write the number that the player shows: Packet ... of ..."
        if all(given.ends.source != it.ends.source for it in right):
            kind = "data" if given.tcp is not None and given.tcp.data_bytes else "a packet"
            asked = right[0].ends
            way = f"{asked.source} to {asked.destination}"
            yield (
                f"that is {kind} of the other direction or another flow",
                f"the packet that is asked for goes from {way}",
            )
        if any(abs(self._place(given) - self._place(it)) == 1 for it in right if it.ends == given.ends):
            side = "before" if any(given.number < it.number for it in right) else "after"
            yield f"that is the packet just {side} it", "compare the times of both, and what each panel says"

    def _place(self, packet: SeenPacket) -> int:
        """Return which packet of its flow and direction this is."""
        return sum(it.ends == packet.ends for it in self.found.packets[: packet.number])
