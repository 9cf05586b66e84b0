"""Ask a lab from the notebook, one request at a time, interrupt it, end it."""

from __future__ import annotations

import base64
import contextlib
import math
import sys
import threading
import time
from collections.abc import Callable, Iterable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn, TypeVar, TypeVarTuple

from linklab import errors, record
from linklab.errors import LabEnded, LabError
from linklab.guest import function_transfer
from linklab.guest.channel import LARGEST_SENT_BYTES, ChannelClosed, ChannelTimeout, Message
from linklab.runtime.backends import Kind, whole_seed
from linklab.runtime.qemu.transport import QemuLab
from linklab.runtime.transport import LONGER_S, BorrowedLab, Transport
from linklab.runtime.user_mode import UserModeLab
from linklab.signals import Held

if TYPE_CHECKING:
    from linklab.guest.request_loop import RequestLoop

Arguments = TypeVarTuple("Arguments")
Answer = TypeVar("Answer")

WALL_LIMIT_S = 600.0
_INTERRUPT_LIMIT_S = 15.0
_LOOK_UP_S = 0.2
_KEPT_CHARACTERS = 8_000_000
_BUSY_SHARE = 0.1
"""CPU share from which a silent lab counts as computing. A waiting one needs next to nothing; cores may be shared."""
_MORE_MEMORY = "let programs in it use less, or set LINKLAB_GUEST_MB to more before you start it"


