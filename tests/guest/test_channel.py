"""The message channel, over a socket pair."""

from __future__ import annotations

import contextlib
import fcntl
import itertools
import os
import socket
import struct
import threading
from collections.abc import Iterator

import pytest

from linklab.guest.channel import FRAME_BYTES, Channel, ChannelClosed, ChannelTimeout

Pair = tuple[Channel, Channel, socket.socket, socket.socket]


@pytest.fixture
def pair() -> Iterator[Pair]:
    one, two = socket.socketpair()
    yield Channel(one.fileno(), one.fileno()), Channel(two.fileno(), two.fileno()), one, two
    one.close()
    two.close()


@pytest.mark.parametrize("size", [0, FRAME_BYTES, FRAME_BYTES + 1, 1_000_000])
def test_messages_of_any_size_cross_in_both_directions(pair: Pair, size: int) -> None:
    here, there, *_ = pair
    message = {"text": "x" * size, "ü": [1, None, 2.5]}

    def echo() -> None:
        there.send(there.receive(20))

    thread = threading.Thread(target=echo)
    thread.start()
    here.send(message, 20)
    assert here.receive(20) == message
    thread.join()


def test_a_message_given_up_between_two_frames_leaves_the_stream_whole(pair: Pair) -> None:
    here, there, *_ = pair
    heard: list[dict[str, object]] = []
    frames = itertools.count()

    def hear() -> None:
        heard.append(there.receive(20))

    def give_up() -> None:
        if next(frames) == 3:
            raise KeyboardInterrupt

    thread = threading.Thread(target=hear)
    thread.start()
    with pytest.raises(KeyboardInterrupt):
        here.send({"text": "x" * 5 * FRAME_BYTES}, 20, between=give_up)
    here.send({"text": "whole"}, 20)
    thread.join()
    assert heard == [{"text": "whole"}]


def test_a_closed_end_is_noticed_by_reader_and_writer(pair: Pair) -> None:
    here, _, _, two = pair
    two.close()
    with pytest.raises(ChannelClosed):
        here.receive(20)
    with pytest.raises(ChannelClosed):
        here.send({"a": 1}, 20)


def test_an_interrupt_is_found_without_waiting_behind_a_message_that_stays(pair: Pair) -> None:
    here, there, *_ = pair
    assert here.waiting_interrupt() is None
    there.send({"a": 1}, 20)
    there.send({"interrupt": 1}, 20)
    while (message := here.waiting_interrupt()) is None:
        os.sched_yield()
    assert message == {"interrupt": 1}
    assert here.receive(20) == {"a": 1}


def test_file_descriptors_may_have_large_numbers() -> None:
    one, two = socket.socketpair()
    with one, two:
        fd = fcntl.fcntl(one.fileno(), fcntl.F_DUPFD_CLOEXEC, 1500)
        try:
            with pytest.raises(ChannelTimeout):
                Channel(fd, fd).receive(0.05)
        finally:
            os.close(fd)


@pytest.fixture
def ends() -> Iterator[tuple[Channel, socket.socket]]:
    """A channel, and the bare end of who may speak otherwise."""
    ours, theirs = socket.socketpair()
    with ours, theirs:
        theirs.setblocking(False)
        yield Channel(ours.fileno(), ours.fileno(), largest_bytes=1000), theirs


def test_messages_arrive_whole_also_where_they_come_in_parts(ends: tuple[Channel, socket.socket]) -> None:
    here, theirs = ends
    data = b'{"a": 1}'
    theirs.send(struct.pack(">BI", 2, len(data)) + data[:3])
    with pytest.raises(ChannelTimeout):
        here.receive(0.01)
    theirs.send(data[3:])
    assert here.receive(5) == {"a": 1}


@pytest.mark.parametrize(
    "sent",
    [
        *(struct.pack(">BI", 2, len(text)) + text for text in (b"abc", b"[1]", b"[" * 900)),
        struct.pack(">BI", 4, 0),
        struct.pack(">BI", 2, 2**32 - 1),
        struct.pack(">BI", 1, 0) * 300,  # parts without an end
        (struct.pack(">BI", 2, 2) + b"{}") * 200,  # messages that nobody takes
    ],
)
def test_who_sends_no_message_or_too_much_counts_as_gone(ends: tuple[Channel, socket.socket], sent: bytes) -> None:
    here, theirs = ends
    theirs.send(sent)
    with pytest.raises(ChannelClosed):
        assert [here.waiting_interrupt() for _ in range(1000)] == []


def test_bytes_that_trickle_in_do_not_put_off_the_time_limit(ends: tuple[Channel, socket.socket]) -> None:
    here, theirs = ends
    ended = threading.Event()

    def trickle() -> None:
        while not ended.wait(0.02):
            theirs.send(struct.pack(">BI", 1, 0))

    thread = threading.Thread(target=trickle)
    thread.start()
    with pytest.raises(ChannelTimeout):
        here.receive(0.3)
    ended.set()
    thread.join()


def test_a_message_that_never_ends_does_not_put_off_the_time_limit(ends: tuple[Channel, socket.socket]) -> None:
    here, there = ends
    there.setblocking(True)

    def flood() -> None:
        with contextlib.suppress(OSError):  # the other end is closed
            while True:
                there.sendall(struct.pack(">BI", 3, 0) * 1000)  # drop what you have

    threading.Thread(target=flood, daemon=True).start()
    with pytest.raises(ChannelTimeout):
        here.receive(0.2)
