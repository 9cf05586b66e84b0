"""Take a request of the notebook from the channel, run the function that the request carries, and send the answer.

What a lab can do is not written here: a request carries a function, pickled by the notebook, and its arguments. The
function gets the `RequestLoop`, in which labs keep their state (the Mininet object) between requests. Results are JSON:
a lab may run code that nobody trusts, and what comes out of it must be data.

A *beat* is the moment `PHASE_NS` after a tick of the kernel's timer (see `await_beat`).
"""

from __future__ import annotations

import base64
import contextlib
import fcntl
import json
import os
import random
import signal
import sys
import time
import traceback
from collections import Counter
from collections.abc import Callable, Iterable
from types import FrameType
from typing import Any, NoReturn

from linklab.errors import LabError, LinklabError
from linklab.guest import background_output, boot, function_transfer, turns
from linklab.guest.channel import LARGEST_SENT_BYTES, AgentEnd, ChannelClosed
from linklab.guest.endless_computing import EndlessComputing
from linklab.guest.output_capture import OutputCapture

MATURE_S = 16.0
"""Seconds of uptime before the first request (see `wait_until_mature`)."""
BEAT_NS = 10_000_000
"""Nanoseconds from one beat to the next: the interval of the kernel's timer ticks."""
PHASE_NS = 5_000_000
"""Nanoseconds from a tick to the beat after it."""
_MAX_BEATS = 20
"""Beats to wait for at most: a program may never become idle."""


_REPETITIONS = 15
"""Repetitions of an interrupt from one look at what computes to the next: 3 s of real time or more."""
SILENT_LIMIT_S = 300_000.0
"""Seconds of the lab's clock for which a request may send nothing; then it is interrupted. If all processes wait for
each other, few timers are due, and virtual time gets there within two seconds of real time; Open vSwitch sets timers
all the time, and then it takes a minute or two."""


class RequestInterrupted(KeyboardInterrupt):
    """The notebook asked to stop the request that runs (Ctrl-C, or its limit of real time), or the request sent nothing
    for `SILENT_LIMIT_S`.
    """


class _NoBeat(Exception):
    """An interrupt came before the beat."""