class LabProcess:
    """A running lab process. Ends with `stop`, with this process, or with the death of either side."""

    def __init__(self, transport: Transport, wall_limit_s: float, seed: int) -> None:
        """Take a lab that has booted. `wall_limit_s` bounds how long one request may stay silent in real time: code
        that waits in a busy loop would hang a virtual guest for ever.
        """
        self.transport, self.wall_limit_s, self.seed = transport, wall_limit_s, seed
        self._lock = threading.RLock()
        self._requests = 0
        self._clock_s = transport.about.clock_s
        self._stopped = self._asking = False

    @classmethod
    def spawn(
        cls,
        kind: Kind,
        folder: Path | None,
        wall_limit_s: float = WALL_LIMIT_S,
        *,
        untrusted: bool = False,
        seed: int = 0,
        reads: Iterable[Path] = (),
    ) -> LabProcess:
        """Start a lab and return when it answers.

        `folder` is the only one the lab may write to; a guest may read `reads` besides. `untrusted` refuses where
        bubblewrap cannot confine it (see `linklab.runtime.container`). All random numbers of the lab come from `seed`
        (see `linklab.start`). Raises `LabError` with the last lines of the console where it does not come up.
        """
        transport = QemuLab if kind.name == "qemu" else UserModeLab
        return cls(transport(kind, folder, untrusted=untrusted, seed=whole_seed(seed), reads=reads), wall_limit_s, seed)

    @classmethod
    def borrow(cls, lender: str, wall_limit_s: float, seed: int) -> LabProcess:
        """Ask the lender at a socket for a lab. Raises `LabError` where none is given."""
        return cls(BorrowedLab(lender, wall_limit_s, whole_seed(seed)), wall_limit_s + LONGER_S, seed)

    @property
    def kind(self) -> Kind:
        """The kind of lab that runs."""
        return self.transport.about.kind

    @property
    def kernel_release(self) -> str:
        """The lab's kernel, as ``uname -r`` says it."""
        return self.transport.about.kernel_release

    @property
    def running(self) -> bool:
        """Whether the lab still can be asked."""
        return not self._stopped and self.transport.running

    @property
    def clock_s(self) -> float:
        """The lab's own clock when it last answered, in seconds."""
        return self._clock_s

    @property
    def group_pid(self) -> int:
        """The process group of the lab itself; 0 for one that has none here."""
        return self.transport.group_pid

    def cpu_s(self) -> float:
        """Return how long the lab's processes have had a core so far, in seconds."""
        return self.transport.cpu_s()

    def call(
        self,
        function: Callable[[RequestLoop, *Arguments], Answer],
        *arguments: *Arguments,
        on_event: Callable[[Any], None] | None = None,
        stop: Callable[[], bool] | None = None,
        on_print: Callable[[str], None] | None = None,
    ) -> Answer:
        """Run a function inside, with the agent's `RequestLoop` before its arguments; return its answer as JSON data.

        What the lab's Python can import goes by name, other definitions as text (`linklab.guest.function_transfer`).

        `on_event` gets what the function emits while it runs. Time passes in the lab only meanwhile. `stop` is
        asked now and then whether the function is to be interrupted, as Ctrl-C does; an answer that it gives all the
        same counts. `on_print` gets what the lab prints meanwhile, which is printed here otherwise.
        Raises what `linklab.errors` the function raised; `LabError` for any other failure; `LabEnded` for silence
        longer than the wall limit, or when the lab is gone; KeyboardInterrupt once the function was told to stop.
        """
        show = _show if on_print is None else on_print
        carried = function_transfer.packed((function, arguments))
        request: Message = {"pickle": base64.b64encode(carried).decode()}
        if len(request["pickle"]) > LARGEST_SENT_BYTES:
            raise LabError(
                f"the request has {len(carried) / 1e6:.0f} MB, more than goes into a lab at once: hand over less, or "
                "write it to a file with lab.write_file and read that inside"
            )
        answer, interrupted = self.relay(request, on_event, stop, show)
        for program in answer.get("killed", []):
            print(f"{self._short_of_memory} and ended {program}: {_MORE_MEMORY}", file=sys.stderr)
        result: Answer = _result(answer, show)
        if interrupted:  # what was asked for came to its end before it looked
            raise KeyboardInterrupt
        return result

    def relay(
        self,
        request: Message,
        on_event: Callable[[Any], None] | None,
        stop: Callable[[], bool] | None,
        on_print: Callable[[str], None] | None = None,
    ) -> tuple[Message, bool]:
        """Hand on a request as it is; return the lab's answer as it came, and whether Ctrl-C was pressed meanwhile.

        What is printed before the answer goes to `on_print`, or comes with the answer.
        Raises `LabError` and KeyboardInterrupt as `call` does, but not for what the answer says.
        """
        with self._lock:
            if self._stopped:
                raise LabEnded("this lab has been stopped: start a new one with linklab.start(...)")
            if stop is not None and stop():  # while it waited for another request to end
                raise KeyboardInterrupt
            if self._asking:
                raise LabError("a lab cannot be asked by what it calls back: note what came, and ask afterwards")
            self._requests += 1
            with Held() as held:  # nothing may come between the lab's going on and its pause, nor tear a message
                self._asking = True
                try:
                    self.transport.resume()
                    answer, failure = self._ask({**request, "id": self._requests}, on_event, stop, on_print, held)
                except ChannelClosed as closed:
                    reason = self._why_it_ended(str(closed))
                    self.stop()
                    raise LabEnded(f"{reason}; start a new one with linklab.start(...)") from None
                except ChannelTimeout as silence:
                    self.stop()
                    raise LabEnded(*silence.args) from None
                except BaseException:
                    self.stop()
                    raise
                finally:
                    self._asking = False
                self.transport.pause()
                answer["killed"] = self.transport.killed_for_memory(answer)
            if failure is not None and not isinstance(failure, KeyboardInterrupt):
                raise failure
            return answer, failure is not None and not isinstance(failure, _Stopped)

    def _ask(
        self,
        request: Message,
        on_event: Callable[[Any], None] | None,
        stop: Callable[[], bool] | None,
        on_print: Callable[[str], None] | None,
        held: Held,
    ) -> tuple[Message, BaseException | None]:
        """Return the answer, and what was raised meanwhile on this side, for which the function was interrupted.

        Silent for too long, it is interrupted as well, and asked who waits for what. Ctrl-C, and what `on_event` does,
        come between two messages, or between two frames of the request.
        """
        channel, transport = self.transport.channel, self.transport
        since, silence = time.monotonic(), _Silence(self)
        told: float | None = None
        again = 0.0  # when the interrupt is sent next: it may have come just before the function began to wait
        interrupt: Message = {"interrupt": request["id"], "number": 0}
        failure: BaseException | None = None
        printed = ""
        try:
            channel.send(request, self.wall_limit_s, between=held.let_through)
        except ChannelTimeout:
            raise ChannelTimeout(silence.message(" and was ended")) from None
        except KeyboardInterrupt as pressed:  # the lab has dropped what it had of the request
            return {"interrupted": True}, pressed
        while True:
            message = None
            with contextlib.suppress(ChannelTimeout):
                message = channel.receive(_LOOK_UP_S)
            try:
                if message is None or message.get("id") != request["id"]:
                    held.let_through()
                elif "waits" in message:
                    silence.waits = str(message["waits"])
                else:
                    if "event" not in message:
                        break
                    since, silence = time.monotonic(), _Silence(self)
                    if told is not None and failure is None:
                        told = since  # it was asked only whether it lives
                    if on_print is None:
                        printed = (printed + str(message.get("printed", "")))[-_KEPT_CHARACTERS:]
                    held.let_through(partial(_hand_over, message, on_event, on_print))
                if failure is None and stop is not None and stop():
                    raise _Stopped
            except BaseException as error:
                if failure is None:  # one is enough: whoever presses Ctrl-C twice means it once
                    failure, told, again = error, time.monotonic(), 0.0
                    interrupt = {"interrupt": request["id"], "number": interrupt["number"] + 1}
            if message is None:
                silence.goes_on()
            now = time.monotonic()
            if told is None:
                if now - since < self.wall_limit_s:
                    continue
                told = now
                interrupt |= {"number": 1, "silent": True}
            if now - told >= min(_INTERRUPT_LIMIT_S, self.wall_limit_s):
                after = "" if failure is None else ", interrupted meanwhile,"
                raise ChannelTimeout(silence.message(f"{after} and was ended"))
            if now >= again:
                channel.send(interrupt)
                again = now + _LOOK_UP_S
            transport.force_interrupt()
        if "silent" in message:
            silence.waits = str(message.get("error", ""))
            message["error"] = silence.message("")
        if printed:
            message["printed"] = printed + str(message.get("printed", ""))
        self._clock_s = _clock_s(message)
        if "interrupted" in message and failure is None:
            del message["interrupted"]
            message |= {"error": "it was interrupted inside the lab, and not from here", "kind": "LabError"}
        return message, failure

    def _why_it_ended(self, closed: str) -> str:
        tail = self.transport.console_tail()
        if self.transport.killed_for_memory({}) or "deadlocked on memory" in tail:
            return f"{self._short_of_memory} and ended: {_MORE_MEMORY}"
        return f"the lab ended unexpectedly: {tail or closed}"

    @property
    def _short_of_memory(self) -> str:
        return f"the lab ran out of its {self.transport.about.memory_mb} MB of memory"

    def stop(self) -> None:
        """End the lab and everything it made, and return when it is gone. Calling it twice does no harm."""
        if self._stopped:
            return
        with Held():  # a lab that is half ended could not be ended again
            self._stopped = True
            self.transport.hang_up()
            with self._lock:
                self.transport.close()
        record.tally(self._clock_s - self.transport.about.clock_s)

    def __reduce__(self) -> NoReturn:
        raise LabError("a running lab cannot go into a lab: a function gets Mininet's net as its first argument there")

    def __enter__(self) -> LabProcess:
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()


