"""Questions about packets as an instructor writes them, on two students' networks: a recorded run and two captures."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

import pytest

from linklab.grade.check import Check
from linklab.grade.packet_questions import PacketNumber, PacketSlip, seen_packets, stayed_longest, tells_of_first_loss
from linklab.grade.questions import checks_of
from linklab.grade.result import guarded
from linklab.lab import start
from linklab.measure import Seen, SeenPacket, TcpFlow, capture, run_together, seen
from linklab.network.variants import variant

pytestmark = [pytest.mark.large, pytest.mark.lab, pytest.mark.usefixtures("virtual")]


def first_lost(found: Seen) -> Sequence[SeenPacket]:
    return [it for it in found.packets if any(hop.dropped for hop in it.sightings)][:1]


def told(found: Seen) -> PacketNumber:
    slips = (PacketSlip(first_lost, "that is the lost packet itself", "which packet says that it is missing?"),)
    return PacketNumber("told", "tells of the first loss", found, tells_of_first_loss, ("what repeats?",), slips)


@guarded("a recorded run")
def check_recording(packets: object, numbers: object) -> Iterable[Check]:
    found = seen_packets(packets)
    waited = PacketNumber("waited", "stayed longest", found, stayed_longest("r1-eth1"), ("look at r1-eth1",))
    return checks_of("a recorded run", numbers, [told(found), waited])


@guarded("two captures")
def check_captures(packets: object, numbers: object) -> Iterable[Check]:
    return checks_of("two captures", numbers, [told(seen_packets(packets))])


def reasons(judged: Iterable[Check]) -> list[str]:
    return ["passed" if it.passed else it.reason for it in judged]


def test_right_numbers_are_those_of_the_student_s_own_network(tmp_path: Path) -> None:
    right: list[dict[str, int]] = []
    for student in ("ada", "bob"):
        lab = start(variant(student, b"a course secret for trials"), folder=tmp_path)
        flow = TcpFlow("h1", "h4", duration_s=3, congestion="reno")
        packets = seen(run_together(lab, [flow], record=["h1-eth0", "r1-eth1"]))
        with (
            capture(lab, "h1", "h1-eth0", "tcp", bytes_per_packet=96) as at_h1,
            capture(lab, "h4", "h4-eth0", "tcp", bytes_per_packet=96) as at_h4,
        ):
            run_together(lab, [flow])
        lab.stop()
        numbers = {
            "told": next(it.number for it in packets.packets if it.tcp and it.tcp.duplicate == 3),
            "waited": max(packets.packets, key=stay_ns).number,
        }
        assert reasons(check_recording(packets, numbers).checks) == ["passed", "passed"]
        lost = first_lost(packets)[0].number
        assert "that is the lost packet itself" in reasons(check_recording(packets, {"told": lost}).checks)[0]
        data = next(it.number for it in packets.packets[numbers["told"] :] if it.tcp and it.tcp.data_bytes)
        assert "that is data of the other direction" in reasons(check_recording(packets, {"told": data}).checks)[0]
        assert not any(check_recording(packets, other).passed for other in right), "another student's numbers"
        right.append(numbers)
        captured = seen(at_h1, at_h4)
        (ack,) = tells_of_first_loss(captured)
        assert check_captures(captured, {"told": ack.number}).passed
        frame = next(it.frame for it in ack.sightings if it.frame != ack.number)
        assert "that is its number in h" in reasons(check_captures(captured, {"told": frame}).checks)[0]


def stay_ns(packet: SeenPacket) -> int:
    at = packet.at("r1-eth1")
    return 0 if at is None or at.dropped else at.stayed_ns or 0
