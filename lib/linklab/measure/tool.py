"""What a measurement tool has to provide: how its flows are carried out, and how their output is read.

A tool is a flow, a program and a result: one module of `linklab.measure.tools`. Flow and result are pure data. The tool
gives the commands of server and client. Programs of Linklab's own (`linklab.guest.programs`) print the result's fields;
what other programs print is read in the tool's `parse`. The runner (`linklab.measure.runner`) does all else: it starts
the flows at one instant, shows and stops them, and adds the origin to each result.
"""

from __future__ import annotations

import contextlib
import json
import shlex
from abc import ABC, abstractmethod
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Final, Generic, TypeVar
from weakref import WeakKeyDictionary

from linklab import schema
from linklab.errors import MeasurementError
from linklab.measure.flows import Flow
from linklab.measure.results import Origin, ToolResult

if TYPE_CHECKING:
    from linklab.lab import Lab
    from linklab.network import NetworkState

FlowT = TypeVar("FlowT", bound=Flow)
ResultT = TypeVar("ResultT", bound=ToolResult)

IN_LAB: Final = "/tmp/linklab-measure"
"""The folder in a lab that gets the programs of `linklab.guest.programs`."""
READY: Final = "ready"
"""The line that one of Linklab's own programs prints when it is ready."""
_versions: WeakKeyDictionary[Lab, dict[str, str]] = WeakKeyDictionary()


@dataclass
class Job(Generic[FlowT]):
    """One flow of a run: its number in the run, its destination, and its output.

    The flow goes to `port` of `address`; `number` counts from 0. `seed` is the lab's, `network` the network as it was
    read back before the run. `gate` is the path of a locked file for which all clients wait; "" if there is no gate.
    When the lock goes, clients with `waits_for_gate` read the start time in it, and start the flow's `start_s` after
    that time. `tool_version` is the tool's version text, and `extra` what `Tool.prepare` keeps for the methods that
    follow; both are set once the flow is prepared. `stdout` is what the client printed, `status` its exit status,
    `server_stdout` what the server printed. `capture` is the value of the context manager `Tool.watching`.
    `interrupted`: the client had not ended when the run was stopped.
    """

    flow: FlowT
    number: int
    address: str
    port: int
    seed: int
    network: NetworkState
    gate: str = ""
    tool_version: str = ""
    extra: Any = None
    stdout: str = ""
    status: int | None = None
    server_stdout: str = ""
    capture: Any = None
    interrupted: bool = False

    @property
    def start(self) -> dict[str, Any]:
        """Options that tell a client when to start: the gate's path and the delay after it opens."""
        return {"gate": self.gate, "later_ns": round(self.flow.start_s * 1e9)}

    def printed(self, *, server: bool = False) -> dict[str, Any]:
        """Return the JSON object that is the last line of the client's (or the server's) output.

        Raises MeasurementError with the program's last line if that is none.
        """
        who = f"the server of {self.flow.title}" if server else self.flow.title
        line = last_line(self.server_stdout if server else self.stdout)
        if not line.startswith("{"):
            raise MeasurementError(f"{who} failed: {line if line not in ('', READY) else 'it said nothing'}")
        return schema.parse(dict[str, Any], line, f"what {who} printed")