class RequestLoop:
    """Passed to each function that runs in the lab: messages to the notebook, waiting, interrupts, and ``state``, which
    is kept between requests.
    """

    def __init__(self, channel: AgentEnd, seed: int) -> None:
        self.state: dict[str, Any] = {}
        self.seed = seed
        self._moments = random.Random(seed)
        self._begun: Counter[str] = Counter()
        self.idle_terminals: Callable[[], background_output.Readers] = dict
        """What is read besides while a request waits."""
        self._channel = channel
        self._request = 0
        self.clock_s = self.beat_s = time.monotonic()
        """The lab's clock when it last answered a request that may have changed something; and the last beat."""
        self._looks = False
        """Whether the request that runs only looks."""
        self._printed = OutputCapture()
        self._interruptible = self._awaits_beat = False
        self._interrupt = 0  # the number of the last one that was taken
        self._interrupt_is_due = False
        self._repetitions = 0
        self._endless_computing = EndlessComputing()
        self._hang_answer: dict[str, Any] | None = None
        """What is sent as the answer if the request hung."""
        signal.signal(signal.SIGINT, signal.default_int_handler)  # programs started here would inherit an ignored one
        signal.signal(signal.SIGIO, self._on_input)
        signal.signal(signal.SIGALRM, self._on_silence)
        fcntl.fcntl(channel.read_fd, fcntl.F_SETOWN, os.getpid())
        self._flags = fcntl.fcntl(channel.read_fd, fcntl.F_GETFL)

    def emit(self, event: Any) -> None:
        """Send an event (output, progress) to the notebook while the request still runs.

        Waits for the next beat first, and restarts the silence timer. Raises `LabError` if the message is too long.
        """
        self._emit(event)
        self._restart_silence_timer()

    def emit_clock(self) -> None:
        """Send the lab's clock as an event: the notebook knows then that time passes. It is silence all the same."""
        self._emit({"clock_s": time.monotonic()})

    def _emit(self, event: Any) -> None:
        interruptible, self._interruptible = self._interruptible, False  # an interrupt must not cut a message in two
        try:
            self._beat_comes()  # after an interrupt the caller has its turn at once
            self._send({"event": event, **self._take_printed()})
        finally:
            self._interruptible = interruptible

    def poll(self, fds: Iterable[int], timeout_s: float | None = None) -> list[int]:
        """Block until one of `fds` is readable, and return the readable ones: [] after `timeout_s` of the lab's time,
        or after half of `SILENT_LIMIT_S` if that is less.

        Virtual time advances while this blocks. Raises `RequestInterrupted` when the notebook asks to stop.
        """
        self.check_interrupt()
        if timeout_s is not None and timeout_s > SILENT_LIMIT_S / 10:
            timeout_s = min(timeout_s, SILENT_LIMIT_S / 2)
            self._restart_silence_timer()  # a caller with a timeout does not wait for ever
        ready = background_output.poll([*fds, self._channel.read_fd], timeout_s, self.idle_terminals())
        if self._channel.read_fd in ready:
            self.check_interrupt()
        return [fd for fd in ready if fd != self._channel.read_fd]

    def check_interrupt(self) -> None:
        """Raise `RequestInterrupted` if the notebook asked to stop; never waits."""
        self._poll_interrupts(sys._getframe(1))

    def be_interruptible(self) -> None:
        """Until the request ends, handle an interrupt as a terminal does: raise KeyboardInterrupt at any point, and
        send SIGINT to the programs in this process group.

        For functions that do not call `poll`: a notebook's own, and Mininet's.
        """
        self._interruptible = True
        self.check_interrupt()  # one may have arrived before

    def take_turns(self) -> None:
        """Until the request ends, let other programs have their turns while the function computes, or polls without a
        pause: it is not ours.
        """
        turns.take_turns(0)
        boot.exact_timers()  # which the kernel has set back

    def be_uninterruptible(self) -> None:
        """End `be_interruptible`: clean-up after an interrupt must not be interrupted."""
        self._interruptible = False

    def _set_sigio(self, on: bool) -> None:
        """Turn SIGIO for what arrives on the channel on or off."""
        fcntl.fcntl(self._channel.read_fd, fcntl.F_SETFL, self._flags | os.O_ASYNC if on else self._flags)

    def _on_input(self, number: int, frame: FrameType | None) -> None:
        """Handle SIGIO: the notebook has sent something."""
        if self._awaits_beat:
            self._awaits_beat = False
            if self._take_interrupts(frame):
                raise _NoBeat
            self._awaits_beat = True
        elif self._interruptible:
            self._poll_interrupts(frame)

    def _poll_interrupts(self, frame: FrameType | None) -> None:
        """Take the interrupts that have arrived, and raise `RequestInterrupted` if one is for this request."""
        interruptible, self._interruptible = self._interruptible, False  # this must not interrupt itself
        self._take_interrupts(frame)
        due, self._interrupt_is_due = self._interrupt_is_due, False
        if due and interruptible:
            self._interrupt_programs()
        self._interruptible = interruptible
        if due:
            raise RequestInterrupted

    def _take_interrupts(self, frame: FrameType | None) -> bool:
        """Take the interrupts that have arrived, and return whether one is for this request.

        The notebook repeats an interrupt until the request is answered. A program that computes without end keeps time
        from passing, and the answer from coming, and it may take no notice of SIGINT: then it is killed.
        """
        came = False
        while (message := self._channel.waiting_interrupt()) is not None:
            if message["interrupt"] != self._request:
                continue
            came = True
            if message["number"] > self._interrupt:
                self._interrupt, self._interrupt_is_due, self._repetitions = message["number"], True, 0
                if "silent" in message:  # the notebook saw no message for its limit of real time (`runtime/client.py`)
                    self._note_hang(frame, {"silent": True})
            else:
                self._repetitions += 1
            if self._repetitions % _REPETITIONS == 0:
                self._endless_computing.look()
        return came

    def _on_silence(self, number: int, frame: FrameType | None) -> None:
        """Handle SIGALRM: the request sent nothing for `SILENT_LIMIT_S`, so all can only wait for each other."""
        self._note_hang(frame, {})
        if self._interruptible:
            self._interrupt_programs()
        raise RequestInterrupted

    def _note_hang(self, frame: FrameType | None, more: dict[str, Any]) -> None:
        """Record as the answer which process waits for what, before that changes. `more` is added to the answer; it is
        empty if the lab itself found the silence, and not the notebook.
        """
        from linklab.guest.hang_report import hang_report  # only if it is needed: importing it slows down each start

        waits = hang_report(frame)
        if not more:
            waits = (
                f"the call gave no answer in {SILENT_LIMIT_S:,.0f} s of the lab's time, so it would wait for ever: "
                f"{waits}. Linklab interrupted it, and the lab still runs: first start the program that it waits for, "
                "or give the call a time limit"
            )
        else:
            self._send({"waits": waits})  # at once: there may never be an answer
        self._hang_answer = {"error": waits, "kind": "LabError", **more}

    @property
    def hangs(self) -> bool:
        """Whether the request was interrupted because it gave no sign for too long."""
        return self._hang_answer is not None

    def add_to_hang(self, text: str) -> None:
        """Put `text` before the report, if the request hung: the caller knows more about what it waited for."""
        if self._hang_answer is not None:
            self._hang_answer["error"] = f"{text}: {self._hang_answer['error']}"

    @staticmethod
    def _interrupt_programs() -> None:
        """Send SIGINT to the programs in this process's group, as a terminal does, and not to this process."""
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        with contextlib.suppress(OSError):
            os.killpg(0, signal.SIGINT)
        signal.signal(signal.SIGINT, signal.default_int_handler)

    def _restart_silence_timer(self) -> None:
        """Let SIGALRM come after `SILENT_LIMIT_S` of the lab's time from now."""
        signal.setitimer(signal.ITIMER_REAL, SILENT_LIMIT_S, SILENT_LIMIT_S)

    def serve(self) -> None:
        """Say that the lab is ready, and answer requests until the notebook is gone."""
        boot.seed_kernel(self.seed)
        self.clock_s = time.monotonic()
        self._channel.send({"ready": True, "kernel": os.uname().release, "clock_s": self.clock_s})
        while True:
            request = self._channel.receive()
            if "interrupt" in request:
                continue  # it came too late: its request has been answered
            self._request = request["id"]
            self._interrupt, self._interrupt_is_due = 0, False
            self._hang_answer = None
            with self._printed.gathered():
                answer = self._answer(request)
            answer = (self._hang_answer or answer) | self._take_printed()
            try:
                self._send({"clock_s": self.clock_s, **answer})
            except LabError as refusal:
                self._send({"clock_s": self.clock_s, "error": str(refusal), "kind": "LabError"})

    def _send(self, message: dict[str, Any]) -> None:
        """Send a message that belongs to the request. Raises `LabError` for more than `LARGEST_SENT_BYTES`."""
        size = len(json.dumps(message))
        if size > LARGEST_SENT_BYTES:
            raise LabError(
                f"the answer has {size / 1e6:.0f} MB, more than a lab sends in one message: return less, or "
                "write it to a file and read that with lab.read_file"
            )
        self._channel.send({"id": self._request, **message})

    def begin(self, what: str) -> None:
        """Begin something that is to be the same in every lab with this seed, whatever the lab was asked before: a run
        of a measurement, a command, a program.

        Its moment within a tick, those of the requests that belong to it, and the kernel's random numbers follow from
        the lab's seed, from `what` begins, and from how often that has begun in this lab. So a repetition is another
        sample. Words of `what` with a slash do not count: they may be paths, which are others on another computer.
        """
        what = " ".join(word for word in what.split() if "/" not in word)
        self._begun[what] += 1
        self._moments = random.Random(f"{self.seed} {self._begun[what]} {what}")
        self._await_moment()
        boot.seed_kernel(self._moments.getrandbits(64))

    def _await_moment(self) -> None:
        """Wait for a beat, and then for a time that is drawn: how two flows share a link depends on when they start
        relative to TCP's timers, and repeats of a measurement are to show its random variation.
        """
        self._await_beat()
        time.sleep(self._moments.randrange(BEAT_NS) / 1e9)

    def _await_beat(self) -> None:
        """Wait until the next beat, however often the notebook interrupts: what keeps it from coming is killed."""
        while not self._beat_comes():
            pass

    def _beat_comes(self) -> bool:
        """Wait until the next beat, `PHASE_NS` after a multiple of `BEAT_NS`; False if an interrupt comes before it.

        This costs no real time on virtual time. While a program computes without end, no beat comes.

        All programs that can run without time passing have then run, so a message to the notebook finds the lab at
        rest, and how far a program comes does not depend on how long the notebook takes.

        The kernel rounds TCP's timers to ticks of 10 ms: a measurement that starts at another offset from them sees
        other queues and losses, and gives other digits. Exactly on a tick, TCP's timers would wake programs. If a
        packet wakes a program at the moment of a beat, wait for the next one.
        """
        try:
            self._awaits_beat = True
            for _ in range(_MAX_BEATS):
                now_ns = time.monotonic_ns()
                wait_ns = (PHASE_NS - now_ns) % BEAT_NS
                self.beat_s = (now_ns + wait_ns) / 1e9
                time.sleep(wait_ns / 1e9)
                if _is_only_runnable():
                    break
            self._awaits_beat = False
        except _NoBeat:
            return False
        return True

    def _take_printed(self) -> dict[str, str]:
        printed = self._printed.take()
        return {"printed": printed} if printed else {}

    def _answer(self, request: dict[str, Any]) -> dict[str, Any]:
        """Return the answer to a request. One that may have changed something is answered at a beat."""
        self._looks = False
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
        if not self._looks:
            self._await_beat()
            self._endless_computing.let_go_on()
            self._set_sigio(False)
            self.clock_s = time.monotonic()
        return answer

    def _result(self, request: dict[str, Any]) -> dict[str, Any]:
        """Run the function that was asked for. When it has returned, turn off the signals that could raise.

        It begins a while after a beat, however long the request was and however many files came with it. A function
        that only looks (`lab_api.looks`) begins at once, so it does not change when later requests begin. If it asks
        the clock or starts a program, that takes a little virtual time, but far less than is left until the next beat.
        """
        try:
            self._restart_silence_timer()
            function, arguments = function_transfer.unpacked(base64.b64decode(request["pickle"]))
            self._looks = getattr(function, "looks", False)
            if not self._looks:
                turns.let_workers_go_first()
                self._set_sigio(True)
                self._await_moment()
            result = function(self, *arguments)
            json.dumps(result)
            return {"result": result}
        finally:
            turns.go_first()
            self._interruptible = False
            signal.setitimer(signal.ITIMER_REAL, 0)


def wait_until_mature() -> None:
    """Wait until the uptime is `MATURE_S`: ping and Open vSwitch need it.

    While the clock shows 0 s, ping believes that its clock is not set, and sends without pauses. Open vSwitch forwards
    nothing in its first 10 s, before it has counted the CPUs.
    """
    time.sleep(max(0.0, MATURE_S - time.monotonic()))


def _is_only_runnable() -> bool:
    """Return whether no other process in the lab is runnable (`man 5 proc`, loadavg's fourth field)."""
    with open("/proc/loadavg", encoding="ascii") as file:
        return file.read().split()[3].startswith("1/")


def serve(loop: RequestLoop) -> NoReturn:
    """Run `RequestLoop.serve`, and end this process when the notebook is gone."""
    turns.go_first()
    with contextlib.suppress(ChannelClosed):
        loop.serve()
    os._exit(0)
