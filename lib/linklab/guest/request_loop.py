"""Take a request from the channel, run the function that it names, and answer.

What a lab can do is not written here: a request carries a function, pickled by the notebook, and its arguments. The
function gets the `RequestLoop`, in which labs keep their state (the Mininet object) between requests. Results are JSON:
a lab may run code nobody trusts, and what comes out of it must be data.
"""

from __future__ import annotations

import base64
import contextlib
import fcntl
import json
import os
import random
import select
import signal
import sys
import time
import traceback
from collections.abc import Iterable
from types import FrameType
from typing import Any, NoReturn

from linklab.errors import LabError, LinklabError
from linklab.guest import boot, function_transfer
from linklab.guest.channel import LARGEST_SENT_BYTES, AgentEnd, ChannelClosed
from linklab.guest.output_capture import OutputCapture

MATURE_S = 16.0
BEAT_NS = 10_000_000
PHASE_NS = 5_000_000
_BEATS = 20
"""How many are waited for at most: a program that never rests is no reason to wait for ever."""


SILENT_LIMIT_S = 300_000.0
"""For so long by the lab's own clock a request may be silent on virtual time. Where all wait for each other little else
is due, and the clock is there in a second or two; where Open vSwitch runs, which is never quiet, in a minute or two."""


class RequestInterrupted(KeyboardInterrupt):
    """The notebook asked to stop what runs now (Ctrl-C), or it was silent for too long."""


