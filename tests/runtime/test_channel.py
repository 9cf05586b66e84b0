"""The message channel, over a socket pair instead of a serial line."""

from __future__ import annotations

import fcntl
import os
import socket
import struct
import threading
from collections.abc import Iterator

import pytest

from linklab.runtime.channel import FROM_GUEST_BYTES, Channel, ChannelClosed, ChannelTimeout

Pair = tuple[Channel, Channel, socket.socket, socket.socket]


@pytest.fixture
def pair() -> Iterator[Pair]:
    one, two = socket.socketpair()
    yield (
        Channel(one.fileno(), one.fileno()),
        Channel(two.fileno(), two.fileno(), frame_bytes=FROM_GUEST_BYTES),
        one,
        two,
    )
    one.close()
    two.close()


@pytest.mark.parametrize("size", [0, 1, 2047, 2048, 2049, 16383, 16384, 16385, 300_000])
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


def test_never_more_than_one_frame_is_unacknowledged(pair: Pair) -> None:
    """Until the other side reads, only the first frame is sent: a serial line cannot take more."""
    here, _, _, two = pair
    with pytest.raises(ChannelTimeout):
        here.send({"text": "x" * 100_000}, 0.2)
    assert len(two.recv(1_000_000)) < 3000


def test_a_message_given_up_between_two_frames_leaves_the_stream_whole(pair: Pair) -> None:
    here, there, *_ = pair
    heard: list[dict[str, object]] = []

    def hear() -> None:
        heard.append(there.receive(20))

    def give_up() -> None:
        if here._sent >= 3:
            raise KeyboardInterrupt

    thread = threading.Thread(target=hear)
    thread.start()
    with pytest.raises(KeyboardInterrupt):
        here.send({"text": "x" * 50_000}, 20, between=give_up)
    here.send({"text": "whole"}, 20)
    thread.join()
    assert heard == [{"text": "whole"}]


def test_messages_cross_on_the_way(pair: Pair) -> None:
    """Both sides send at once: each waits for its acknowledgement and keeps what comes meanwhile."""
    here, there, *_ = pair
    received = {}

    def talk(channel: Channel, name: str) -> None:
        channel.send({"from": name, "pad": "x" * 50_000}, 20)
        received[name] = channel.receive(20)["from"]

    thread = threading.Thread(target=talk, args=(there, "there"))
    thread.start()
    talk(here, "here")
    thread.join()
    assert received == {"here": "there", "there": "here"}


def test_a_closed_end_is_noticed(pair: Pair) -> None:
    here, _, _, two = pair
    two.close()
    with pytest.raises(ChannelClosed):
        here.receive(20)
    with pytest.raises(ChannelClosed):
        here.send({"a": 1}, 20)


def test_silence_ends_with_a_timeout(pair: Pair) -> None:
    with pytest.raises(ChannelTimeout):
        pair[0].receive(0.05)


def test_receive_waiting_never_waits(pair: Pair) -> None:
    here, there, *_ = pair
    assert here.receive_waiting() is None
    thread = threading.Thread(target=lambda: there.send({"a": 1}, 20))
    thread.start()
    while (message := here.receive_waiting()) is None:
        os.sched_yield()
    assert message == {"a": 1}
    thread.join()


def test_what_one_looks_for_is_taken_and_all_else_stays(pair: Pair) -> None:
    here, there, *_ = pair
    for message in ({"id": 1}, {"interrupt": 1}, {"id": 2}):
        there.send(message, wait=False)
    assert here.receive_waiting("interrupt") == {"interrupt": 1}
    assert here.receive_waiting("interrupt") is None
    assert [here.receive(20), here.receive(20)] == [{"id": 1}, {"id": 2}]


def test_what_was_sent_without_waiting_is_no_ones_acknowledgement(pair: Pair) -> None:
    """The next message still waits for its own."""
    here, there, *_ = pair
    here.send({"number": 1}, wait=False)
    assert not here.all_read
    assert there.receive(20) == {"number": 1}
    with pytest.raises(ChannelTimeout):
        here.send({"number": 2}, 0.2)
    assert there.receive(20) == {"number": 2}


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
    """A channel without acknowledgements, and the bare end of who may speak otherwise."""
    ours, theirs = socket.socketpair()
    with ours, theirs:
        theirs.setblocking(False)
        yield Channel(ours.fileno(), ours.fileno(), acknowledged=False, largest_bytes=1000), theirs


def test_without_acknowledgements_nothing_is_waited_for(ends: tuple[Channel, socket.socket]) -> None:
    here, theirs = ends
    here.send({"text": "x" * 20_000}, 5)
    there = Channel(theirs.fileno(), -1, acknowledged=False)
    assert there.receive(5) == {"text": "x" * 20_000}
    with pytest.raises(ChannelTimeout):
        here.send({"text": "x" * 10_000_000}, 0.2)


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
    [struct.pack(">BI", 2, 2**32 - 1), struct.pack(">BI", 2, 3) + b"abc", struct.pack(">BI", 1, 900) * 2]
    + [struct.pack(">BI", 2, len(text)) + text for text in (b"[1]", b"3", b"[" * 900)],
)
def test_who_sends_no_message_counts_as_gone(ends: tuple[Channel, socket.socket], sent: bytes) -> None:
    here, theirs = ends
    theirs.send(sent)
    theirs.shutdown(socket.SHUT_WR)
    with pytest.raises(ChannelClosed):
        here.receive(5)


@pytest.mark.parametrize(
    "sent",
    [
        struct.pack(">BI", 3, 0),  # an acknowledgement of nothing
        struct.pack(">BI", 0, 0),
        struct.pack(">BI", 1, 0) * 300,  # parts without an end
        (struct.pack(">BI", 2, 2) + b"{}") * 200,  # messages that nobody takes
    ],
)
def test_what_is_held_is_bounded(ends: tuple[Channel, socket.socket], sent: bytes) -> None:
    here, theirs = ends
    theirs.send(sent)
    with pytest.raises(ChannelClosed):
        assert [here.receive_waiting("interrupt") for _ in range(1000)] == []


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
