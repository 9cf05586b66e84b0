"""What comes out of a lab may have been made up: the client ends such a lab with a line, and never hangs or crashes."""

from __future__ import annotations

import socket
import threading
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from linklab.errors import LabEnded, LabError
from linklab.guest import qemu_box
from linklab.guest.channel import Channel, ChannelClosed, ChannelTimeout
from linklab.guest.request_loop import RequestLoop
from linklab.runtime.backends import Kind
from linklab.runtime.client import LabProcess
from linklab.runtime.qemu.gdb import RESTING, Gdb
from linklab.runtime.qemu.host_box import HostBox
from linklab.runtime.transport import LabFacts, Transport

Reply = Callable[[Channel, dict[str, Any]], None]


class Pretended(Transport):
    """A transport whose other end is a function of the test's."""

    about = LabFacts(Kind("guest"), "7.3", 16.0, 512)

    def __init__(self, reply: Reply) -> None:
        self._ours, theirs = socket.socketpair()
        self.channel = Channel(self._ours.fileno(), self._ours.fileno(), largest_bytes=1_000_000, write_limit_s=5)
        self._thread = threading.Thread(target=self._serve, args=(theirs, reply), daemon=True)
        self._thread.start()

    def _serve(self, theirs: socket.socket, reply: Reply) -> None:
        channel = Channel(theirs.fileno(), theirs.fileno())
        with theirs:
            try:
                while True:
                    reply(channel, channel.receive())
            except ChannelClosed:
                pass

    def hang_up(self) -> None:
        self._ours.shutdown(socket.SHUT_RDWR)
        self._thread.join(20)

    def close(self) -> None:
        self._ours.close()


class PretendedMachine(Gdb):
    """A machine in QEMU that puts down one part of a message after the other, each of no bytes."""

    def __init__(self) -> None:
        """Connect to nothing."""

    def await_stop(self, timeout_s: float | None) -> str:
        return RESTING

    def read(self, address: int, size: int) -> bytes:
        return qemu_box.WORD.pack(qemu_box.word(qemu_box.PART))[:size]

    def write(self, address: int, data: bytes) -> None:
        pass

    def go_on(self) -> None:
        pass


@pytest.fixture
def lab() -> Iterator[Callable[[Reply], LabProcess]]:
    made: list[LabProcess] = []

    def start(reply: Reply) -> LabProcess:
        made.append(LabProcess(Pretended(reply), 1.0, 0))
        return made[-1]

    yield start
    for process in made:
        process.stop()


def ask(context: RequestLoop) -> object:
    """What is asked for; nobody does it."""
    raise NotImplementedError


def answering(**answer: Any) -> Reply:
    return lambda channel, request: channel.send({"id": request.get("id"), **answer})


def test_an_interrupt_that_nobody_gave_is_no_ctrl_c(lab: Callable[[Reply], LabProcess]) -> None:
    with pytest.raises(LabError, match="interrupted inside the lab, and not from here"):
        lab(answering(interrupted=1, clock_s=17.0)).call(ask)


@pytest.mark.parametrize(
    "answer",
    [
        {"result": 1},
        {"clock_s": 17.0},
        {"result": 1, "clock_s": 10**400},
        {"result": 1, "clock_s": float("nan")},
        {"result": 1, "clock_s": True},
        {"result": 1, "clock_s": "17"},
    ],
)
def test_an_answer_that_no_lab_would_give_ends_it_with_a_line(
    lab: Callable[[Reply], LabProcess], answer: dict[str, Any]
) -> None:
    process = lab(answering(**answer))
    with pytest.raises(LabEnded, match="it answers what no lab would; start a new one"):
        process.call(ask)
    assert not process.running


@pytest.mark.parametrize("kind", ["SystemExit", "__builtins__", 7, None, ["LabError"]])
def test_an_error_of_another_kind_is_a_lab_error(lab: Callable[[Reply], LabProcess], kind: object) -> None:
    with pytest.raises(LabError, match="of its own"):
        lab(answering(error="of its own", kind=kind, clock_s=17.0)).call(ask)


@pytest.mark.slow
def test_messages_of_no_request_do_not_put_off_the_wall_limit(lab: Callable[[Reply], LabProcess]) -> None:
    def chatter(channel: Channel, request: dict[str, Any]) -> None:
        while True:
            channel.send({"id": 10**9, "event": 1})

    with pytest.raises(LabEnded, match="was silent for 1 s of real time"):
        lab(chatter).call(ask)


def test_a_machine_that_never_ends_its_message_does_not_put_off_the_time_limit() -> None:
    with pytest.raises(ChannelTimeout):
        HostBox(PretendedMachine()).receive(0.05)


@pytest.mark.slow
def test_what_a_lab_waits_for_is_told_where_it_never_answers(lab: Callable[[Reply], LabProcess]) -> None:
    def wait(channel: Channel, request: dict[str, Any]) -> None:
        if "silent" in request:
            channel.send({"id": request["interrupt"], "waits": "'cat' waits"})

    with pytest.raises(LabEnded, match=r"was ended: .*'cat' waits"):
        lab(wait).call(ask)


def test_what_it_calls_back_cannot_ask_the_lab(lab: Callable[[Reply], LabProcess]) -> None:
    def talk(channel: Channel, request: dict[str, Any]) -> None:
        if "pickle" in request:
            channel.send({"id": request["id"], "event": 1})
            channel.send({"id": request["id"], "result": 1, "clock_s": 17.0})

    def ask_again(event: Any) -> None:
        process.call(ask)

    process = lab(talk)
    with pytest.raises(LabError, match="cannot be asked by what it calls back"):
        process.call(ask, on_event=ask_again)
    assert process.call(ask) == 1
