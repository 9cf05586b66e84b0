"""Start the programs of one run in a lab, let them go together, follow them, and end them whatever happens."""

from __future__ import annotations

import contextlib
import itertools
import signal
from collections.abc import Callable, Sequence

from linklab import schema
from linklab.errors import LabError, MeasurementError
from linklab.guest import lab_api
from linklab.lab import Lab
from linklab.measure.results import QueueCounters
from linklab.measure.tool import READY, last_line, program_command
from linklab.program import Program
from linklab.signals import Held

PATIENCE_S = 10.0
_LAST_WORDS_S = 3.0
_MARGIN_S = 0.05
"""How long before the start the gate opens: waking up costs next to nothing."""
_gates = itertools.count(1)


class RunPrograms:
    """The programs of one run. Its block starts them; at the block's end those that still run are ended."""

    def __init__(self, lab: Lab) -> None:
        self._lab = lab
        self._programs: list[Program] = []

    def __enter__(self) -> RunPrograms:
        return self

    def __exit__(self, *_: object) -> None:
        with Held():  # a second Ctrl-C must leave none running
            for program in reversed(self._programs):
                self.end(program)

    def start(self, node: str, command: str) -> Program:
        """Start a program. Raises LabError."""
        program = Program(self._lab.process, command)
        self._programs.append(program)  # first, so that one which is started is not forgotten
        program.start(node, command, of_run=True)
        return program

    def end(self, program: Program) -> None:
        """End a program, unless it is known to have ended."""
        if program.returncode is None:
            with contextlib.suppress(LabError):  # the lab may have ended, and the program with it
                program.terminate()

    def follow(
        self,
        programs: Sequence[Program],
        limit_s: float,
        tell: Callable[[float, tuple[QueueCounters, ...]], None] | None = None,
        stop: Callable[[], bool] | None = None,
    ) -> str:
        """Wait until all have ended, at most `limit_s` of the lab's time: "done", "timeout" or "interrupted".

        `tell` gets the time since then each second, and the counters of all shaped interfaces. `stop` is asked whether
        to stop. What the programs print goes to their `output`, also where this raises KeyboardInterrupt.
        """
        by_number = {str(program.number): program for program in programs if program.returncode is None}
        if not by_number:
            return "done"

        def heard(event: lab_api.News) -> None:
            for number, text in event["said"].items():
                by_number[number].take(text)
            for number, status in event["statuses"].items():
                by_number[number].returncode = status
            if tell is not None:
                queues = schema.load(tuple[QueueCounters, ...], event["queues"], "what the lab counted")
                tell(event["done_s"], queues)

        numbers = [program.number for program in by_number.values()]
        arguments = numbers, limit_s, tell is not None
        return self._lab.process.call(lab_api.follow_programs, *arguments, on_event=heard, stop=stop)

    def interrupt(self, programs: Sequence[Program]) -> None:
        """Send SIGINT, as Ctrl-C does, and wait for what they still print."""
        for program in programs:
            if program.returncode is None:
                program.send_signal(signal.SIGINT)
        self.follow(programs, _LAST_WORDS_S)


class Gate:
    """A locked file that all clients wait for. A process in the lab holds the lock; its end lets all clients go.

    Programs of `linklab.guest.programs` wait for the lock themselves, and start at the instant that the file then
    holds. With some of these among the clients (`exact`), all clients start `margin_s` after the gate opens.
    """

    def __init__(self, lab: Lab, programs: RunPrograms, node: str, *, exact: bool) -> None:
        self._lab, self._exact = lab, exact
        self.path = f"/tmp/linklab-gate-{next(_gates)}"
        self.margin_s = _MARGIN_S if exact else 0.0
        # sleep inherits the locked file; infinity sets no timer that virtual time could jump to
        self._holder = programs.start(node, f"exec 9>{self.path}; flock -x 9; echo {READY}; exec sleep infinity")
        await_ready(self._holder)

    def before(self, command: str, later_s: float) -> str:
        """Return a command that waits until `later_s` after the start of all, and prints when it starts."""
        if self._exact:
            words = ["sh", "-c", command]
            return program_command("at_gate.py", "become", gate=self.path, later_ns=round(later_s * 1e9), command=words)
        wait = f"sleep {later_s:.9f}; " if later_s else ""
        return f"exec 9<{self.path}; echo {READY}; flock -s 9; exec 9<&-; {wait}date +%s%N; {command}"

    def open(self, clients: Sequence[Program]) -> None:
        """Let all clients go, once each is ready."""
        for client in clients:
            await_ready(client)
        if self._exact:
            self._lab.process.call(lab_api.set_start, self.path, self.margin_s)
        self._holder.terminate()


def await_ready(program: Program) -> None:
    """Wait until a program says that it is. Raises MeasurementError, with its own words, where it does not."""
    if not program.prints(f"{READY}\n", PATIENCE_S):
        said = last_line(program.output) or "no output"
        raise MeasurementError(f"{program.command!r} did not get ready: {said}")


def split_start(said: str) -> tuple[int | None, str]:
    """Return when a gated command started, in ns since the epoch (None if it never did), and its own output. Pure."""
    _, _, rest = said.partition("\n")
    start_ns, found, output = rest.partition("\n")
    return (int(start_ns), output) if found else (None, "")