class RequestLoop:
    """What a function called in the lab works with: its request, and what outlives the request."""

    def __init__(self, channel: AgentEnd, seed: int) -> None:
        self.state: dict[str, Any] = {}
        self.seed = seed
        self._channel = channel
        self._request = self._acts = 0
        self._clock_s = time.monotonic()
        self._reading = False
        self._printed = OutputCapture()
        self._interruptible = self._announced = False
        self._interrupts_seen = (0, 0)  # of which request, and which one
        self._hung: dict[str, Any] | None = None
        signal.signal(signal.SIGINT, signal.default_int_handler)  # for what is started here, too
        signal.signal(signal.SIGIO, self._on_input)
        signal.signal(signal.SIGALRM, self._on_silence)
        fcntl.fcntl(channel.read_fd, fcntl.F_SETOWN, os.getpid())

    def emit(self, event: Any) -> None:
        """Send something to the notebook while the request still runs: output, progress.

        Raises `LabError` for what is too long.
        """
        interruptible, self._interruptible = self._interruptible, False  # no message may be torn
        try:
            await_beat()
            self._send({"event": event, **self._take_printed()})
        finally:
            self._interruptible = interruptible
        self._limit()

    def poll(self, fds: Iterable[int], timeout_s: float | None = None) -> list[int]:
        """Block until one of `fds` is readable, in the lab's own time; the readable ones, [] after `timeout_s`, or
        earlier where that is longer than the lab may be silent.

        This is where time passes on virtual time. Raises `RequestInterrupted` when the notebook asks to stop.
        """
        self.check_interrupt()
        if timeout_s is not None and timeout_s > SILENT_LIMIT_S / 10:
            timeout_s = min(timeout_s, SILENT_LIMIT_S / 2)
            self._limit()  # who names an end does not wait for ever
        poller = select.poll()
        for fd in (*fds, self._channel.read_fd):
            poller.register(fd, select.POLLIN | select.POLLHUP)
        ready = [fd for fd, _ in poller.poll(None if timeout_s is None else max(0.0, timeout_s) * 1000)]
        if self._channel.read_fd in ready:
            self.check_interrupt()
        return [fd for fd in ready if fd != self._channel.read_fd]

    def check_interrupt(self) -> None:
        """Raise `RequestInterrupted` if the notebook asked to stop; never waits."""
        self._look_for_interrupt(sys._getframe(1))

    def be_interruptible(self) -> None:
        """From here to the end of the request an interrupt comes as in a terminal: at any step, as a
        KeyboardInterrupt, and to the programs that this process started and that share its process group.

        For functions that do not know of `poll`: a notebook's own, and Mininet's.
        """
        self._announce(True)
        self._interruptible = True
        self.check_interrupt()  # it may have come before

    def be_uninterruptible(self) -> None:
        """End `be_interruptible`: what is put in order after an interrupt must come to its end."""
        self._interruptible = False

    def _announce(self, on: bool) -> None:
        """Say whether what arrives on the channel sends SIGIO to this process."""
        self._announced = on
        flags = fcntl.fcntl(self._channel.read_fd, fcntl.F_GETFL)
        fcntl.fcntl(self._channel.read_fd, fcntl.F_SETFL, flags | os.O_ASYNC if on else flags & ~os.O_ASYNC)

    def _on_input(self, number: int, frame: FrameType | None) -> None:
        """SIGIO: the notebook has sent something."""
        if self._interruptible:
            self._look_for_interrupt(frame)

    def _look_for_interrupt(self, frame: FrameType | None) -> None:
        interruptible, self._interruptible = self._interruptible, False  # this must not interrupt itself
        message = self._channel.receive_waiting("interrupt")
        # each is sent until it is answered, and may have meant an earlier request
        while message is not None and (message["interrupt"], message["number"]) <= self._interrupts_seen:
            message = self._channel.receive_waiting("interrupt")
        if message is not None:
            self._interrupts_seen = message["interrupt"], message["number"]
            if "silent" in message:
                self._hang(frame, {"silent": True})
            if interruptible:
                self._interrupt_programs()
        self._interruptible = interruptible
        if message is not None:
            raise RequestInterrupted

    def _on_silence(self, number: int, frame: FrameType | None) -> None:
        """SIGALRM: so much of the lab's time passed that all there can only wait for each other."""
        self._hang(frame, {})
        if self._interruptible:
            self._interrupt_programs()
        raise RequestInterrupted

    def _hang(self, frame: FrameType | None, more: dict[str, Any]) -> None:
        """Note who waits for what, before that changes: it becomes the answer."""
        from linklab.guest.hang_report import hang_report  # only where it is needed: each start would pay for it

        waits = hang_report(frame)
        if not more:
            waits = (
                f"no answer in {SILENT_LIMIT_S:,.0f} s of the lab's time, so it would wait for ever: {waits}. It was "
                "interrupted and the lab runs on: start what it waits for before, or give it a time limit"
            )
        self._hung = {"error": waits, "kind": "LabError", **more}

    def add_to_hang(self, text: str) -> None:
        """Add what the one who interrupted cannot know, where a hang was the reason."""
        if self._hung is not None:
            self._hung["error"] = f"{text}: {self._hung['error']}"

    @staticmethod
    def _interrupt_programs() -> None:
        """SIGINT for what shares this process's group, as a terminal sends it."""
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        with contextlib.suppress(OSError):
            os.killpg(0, signal.SIGINT)
        signal.signal(signal.SIGINT, signal.default_int_handler)

    def _limit(self) -> None:
        """Count the lab's time anew from which on silence is taken for waiting for ever."""
        signal.setitimer(signal.ITIMER_REAL, SILENT_LIMIT_S, SILENT_LIMIT_S)

    def serve(self) -> None:
        """Say that the lab is ready, and answer requests until the notebook is gone."""
        self._clock_s = time.monotonic()
        self._channel.send({"ready": True, "kernel": os.uname().release, "clock_s": self._clock_s})
        while True:
            request = self._channel.receive()
            if "interrupt" in request:
                continue  # it came too late: the request it meant has been answered
            self._request = request["id"]
            self._interrupts_seen = self._request, 0
            self._reading = request.get("reads") is True
            answer = self._look(request) if self._reading else self._act(request)
            try:
                self._send({"clock_s": self._clock_s, **answer})
            except LabError as refusal:
                self._send({"clock_s": self._clock_s, "error": str(refusal), "kind": "LabError"})

    def _send(self, message: dict[str, Any]) -> None:
        """Hand over what belongs to the request. Raises `LabError` for what is longer than the notebook takes."""
        size = len(json.dumps(message))
        if size > LARGEST_SENT_BYTES:
            raise LabError(
                f"the answer has {size / 1e6:.0f} MB, more than comes out of a lab at once: return less, or "
                "write it to a file and take that with lab.read_file"
            )
        self._channel.send({"id": self._request, **message})

    def now_s(self) -> float:
        """Return the lab's clock. While a request only reads it is what it was when the lab last came to rest."""
        return self._clock_s if self._reading else time.monotonic()

    def _act(self, request: dict[str, Any]) -> dict[str, Any]:
        """Answer a request that may change something: it takes time, and has random numbers of its own."""
        self._begin()
        with self._printed.gathered():
            answer = self._answer(request)
            await_beat()
        answer |= self._take_printed()
        self._clock_s = time.monotonic()
        return answer

    def _look(self, request: dict[str, Any]) -> dict[str, Any]:
        """Answer a request that only reads: it waits for no beat, is not counted, and draws nothing, so what is asked
        later begins at the same moment with the same random numbers.

        What a read costs, because it asks the clock or starts a program, is far less than what is left of the beat.
        """
        with self._printed.gathered():
            answer = self._answer(request)
        return answer | self._take_printed()

    def _begin(self) -> None:
        """Let a request be the same in each lab, of whatever kind, and no two requests the same.

        It begins on a beat, however long it was and however many files came with it, and then waits for a moment that
        is drawn for it: two flows that meet share a link in another way if they begin elsewhere between two of TCP's
        ticks, and a measurement that is repeated shall show how much chance is in it. Its random numbers are its own,
        whatever was drawn before.
        """
        self._acts += 1
        await_beat()
        seed = (self.seed + (self._acts << 32)) % 2**64
        time.sleep(random.Random(seed).randrange(BEAT_NS) / 1e9)
        boot.seed_kernel(seed)

    def _take_printed(self) -> dict[str, str]:
        printed = self._printed.take()
        return {"printed": printed} if printed else {}

    def _answer(self, request: dict[str, Any]) -> dict[str, Any]:
        self._hung = None
        try:
            answer = self._result(request)
        except KeyboardInterrupt:
            answer = {"interrupted": True}
        except LinklabError as error:
            answer = {"error": str(error), "kind": type(error).__name__}
        except ChannelClosed:
            raise
        except BaseException as error:
            answer = {
                "error": f"{type(error).__name__}: {error}",
                "kind": "",
                "trace": traceback.format_exc(),
            }
        return answer if self._hung is None else self._hung

    def _result(self, request: dict[str, Any]) -> dict[str, Any]:
        """Run the function. Afterwards no signal raises anything."""
        try:
            self._limit()
            function, arguments = function_transfer.unpacked(base64.b64decode(request["pickle"]))
            result = function(self, *arguments)
            json.dumps(result)
            return {"result": result}
        finally:
            self._interruptible = False
            signal.setitimer(signal.ITIMER_REAL, 0)
            if self._announced:
                self._announce(False)


