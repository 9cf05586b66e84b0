"""The notebook's side of the channel: starts a lab process, asks it, ends it."""

from __future__ import annotations

import contextlib
import json
import os
import re
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from linklab import errors
from linklab.errors import LabError
from linklab.runtime import tally, usage
from linklab.runtime.carried import carried
from linklab.runtime.kinds import Kind, guest_memory_mb, whole_seed
from linklab.runtime.launch import launch
from linklab.runtime.wire import Channel, ChannelClosed, ChannelTimeout
from linklab.signals import Held

BOOT_LIMIT_S = 30.0
WALL_LIMIT_S = 600.0
_INTERRUPT_LIMIT_S = 15.0
_LOOK_UP_S = 0.2
_BUSY_SHARE = 0.1
"""Of the time in which a lab was silent. One that waits computes next to nothing; one that computes shares its core."""
_CONSOLE_TAIL_LINES = 5
_KILLED = re.compile(r"^Out of memory.*: Killed process \d+ \((.*?)\)", re.MULTILINE)
_MORE_MEMORY = "let programs in it use less, or set LINKLAB_GUEST_MB to more before you start it"
_PLAIN = (str, int, float, bool, type(None))


class LabProcess:
    """A running lab process. Ends with `stop`, with this process, or with the death of either side."""

    def __init__(
        self,
        kind: Kind,
        folder: Path | None,
        wall_limit_s: float = WALL_LIMIT_S,
        *,
        narrow: bool = False,
        seed: int = 0,
    ) -> None:
        """Starts the lab and returns when its agent answers.

        `folder` is the only one the lab may write to. `wall_limit_s` bounds how long one request may stay silent
        in real time: code that waits in a busy loop would hang a virtual guest for ever. `narrow` hides from the lab
        all files of the host but the system's, Linklab's and `folder` (see `linklab.runtime.bwrap`). All random
        numbers of the lab come from `seed` (see `linklab.start`).
        Raises `LabError` with the last lines of the console where it does not come up.
        """
        self.kind, self.folder, self.wall_limit_s, self.seed = kind, folder, wall_limit_s, whole_seed(seed)
        self._lock = threading.RLock()
        self._requests = 0
        self._clock_s: list[float] = []
        self._stopped = False
        self._group = 0
        self._memory_mb = guest_memory_mb()
        self._console_read = 0
        launched = launch(kind, folder, narrow=narrow, memory_mb=self._memory_mb, seed=self.seed)
        self._keeper, self._console, info = launched.supervisor, launched.console, launched.info_fd
        self._lifeline, self._ours = launched.lifeline, launched.ours
        native = kind.name == "native"
        self._channel = Channel(self._ours.fileno(), self._ours.fileno())
        try:
            ready = self._channel.receive(BOOT_LIMIT_S)
            self.kernel_release, self._clock_s = ready["kernel"], [ready["clock_s"]]
            self.kernel_seeded = bool(ready["kernel_seeded"])
            self._group = 0 if native else json.loads(os.read(info, 4096))["child-pid"]
        except (ChannelClosed, ChannelTimeout) as failure:
            tail = self.console_tail()
            self.stop()
            how = "did not answer" if isinstance(failure, ChannelTimeout) else "ended while starting"
            raise LabError(
                f"the lab {how}: {tail or 'its console is empty'} (linklab doctor tells what is missing)"
            ) from None
        except BaseException:
            self.stop()
            raise
        finally:
            os.close(info)
        self._pause()

    @property
    def running(self) -> bool:
        """Whether the lab still can be asked."""
        return not self._stopped and self._keeper.poll() is None

    @property
    def clock_s(self) -> float:
        """The lab's own clock when it last answered, in seconds."""
        return self._clock_s[-1]

    @property
    def keeper_pid(self) -> int:
        """The process id of the lab's keeper, for tests of crash-proofness."""
        return self._keeper.pid

    @property
    def group_pid(self) -> int:
        """The process group of the lab itself."""
        return self._group

    def call(
        self,
        function: str | Callable[..., Any],
        *arguments: Any,
        on_event: Callable[[Any], None] | None = None,
        stop: Callable[[], bool] | None = None,
        on_print: Callable[[str], None] | None = None,
    ) -> Any:
        """Runs a function inside: ``"module:name"``, or a Python function, which is carried over as arguments are.

        `on_event` gets what the function emits while it runs. Time passes in the lab only meanwhile. `stop` is
        asked now and then whether the function is to be interrupted, as Ctrl-C does; an answer that it gives all the
        same counts. `on_print` gets what the lab prints meanwhile, which is printed here otherwise.
        Raises what `linklab.errors` the function raised; `LabError` for any other failure, for silence longer
        than the wall limit, or when the lab is gone; KeyboardInterrupt once the function was told to stop.
        """
        show = _show if on_print is None else on_print
        answer, interrupted = self.relay(_request(function, arguments), on_event, stop, show)
        for program in self.killed_for_memory():
            print(f"{self._short_of_memory} and ended {program}: {_MORE_MEMORY}", file=sys.stderr)
        result = self._result(answer, show)
        if interrupted:  # what was asked for came to its end before it looked
            raise KeyboardInterrupt
        return result

    def relay(
        self,
        request: dict[str, Any],
        on_event: Callable[[Any], None] | None,
        stop: Callable[[], bool] | None,
        on_print: Callable[[str], None] | None = None,
    ) -> tuple[dict[str, Any], bool]:
        """Hands on a request as it is; the lab's answer as it came, and whether Ctrl-C was pressed meanwhile.

        What is printed before the answer goes to `on_print`, or comes with the answer.
        Raises `LabError` and KeyboardInterrupt as `call` does, but not for what the answer says.
        """
        with self._lock:
            if self._stopped:
                raise LabError("this lab has been stopped: start a new one with linklab.start(...)")
            if stop is not None and stop():  # while it waited for another request to end
                raise KeyboardInterrupt
            self._requests += 1
            with Held() as held:  # nothing may come between the lab's going on and its pause, nor tear a message
                self._resume()
                try:
                    answer, failure = self._ask({**request, "id": self._requests}, on_event, stop, on_print, held)
                except ChannelClosed:
                    tail, killed = self.console_tail(), self.killed_for_memory()
                    self.stop()
                    if killed or "deadlocked on memory" in tail:
                        raise LabError(
                            f"{self._short_of_memory} and ended: {_MORE_MEMORY}, and start a new one"
                        ) from None
                    raise LabError(
                        f"the lab ended unexpectedly: {tail or 'killed'}; start a new one with linklab.start(...)"
                    ) from None
                except ChannelTimeout as silence:
                    self.stop()
                    raise LabError(*silence.args) from None
                except BaseException:
                    self.stop()
                    raise
                self._pause()
            if failure is not None and not isinstance(failure, KeyboardInterrupt):
                raise failure
            return answer, failure is not None and not isinstance(failure, _Stopped)

    def _ask(
        self,
        request: dict[str, Any],
        on_event: Callable[[Any], None] | None,
        stop: Callable[[], bool] | None,
        on_print: Callable[[str], None] | None,
        held: Held,
    ) -> tuple[dict[str, Any], BaseException | None]:
        """The answer, and what was raised meanwhile on this side, for which the function was interrupted.

        Silent for too long, it is interrupted as well, and asked who waits for what.
        """
        since, silence = time.monotonic(), _Silence(self)
        told: float | None = None
        interrupt: dict[str, Any] = {"interrupt": request["id"], "number": 0}
        failure: BaseException | None = None
        printed = ""
        try:
            self._channel.send(request, self.wall_limit_s)
        except ChannelTimeout:
            raise ChannelTimeout(silence.message("and was ended")) from None
        while True:
            message = None
            with contextlib.suppress(ChannelTimeout):
                message = self._channel.receive(_LOOK_UP_S)
            try:
                if message is None:
                    held.let_through()
                elif message["id"] == request["id"]:
                    if "event" not in message:
                        break
                    since, silence = time.monotonic(), _Silence(self)
                    told = told and since
                    if on_print is None:
                        printed += message.get("printed", "")
                    held.let_through(partial(_hand_over, message, on_event, on_print))
                if failure is None and stop is not None and stop():
                    raise _Stopped
            except BaseException as error:
                if failure is not None:
                    raise
                failure, told = error, time.monotonic()
                interrupt = {"interrupt": request["id"], "number": interrupt["number"] + 1}
                self._channel.send(interrupt, wait=False)
            if message is not None:
                continue
            silence.goes_on()
            now = time.monotonic()
            if told is None:
                if now - since >= self.wall_limit_s:
                    told = now
                    interrupt |= {"number": 1, "silent": True}
                    self._channel.send(interrupt, wait=False)
                continue
            if now - told >= min(_INTERRUPT_LIMIT_S, self.wall_limit_s):
                after = "" if failure is None else ", interrupted meanwhile,"
                raise ChannelTimeout(silence.message(f"{after} and was ended"))
            if self._channel.all_read:  # it may have come just before the function began to wait
                self._channel.send(interrupt, wait=False)
            self._rouse()
        if "silent" in message:
            message["error"] = silence.message("", message["error"])
        self._clock_s[1:] = [float(message["clock_s"])]
        if printed:
            message["printed"] = printed + message.get("printed", "")
        return message, failure

    def _computed_s(self) -> float:
        """How long the lab's processes have had a core so far, in seconds."""
        return usage.lab_cpu_s(self.keeper_pid)

    def _rouse(self) -> None:
        """Has a guest on virtual time that computes see what arrived. Its kernel runs when the program calls it,
        when time passes, or when SIGALRM comes to the program, which is a process here.
        """
        if not (self.kind.stops_between_requests and self._group):
            return
        for folder in Path("/proc").iterdir():
            if folder.name.isdigit():
                with contextlib.suppress(OSError, ValueError, IndexError):
                    state, parent = (folder / "stat").read_text("utf-8", "replace").rpartition(")")[2].split()[:2]
                    if state == "R" and int(parent) == self._group and _catches_alarm(folder):
                        os.kill(int(folder.name), signal.SIGALRM)

    def _result(self, answer: dict[str, Any], show: Callable[[str], None]) -> Any:
        if "printed" in answer:
            show(answer["printed"])
        if "interrupted" in answer:
            raise KeyboardInterrupt
        if "error" in answer:
            kind = getattr(errors, answer["kind"], None) if answer["kind"] else None
            error: Exception = (kind or LabError)(answer["error"])
            if "trace" in answer:
                error.add_note("inside the lab:\n" + answer["trace"])
            raise error
        return answer["result"]

    def _pause(self) -> None:
        if self.kind.stops_between_requests:
            self._signal(signal.SIGSTOP)

    def _resume(self) -> None:
        if self.kind.stops_between_requests:
            self._signal(signal.SIGCONT)

    def _signal(self, number: signal.Signals) -> None:
        if self._group and self._keeper.poll() is None:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(self._group, number)

    def killed_for_memory(self) -> list[str]:
        """The programs that the guest's kernel has ended since the last call because its memory was full."""
        size = os.fstat(self._console.fileno()).st_size
        new = os.pread(self._console.fileno(), size - self._console_read, self._console_read)
        self._console_read += new.rfind(b"\n") + 1
        return _KILLED.findall(new.decode(errors="replace"))

    @property
    def _short_of_memory(self) -> str:
        return f"the lab ran out of its {self._memory_mb} MB of memory"

    def console_tail(self) -> str:
        """The last lines that the guest's kernel or the tools around it wrote, as one line."""
        size = self._console.seek(0, os.SEEK_END)
        self._console.seek(max(0, size - 4096))
        lines = [line.strip() for line in self._console.read().decode(errors="replace").splitlines()]
        return " | ".join([line for line in lines if line][-_CONSOLE_TAIL_LINES:])

    def stop(self) -> None:
        """Ends the lab and everything it made, and returns when it is gone. Calling it twice does no harm."""
        if self._stopped:
            return
        self._stopped = True
        if self.kind.clock == "virtual" and self._clock_s:
            tally.add(self._clock_s[-1] - self._clock_s[0])
        with contextlib.suppress(OSError):
            # wakes a request of another thread; after close alone it would go on with a number that others reuse
            self._ours.shutdown(socket.SHUT_RDWR)
        self._lifeline.close()
        try:
            self._keeper.wait(timeout=10)
        except subprocess.TimeoutExpired:
            self._keeper.kill()
            self._keeper.wait()
        with self._lock:
            self._ours.close()
            self._console.close()

    def __enter__(self) -> LabProcess:
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()


