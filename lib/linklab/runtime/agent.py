"""The lab's side of the channel: takes a request, runs the function it names, answers.

What a lab can do is not written here: a request names any importable function, ``module:function``, or carries
one pickled by the notebook. The function gets the `Context`, in which labs keep their state (the Mininet object)
between requests. Results are JSON: a lab may run code nobody trusts, and what comes out of it must be data.
"""

from __future__ import annotations

import base64
import contextlib
import importlib
import io
import json
import os
import pickle
import select
import sys
import time
import traceback
from collections.abc import Iterable
from typing import Any

from linklab.errors import LinklabError
from linklab.runtime import boot
from linklab.runtime.wire import FROM_GUEST_BYTES, Channel, ChannelClosed

MATURE_S = 16.0
BEAT_NS = 10_000_000
PHASE_NS = 5_000_000
_BEATS = 20
"""How many are waited for at most: a program that never rests is no reason to wait for ever."""


class Interrupted(Exception):
    """The notebook asked to stop what runs now (Ctrl-C)."""


class Context:
    """What a function called in the lab works with: its request, and what outlives the request."""

    def __init__(self, channel: Channel, clock: str, seed: int) -> None:
        self.state: dict[str, Any] = {}
        self.clock, self.seed = clock, seed
        self._channel = channel
        self._request = 0

    def emit(self, event: Any) -> None:
        """Sends something to the notebook while the request still runs: output, progress."""
        self._settle()
        self._channel.send({"id": self._request, "event": event})

    def poll(self, fds: Iterable[int], timeout_s: float | None = None) -> list[int]:
        """Blocks until one of `fds` is readable, in the lab's own time; the readable ones, [] after `timeout_s`.

        This is where time passes on virtual time. Raises `Interrupted` when the notebook asks to stop.
        """
        self.check_interrupt()
        poller = select.poll()
        for fd in (*fds, self._channel.read_fd):
            poller.register(fd, select.POLLIN | select.POLLHUP)
        ready = [fd for fd, _ in poller.poll(None if timeout_s is None else max(0.0, timeout_s) * 1000)]
        if self._channel.read_fd in ready:
            self.check_interrupt()
        return [fd for fd in ready if fd != self._channel.read_fd]

    def check_interrupt(self) -> None:
        """Raises `Interrupted` if the notebook asked to stop; never waits."""
        message = self._channel.receive_waiting()
        if message is not None and message.get("interrupt") == self._request:
            raise Interrupted

    def serve(self) -> None:
        """Answers requests until the notebook is gone."""
        while True:
            request = self._channel.receive()
            if "interrupt" in request:
                continue  # it came too late: the request it meant has been answered
            self._request = request["id"]
            answer = self._answer(request)
            self._settle()
            self._channel.send({"id": self._request, "clock_s": time.monotonic(), **answer})

    def _settle(self) -> None:
        if self.clock == "virtual":
            await_beat()

    def _answer(self, request: dict[str, Any]) -> dict[str, Any]:
        printed = io.StringIO()
        try:
            with contextlib.redirect_stdout(printed):
                function, arguments = _asked(request)
                result = function(self, *arguments)
            json.dumps(result)
            answer: dict[str, Any] = {"result": result}
        except Interrupted:
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
        if printed.getvalue():
            answer["printed"] = printed.getvalue()
        return answer


def _asked(request: dict[str, Any]) -> tuple[Any, Any]:
    """The function that a request names or carries, and its arguments."""
    # pickle finds cloudpickle by itself where a function's code comes along; importing it takes a guest 50 ms
    carried: Any = pickle.loads(base64.b64decode(request["pickle"])) if "pickle" in request else None
    if "function" not in request:
        function, arguments = carried
        return function, arguments
    module, _, name = request["function"].partition(":")
    return getattr(importlib.import_module(module), name), request.get("arguments", carried)


def grow_up() -> None:
    """Lets a guest on virtual time grow old enough to be taken for a computer, which costs next to nothing there.

    ping sends without its interval while the clock's seconds are 0, which it takes for "not set yet", and Open
    vSwitch forwards nothing in its first 10 s, because it has not counted the processor's cores.
    """
    time.sleep(max(0.0, MATURE_S - time.monotonic()))


def await_beat() -> None:
    """Sleeps until `PHASE_NS` after the next multiple of `BEAT_NS`, which costs nothing on virtual time.

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
    """Whether this process is the only one in the lab that wants to run (`man 5 proc`, loadavg's fourth field)."""
    with open("/proc/loadavg", encoding="ascii") as file:
        return file.read().split()[3].startswith("1/")


def main() -> None:
    """``python -m linklab.runtime.agent JSON``: what `linklab.runtime.kinds` wrote into the init script."""
    wish = json.loads(sys.argv[1])
    seed, kernel_seeded = int(wish["seed"]), False
    for name in ("PYTHONPATH", "PYTHONDONTWRITEBYTECODE"):  # for this process, not for what runs on the hosts
        os.environ.pop(name, None)
    if wish["kind"] == "guest":
        boot.boot_guest(wish["folder"], wish["private"], wish["modules"])
        boot.become_init("guest")
        line = boot.serial_line("/dev/ttyS1")
        if wish["clock"] == "virtual":
            boot.exact_timers()
            grow_up()
            boot.whole_seconds_apart()
            await_beat()
            kernel_seeded = boot.seed_kernel(seed)
        channel = Channel(line, line, frame_bytes=FROM_GUEST_BYTES, spin=wish["clock"] == "virtual")
    else:
        boot.boot_native(wish["folder"])
        boot.become_init("native")
        channel = Channel(os.dup(0), os.dup(1))
        quiet = os.open(os.devnull, os.O_RDWR)
        os.dup2(quiet, 0)
        os.dup2(2, 1)
    context = Context(channel, wish["clock"], seed)
    about = {"kernel": os.uname().release, "kernel_seeded": kernel_seeded, "clock_s": time.monotonic()}
    with contextlib.suppress(ChannelClosed):
        channel.send({"ready": True, **about})
        context.serve()
    os._exit(0)


if __name__ == "__main__":
    # Under its own name: an `Interrupted` raised by the module __main__ is not the one that commands wait for.
    from linklab.runtime import agent

    agent.main()