def wait_until_mature() -> None:
    """Wait until the uptime is `MATURE_S`: ping and Open vSwitch need it.

    ping sends without its interval while the clock's seconds are 0, which it takes for "not set yet", and Open
    vSwitch forwards nothing in its first 10 s, because it has not counted the processor's cores.
    """
    time.sleep(max(0.0, MATURE_S - time.monotonic()))


def await_beat() -> None:
    """Sleep until `PHASE_NS` after the next multiple of `BEAT_NS`, which costs nothing on virtual time.

    So each message to the notebook finds the lab at rest: whatever could run without time passing has run, and how
    far a program comes while the agent waits for the notebook does not depend on how long that takes.

    The kernel keeps TCP's timers in ticks of 10 ms: a measurement that begins elsewhere between two of them meets
    other queues, loses other packets and gives other digits. On a tick itself programs would wake that TCP's timers
    serve. Where a packet wakes a program at the very moment of a beat, the next beat serves as well.
    """
    for _ in range(_BEATS):
        time.sleep((PHASE_NS - time.monotonic_ns()) % BEAT_NS / 1e9)
        if _is_alone():
            return


def _is_alone() -> bool:
    """Return whether this process alone wants to run in the lab (`man 5 proc`, loadavg's fourth field)."""
    with open("/proc/loadavg", encoding="ascii") as file:
        return file.read().split()[3].startswith("1/")


def serve(loop: RequestLoop) -> NoReturn:
    """Say that the lab is ready, answer requests until the notebook is gone, and end."""
    with contextlib.suppress(ChannelClosed):
        loop.serve()
    os._exit(0)