class Tool(ABC, Generic[FlowT, ResultT]):
    """How flows of one kind are carried out. The runner calls these methods.

    It calls `check` for all flows, `prepare` for all, then for each flow `server` and `listens` (once before the
    server starts, to find the port free, then until the server is ready), `watching` for all, and `client` for each.
    `server_done` is called after they have ended, `reordered` and `parse` at the end.
    `no_server` and `overdue` make errors.
    """

    flow: ClassVar[type[Flow]]
    result: type[ResultT]
    version_command: ClassVar[str] = "python3 --version"
    """The command whose first line is the tool's version."""
    waits_for_gate: ClassVar[bool] = False
    """The client is one of Linklab's own programs (`linklab.guest.programs`), or is started by one: it waits for the
    gate itself, and starts at exactly the time that the gate's file holds."""
    needs_address: ClassVar[bool] = True
    """The runner looks up the destination's address for the job; else that is "", unless the flow names one."""
    server_exits_after_client: ClassVar[bool] = False
    """The server exits by itself after one client."""
    own_program: ClassVar[Path | None] = None
    """The tool's program, if it is none of `linklab.guest.programs`: only labs that use the tool get it.

    Each file that is sent takes time there, and so moves digits.
    """

    def check(self, lab: Lab, job: Job[FlowT]) -> None:
        """Raise MeasurementError for a flow that this network can never carry. Called first."""

    def prepare(self, lab: Lab, job: Job[FlowT]) -> None:
        """Find out the tool's version, and send its own program. Raises MeasurementError if something is missing."""
        version = version_of(lab, job.flow.source, self.version_command)
        job.tool_version = f"linklab {job.flow.tool_name} on {version}" if self.waits_for_gate else version
        if self.own_program:
            sent = self.own_program
            lab.write_file(f"{IN_LAB}/linklab/guest/programs/{sent.name}", sent.read_bytes())

    def server(self, job: Job[FlowT]) -> str | None:
        """Return the server's command; None if the flow needs no server."""
        return None

    def listens(self, lab: Lab, job: Job[FlowT], said: str, patience_s: float) -> bool:
        """Return whether the server is ready, after at most `patience_s` of the lab's time.

        `said` is what the server has printed so far. The runner also calls this before it starts the server, with
        "" and 0: True then means that another program uses the port. Here the server is ready once it has printed
        `READY`, and nothing is waited for.
        """
        return f"{READY}\n" in said

    def watching(self, lab: Lab, job: Job[FlowT]) -> AbstractContextManager[Any]:
        """Return a context manager that observes the flow, for example with a packet capture.

        It is entered before the client starts and left once the server has ended. Its value becomes `job.capture`.
        """
        return contextlib.nullcontext()

    @abstractmethod
    def client(self, job: Job[FlowT]) -> str:
        """Return the client's command."""

    def server_done(self, job: Job[FlowT], said: str) -> bool:
        """Return whether a server that keeps running has printed its whole result."""
        return True

    def parse(self, job: Job[FlowT], origin: Origin) -> ResultT:
        """Return the result. Pure. Raises MeasurementError if the output cannot be read.

        Here the programs print the result's own fields, each program some of them, as one line of JSON at its end.
        """
        told = job.printed() | (job.printed(server=True) if self.server_exits_after_client else {})
        known = {"flow": job.flow, "origin": origin, "interrupted": job.interrupted}
        return schema.complete(self.result, told, f"what {job.flow.title} printed", **known)

    def reordered(self, job: Job[FlowT]) -> int:
        """Return how many packets the tool reports as out of order; 0 also if it reports none of this."""
        return 0

    def no_server(self, job: Job[FlowT], said: str, status: int | None) -> MeasurementError:
        """Return the error for a server that ended early (`status` is its exit status) or never got ready (None)."""
        what = "ended" if status is not None else "did not get ready"
        return MeasurementError(
            f"the server of {job.flow.title} on {job.flow.destination} {what}: {last_line(said) or 'it said nothing'}"
        )

    def overdue(self, job: Job[FlowT]) -> MeasurementError:
        """Return the error for a client that did not end in time."""
        return MeasurementError(
            f"{self.client(job)!r} on {job.flow.source} was not done after {job.flow.longest_s:g} s of the lab's time "
            "and was ended"
        )


def version_of(lab: Lab, node: str, command: str) -> str:
    """Return the first line that a command prints. It is run once per lab."""
    known = _versions.setdefault(lab, {})
    if command not in known:
        known[command] = lab[node].cmd(f"LC_ALL=C {command}").partition("\n")[0].strip()
    return known[command]


def program_command(program: str, action: str, **options: Any) -> str:
    """Return the shell command that calls function `action` of this program with these options.

    `program` is a file of `linklab.guest.programs`. Its Python imports only the standard library and what lies in
    `IN_LAB`, not the working folder (-P) or installed packages (-s, -S), and writes no bytecode (-B).
    """
    python = f"exec env PYTHONPATH={IN_LAB} python3 -P -s -S -B {IN_LAB}/linklab/guest/programs/{program}"
    return f"{python} {shlex.quote(json.dumps({'action': action, **options}))}"


@dataclass(frozen=True)
class _Printed:
    """What a command printed when it was run at `at_ns`, in ns since the epoch: whole ones, or the time between two
    samples would be known to 0.24 us, and depend on when the first was taken."""

    at_ns: int
    output: str


@dataclass(frozen=True)
class _Samples:
    samples: tuple[_Printed, ...]


def sampling(job: Job[Any], *command: str) -> str:
    """Return the command that runs `command` every `interval_s` for `duration_s` of the flow, a `Sampler`."""
    flow = job.flow
    count, interval_ns = round(flow.duration_s / flow.interval_s), round(flow.interval_s * 1e9)
    return program_command("samples.py", "sample", **job.start, count=count, interval_ns=interval_ns, command=command)


def samples(job: Job[Any]) -> list[tuple[float, str]]:
    """Return each output of the command given to `sampling`, with the seconds since the first.

    If the flow was stopped, these are only the complete outputs. Raises MeasurementError with the command's last line
    of output if it failed.
    """
    found = schema.load(_Samples, job.printed(), f"what {job.flow.title} printed").samples
    return [((sample.at_ns - found[0].at_ns) / 1e9, sample.output) for sample in found]


def last_line(text: str) -> str:
    """Return the last line that is not blank, stripped; "" if there is none."""
    return next((line.strip() for line in reversed(text.splitlines()) if line.strip()), "")


def link_rates_mbps(network: NetworkState, node: str) -> list[float]:
    """Return the rates of a node's shaped interfaces, in Mbit/s; an empty list if there is no such node."""
    found = network.node(node)
    return [it.shape.rate_mbps for it in found.interfaces if it.shape.rate_mbps is not None] if found else []