class _Stopped(KeyboardInterrupt):
    """The caller's `stop` asked to interrupt the function; nobody pressed Ctrl-C."""


class _Silence:
    """A time without a message from a lab, and how much of it the lab computed."""

    def __init__(self, lab: LabProcess) -> None:
        self._lab = lab
        self._since: tuple[float, float] | None = None
        self.waits = ""
        """What the lab itself said of it."""

    def goes_on(self) -> None:
        """Read how much the lab has computed, the first time: few requests are so long that it matters."""
        if self._since is None:
            self._since = time.monotonic(), self._lab.cpu_s()

    def message(self, outcome: str) -> str:
        """Return what happened, why, and what helps."""
        lab = self._lab
        text = (
            f"the lab was silent for {lab.wall_limit_s:g} s of real time{outcome or ', was interrupted and runs on'}: "
        )
        passed_s, computed_s = 0.0, 0.0
        if self._since is not None:
            passed_s, computed_s = time.monotonic() - self._since[0], lab.cpu_s() - self._since[1]
        if computed_s >= _BUSY_SHARE * passed_s > 0:
            text += (
                f"it computed for {computed_s:.1f} of {passed_s:.1f} s, in a busy loop or for a long time (on virtual "
                "time a busy loop waits for ever: let it sleep)"
            )
        elif passed_s > 0:
            text += f"it computed for only {computed_s:.1f} of {passed_s:.1f} s and waited"
        else:
            text += "it gave no sign"
        return (
            text + (f". {self.waits}" if self.waits else "") + "; linklab.start(..., wall_limit_s=) gives it more time"
        )


def _show(text: str) -> None:
    print(text, end="", flush=True)


def _hand_over(
    message: Message, on_event: Callable[[Any], None] | None, on_print: Callable[[str], None] | None
) -> None:
    """Hand over an event, and before it what was printed until then."""
    if on_print is not None and "printed" in message:
        on_print(str(message["printed"]))
    if on_event is not None:
        on_event(message["event"])


def _clock_s(answer: Message) -> float:
    """Return the lab's clock in an answer.

    Raises `ChannelClosed` for what no lab would answer: it may have been made up.
    """
    clock_s = answer.get("clock_s")
    sound = isinstance(clock_s, float) and math.isfinite(clock_s)
    if not sound or not {"result", "error", "interrupted"} & set(answer):
        raise ChannelClosed("it answers what no lab would")
    assert isinstance(clock_s, float)
    return clock_s


def _result(answer: Message, show: Callable[[str], None]) -> Any:
    if "printed" in answer:
        show(str(answer["printed"]))
    if "interrupted" in answer:
        raise KeyboardInterrupt
    if "error" in answer:
        error = errors.BY_NAME.get(str(answer.get("kind")), LabError)(str(answer["error"]))
        if "trace" in answer:
            error.add_note(f"inside the lab:\n{answer['trace']}")
        raise error
    return answer["result"]