class _Stopped(KeyboardInterrupt):
    """The function was to be interrupted by whoever is asked for that, not by Ctrl-C."""


class _Silence:
    """A time without a message from a lab, and how much of it the lab computed."""

    def __init__(self, lab: LabProcess) -> None:
        self._lab = lab
        self._since: tuple[float, float] | None = None

    def goes_on(self) -> None:
        """Reads how much the lab has computed, the first time: few requests are so long that it matters."""
        if self._since is None:
            self._since = time.monotonic(), self._lab._computed_s()

    def message(self, outcome: str, waits: str = "") -> str:
        """What happened, why, and what helps. `waits` is what the lab itself said of it."""
        lab = self._lab
        text = (
            f"the lab was silent for {lab.wall_limit_s:g} s of real time{outcome or ', was interrupted and runs on'}: "
        )
        passed_s, computed_s = 0.0, 0.0
        if self._since is not None:
            passed_s, computed_s = time.monotonic() - self._since[0], lab._computed_s() - self._since[1]
        if computed_s >= _BUSY_SHARE * passed_s > 0:
            text += f"it computed for {computed_s:.1f} of {passed_s:.1f} s, in a busy loop or for a long time"
            if lab.kind.clock == "virtual":
                text += " (on virtual time a busy loop waits for ever: let it sleep, or say clock='real')"
        elif passed_s > 0:
            text += f"it computed for only {computed_s:.1f} of {passed_s:.1f} s and waited"
        else:
            text += "it gave no sign"
        return text + (f". {waits}" if waits else "") + "; give more time with wall_limit_s="


def _show(text: str) -> None:
    print(text, end="", flush=True)


def _hand_over(
    message: dict[str, Any], on_event: Callable[[Any], None] | None, on_print: Callable[[str], None] | None
) -> None:
    """An event, and before it what was printed until then."""
    if on_print is not None and "printed" in message:
        on_print(message["printed"])
    if on_event is not None:
        on_event(message["event"])


def _catches_alarm(folder: Path) -> bool:
    """Says whether the process of /proc/PID has a handler for SIGALRM."""
    caught = (folder / "status").read_text("utf-8", "replace").partition("SigCgt:")[2].split()[0]
    return bool(int(caught, 16) >> (signal.SIGALRM - 1) & 1)


def _request(function: str | Callable[..., Any], arguments: tuple[Any, ...]) -> dict[str, Any]:
    """What asks a lab's agent to run a function."""
    if not isinstance(function, str):
        return {"pickle": carried((function, arguments), function, *arguments)}
    plain = all(isinstance(argument, _PLAIN) for argument in arguments)
    return {"function": function} | ({"arguments": arguments} if plain else {"pickle": carried(arguments, *arguments)})
