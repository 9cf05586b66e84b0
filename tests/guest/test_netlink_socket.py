"""What is dumped over netlink is the kernel's one answer to one question, or an error: never half a list."""

from __future__ import annotations

import errno
import socket
import struct
from collections.abc import Callable

import pytest

from linklab.guest.netlink.socket import Netlink

_HEADER = struct.Struct("=IHHII")
_ERROR, _DONE, _LINK = 2, 3, 16
_INTERRUPTED = 0x10  # NLM_F_DUMP_INTR of linux/netlink.h
_GETLINK = 18

Message = tuple[int, int, bytes]
"""Kind, flags, body."""
OVER: Message = (_DONE, 0, struct.pack("=i", 0))


class PretendedKernel:
    """Answers the question of number n (from 0) with what `answers(n)` says, a message at each `recv`."""

    def __init__(self, answers: Callable[[int], list[Message | BaseException]]) -> None:
        self._answers = answers
        self.questions = 0
        self.unread: list[bytes | BaseException] = []

    def setsockopt(self, *_: object) -> None:
        """Nothing is set."""

    def send(self, data: bytes) -> None:
        """Takes one question."""
        number = _HEADER.unpack_from(data)[3]
        for answer in self._answers(self.questions):
            if isinstance(answer, BaseException):
                self.unread.append(answer)
            else:
                kind, flags, body = answer
                self.unread.append(_HEADER.pack(_HEADER.size + len(body), kind, flags, number, 0) + body)
        self.questions += 1

    def recv(self, _: int) -> bytes:
        """Gives the next message, or raises what comes in its place."""
        answer = self.unread.pop(0)
        if isinstance(answer, BaseException):
            raise answer
        return answer


@pytest.fixture
def kernel_that(monkeypatch: pytest.MonkeyPatch) -> Callable[..., tuple[PretendedKernel, Netlink]]:
    """Makes a kernel that answers so, and a socket to it."""

    def make(answers: Callable[[int], list[Message | BaseException]]) -> tuple[PretendedKernel, Netlink]:
        kernel = PretendedKernel(answers)
        monkeypatch.setattr(socket, "socket", lambda *_: kernel)
        return kernel, Netlink()

    return make


@pytest.mark.parametrize("where", [0, 2])
def test_a_dump_that_a_change_interrupts_is_asked_again(
    where: int, kernel_that: Callable[..., tuple[PretendedKernel, Netlink]]
) -> None:
    """The kernel says so in the message that follows the change, which may be the last."""

    def answers(question: int) -> list[Message]:
        if question == 1:
            return [(_LINK, 0, b"lo.."), (_LINK, 0, b"eth0"), (_LINK, 0, b"eth1"), OVER]
        told = [(_LINK, 0, b"lo.."), (_LINK, 0, b"eth1"), OVER]
        return [
            (kind, flags | (_INTERRUPTED if at == where else 0), body) for at, (kind, flags, body) in enumerate(told)
        ]

    kernel, netlink = kernel_that(answers)
    assert netlink.dump(_GETLINK, b"") == [b"lo..", b"eth0", b"eth1"]
    assert kernel.questions == 2
    assert kernel.unread == []


def test_what_an_interrupted_request_left_unread_answers_no_later_one(
    kernel_that: Callable[..., tuple[PretendedKernel, Netlink]],
) -> None:
    """Ctrl-C comes between two messages; the rest of the first answer is there when the next question is asked."""
    refused: Message = (_ERROR, 0, struct.pack("=i", -errno.ENODEV) + bytes(16))
    first: list[Message | BaseException] = [
        (_LINK, 0, b"lo.."),
        KeyboardInterrupt(),
        (_LINK, 0, b"old."),
        OVER,
        refused,
    ]
    second: list[Message | BaseException] = [(_LINK, 0, b"new."), OVER]
    _, netlink = kernel_that(lambda question: first if question == 0 else second)
    with pytest.raises(KeyboardInterrupt):
        netlink.dump(_GETLINK, b"")
    assert netlink.dump(_GETLINK, b"") == [b"new."]
