"""The relay for UDP: what it notes, loses, repeats and delays, on this machine's loopback."""

from __future__ import annotations

import asyncio
import socket
import time
from collections.abc import Sequence
from typing import Any

import pytest

from linklab.programs.engine import datagrams
from linklab.programs.engine.datagrams import DatagramRelay, Impairments

SENT = [b"%d" % number for number in range(1, 7)]


def _passed(
    impairments: Impairments, sent: Sequence[bytes] = SENT, ports: int = 1
) -> tuple[list[bytes], list[bytes], dict[str, Any]]:
    """What arrives at the receiver, which echoes it, what comes back, and the relay's record.

    The sender takes so many ports in turn.
    """
    return asyncio.run(_play(impairments, sent, ports))


async def _play(
    impairments: Impairments, sent: Sequence[bytes], ports: int
) -> tuple[list[bytes], list[bytes], dict[str, Any]]:
    loop = asyncio.get_running_loop()
    listening, receiver, *senders = (datagrams.listener(0) for _ in range(2 + ports))
    to, beyond = (("127.0.0.1", end.getsockname()[1]) for end in (listening, receiver))
    relay = DatagramRelay(listening, beyond, datagrams.plain_socket, time.monotonic, impairments)
    there: list[bytes] = []
    back: list[bytes] = []

    async def echo() -> None:
        while True:
            data, peer = await loop.sock_recvfrom(receiver, 100)
            there.append(data)
            await loop.sock_sendto(receiver, data, peer)

    async def listen(sender: socket.socket) -> None:
        while True:
            back.append((await loop.sock_recvfrom(sender, 100))[0])

    tasks = [loop.create_task(echo()), *(loop.create_task(listen(sender)) for sender in senders)]
    for number, data in enumerate(sent):
        await loop.sock_sendto(senders[number % ports], data, to)
        await asyncio.sleep(0.02)
    await asyncio.sleep(0.5)
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
    record = relay.record()
    relay.close()
    for end in (receiver, *senders):
        end.close()
    return there, back, record


def test_all_passes_in_order_and_is_noted() -> None:
    there, back, record = _passed(Impairments())
    assert there == back == SENT
    assert [[size, fate] for _, size, _, fate in record["up"]] == [[1, "passed"]] * 6
    assert len({digest for _, _, digest, _ in record["up"]}) == 6


def test_what_is_lost_by_plan_is_lost_in_its_direction_alone() -> None:
    there, back, record = _passed(Impairments(lost={"up": [2], "down": [1, 5]}))
    assert there == [b"1", b"3", b"4", b"5", b"6"]
    assert back == [b"3", b"4", b"5"]
    assert [fate for *_, fate in record["up"]] == ["passed", "lost", *["passed"] * 4]


def test_everything_comes_twice_or_is_overtaken() -> None:
    assert sorted(_passed(Impairments(twice=1.0))[0]) == sorted(SENT * 2)
    there, _, record = _passed(Impairments(late=0.5, late_s=0.05, seed=1))
    assert {fate for *_, fate in record["up"]} == {"late", "passed"}
    assert sorted(there) == SENT != there


def test_in_a_silence_nothing_passes_in_its_directions() -> None:
    there, back, record = _passed(Impairments(silent_from=3, silent_s=100.0, silent=("down",)))
    assert there == SENT
    assert back == [b"1", b"2"]
    assert record["silent_s"] == record["up"][2][0]


def test_answers_are_late_from_a_datagram_of_the_sender_on() -> None:
    there, back, record = _passed(Impairments(late_from=4, late_s=0.2))
    assert there == back == SENT
    assert [fate for *_, fate in record["up"]] == ["passed"] * 6
    assert [fate for *_, fate in record["down"]] == ["passed"] * 3 + ["late"] * 3


def test_a_late_answer_that_is_lost_stays_lost() -> None:
    _, back, record = _passed(Impairments(late_from=4, late_s=0.2, lost={"down": [5]}))
    assert back == [b"1", b"2", b"3", b"4", b"6"]
    assert [fate for *_, fate in record["down"]] == ["passed"] * 3 + ["late", "lost", "late"]


def test_fates_come_from_the_seed_and_the_number() -> None:
    impairments = Impairments(loss=0.1, twice=0.2, late=0.3, seed=7)
    fates = [impairments.fate("up", number) for number in range(1, 3001)]
    assert fates == [impairments.fate("up", number) for number in range(1, 3001)]
    assert fates != [impairments.fate("down", number) for number in range(1, 3001)]
    shares = {name: fates.count(name) / 3000 for name in ("lost", "twice", "late")}
    assert shares == pytest.approx({"lost": 0.1, "twice": 0.18, "late": 0.9 * 0.8 * 0.3}, abs=0.03)


def test_a_flood_is_counted_and_lost(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(datagrams, "MOST", 4)
    there, back, record = _passed(Impairments())
    assert there == back == SENT[:4]
    assert record["flooded"] == {"up": 2, "down": 0}


def test_a_sender_that_takes_a_new_port_for_each_datagram_gets_its_answers() -> None:
    sent = [b"%d" % number for number in range(70)]
    there, back, _ = _passed(Impairments(), sent, ports=len(sent))
    assert there == back == sent
