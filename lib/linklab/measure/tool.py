"""What a tool is: one module of `linklab.measure.tools` that says how its flows are carried out and read.

A tool has a flow and a result, both pure data. It asks for its program before it is used (`needs`), names the commands
of server and client, or a program of `linklab.guest.programs` that is both, and makes a result of what they printed
(`parse`). All else is the runner's (`linklab.measure.runner`): that flows start at one instant, are shown, stopped and
repeated, and that every result carries its origin.
"""

from __future__ import annotations

import contextlib
import json
import re
import shlex
from abc import ABC, abstractmethod
from collections.abc import Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Final, Generic, TypeVar
from weakref import WeakKeyDictionary

from linklab import schema
from linklab.errors import MeasurementError
from linklab.measure.flows import Flow
from linklab.measure.results import Origin, Sample, ToolResult

if TYPE_CHECKING:
    from linklab.lab import Lab
    from linklab.network import NetworkState

FlowT = TypeVar("FlowT", bound=Flow)
ResultT = TypeVar("ResultT", bound=ToolResult)
PrintedT = TypeVar("PrintedT")

IN_LAB: Final = "/tmp/linklab-measure"
"""Where the programs of `linklab.guest.programs` lie in a lab."""
READY: Final = "ready"
"""What a program of ours prints, in a line of its own, when it can start."""
_found: WeakKeyDictionary[Lab, dict[str, str]] = WeakKeyDictionary()


@dataclass(frozen=True)
class Requirement:
    """A program that a tool needs: the command that prints its version, what that looks like, and its package."""

    program: str
    command: str
    pattern: re.Pattern[str]
    package: str

    def version(self, lab: Lab, node: str) -> str:
        """Return what the program calls itself in this lab, asked once.

        Raises MeasurementError with the fix where it is missing.
        """
        known = _found.setdefault(lab, {})
        if self.program not in known:
            known[self.program] = self.read(lab[node].cmd(f"LC_ALL=C {self.command}"))
        return known[self.program]

    def read(self, said: str) -> str:
        """Return the version in its answer. Pure. Raises MeasurementError for none, or that of another program."""
        version = self.pattern.search(said)
        if version is None:
            answer = " ".join(said.split())[:100]
            raise MeasurementError(
                f"{self.program} of the package {self.package} is needed and {answer!r} came instead: "
                f"sudo apt-get install {self.package}"
            )
        return version[0]


PYTHON: Final = Requirement("python3", "python3 --version", re.compile(r"Python 3\.\S+"), "python3")


@dataclass
class Job(Generic[FlowT]):
    """One flow of a run, its `number` among them: where it goes, and what came of it.

    All clients wait for the file `gate`; when it opens it holds the instant of the start, and the flow starts its
    `start_s` after that. `tool` is what the tool calls itself, once the flow is prepared. `stdout` is what the client
    printed, `status` its exit status, `server_stdout` what the server printed. `capture` is what `Tool.watching` gave.
    `interrupted`: the flow was stopped before its end.
    """

    flow: FlowT
    number: int
    address: str
    port: int
    seed: int
    network: NetworkState
    gate: str = ""
    tool: str = ""
    extra: Any = None
    stdout: str = ""
    status: int | None = None
    server_stdout: str = ""
    capture: Any = None
    interrupted: bool = False

    @property
    def start(self) -> dict[str, Any]:
        """The options by which a client knows its start: the gate, and the time after it opens."""
        return {"gate": self.gate, "later_ns": round(self.flow.start_s * 1e9)}

    def parse_json(self, kind: type[PrintedT], *, server: bool = False) -> PrintedT:
        """Return the document that the client (or the server) printed last, checked.

        Raises MeasurementError with the program's own words where it failed.
        """
        who = f"the server of {self.flow.title}" if server else self.flow.title
        words = last_line(self.server_stdout if server else self.stdout)
        if not words.startswith("{"):
            raise MeasurementError(f"{who} failed: {words if words not in ('', READY) else 'it said nothing'}")
        return schema.parse(kind, words, f"what {who} printed")


class Tool(ABC, Generic[FlowT, ResultT]):
    """How flows of one kind are carried out. Its parts are called in their order here, by the runner alone."""

    flow: ClassVar[type[Flow]]
    result: ClassVar[type[ToolResult]]
    needs: ClassVar[Requirement | None] = None
    """The program that must be there."""
    exact: ClassVar[bool] = False
    """Its client is a program of `linklab.guest.programs`: it waits for the gate itself, and starts at an instant."""
    server_ends: ClassVar[bool] = False
    """Its server ends after one client."""

    def check(self, lab: Lab, job: Job[FlowT]) -> None:
        """Raise MeasurementError for a flow that this network can never carry. Before anything else."""

    def prepare(self, lab: Lab, job: Job[FlowT]) -> None:
        """Find out what the tool calls itself. Raises MeasurementError with the fix where something is missing."""
        if self.needs is not None:
            version = self.needs.version(lab, job.flow.source)
            job.tool = f"linklab {job.flow.tool_name} on {version}" if self.exact else version

    def server(self, job: Job[FlowT]) -> str | None:
        """Return the server's command; None for a flow that needs none."""
        return None

    def listens(self, lab: Lab, job: Job[FlowT], said: str, patience_s: float) -> bool:
        """Return whether the server is ready: it has said so."""
        return f"{READY}\n" in said

    def watching(self, lab: Lab, job: Job[FlowT]) -> AbstractContextManager[Any]:
        """Return what watches the flow from before its client starts until its server has ended, as a capture."""
        return contextlib.nullcontext()

    @abstractmethod
    def client(self, job: Job[FlowT]) -> str:
        """Return the client's command."""

    def server_done(self, job: Job[FlowT], said: str) -> bool:
        """Return whether a server that does not end has said all that it will."""
        return True

    @abstractmethod
    def parse(self, job: Job[FlowT], origin: Origin) -> ResultT:
        """Return the result. Pure. Raises MeasurementError for what cannot be read."""

    def reordered(self, job: Job[FlowT]) -> int:
        """Return how many packets came out of order, as far as the tool tells."""
        return 0

    def curves(self, flow: FlowT, said: str) -> Mapping[str, tuple[Sample, ...]]:
        """Return the intervals in what a client has printed so far, by connection; none if it tells all at its end."""
        return {}

    def no_server(self, job: Job[FlowT], said: str, status: int | None) -> MeasurementError:
        """Return what to say of a server that does not listen."""
        what = "ended" if status is not None else "did not get ready"
        return MeasurementError(
            f"the server of {job.flow.title} on {job.flow.destination} {what}: {last_line(said) or 'it said nothing'}"
        )

    def overdue(self, job: Job[FlowT]) -> MeasurementError:
        """Return what to say of a client that does not come to its end."""
        return MeasurementError(
            f"{self.client(job)!r} on {job.flow.source} was not done after {job.flow.longest_s:g} s of the lab's time "
            "and was ended"
        )


def in_lab(program: str, action: str, **options: Any) -> str:
    """Return the command that has a program of `linklab.guest.programs` do something: a function of it."""
    python = f"exec env PYTHONPATH={IN_LAB} python3 -P -s -S -B {IN_LAB}/linklab/guest/programs/{program}"
    return f"{python} {shlex.quote(json.dumps({'action': action, **options}))}"


@dataclass(frozen=True)
class _Printed:
    """What a command printed at an instant, in seconds of the day."""

    at_s: float
    output: str


@dataclass(frozen=True)
class _Samples:
    samples: tuple[_Printed, ...]


def sampling(job: Job[Any], *command: str) -> str:
    """Return the command that runs another one again and again, as often as a `Sampler` says."""
    flow = job.flow
    count, interval_ns = round(flow.duration_s / flow.interval_s), round(flow.interval_s * 1e9)
    return in_lab("samples.py", "sample", **job.start, count=count, interval_ns=interval_ns, command=command)


def samples(job: Job[Any]) -> list[tuple[float, str]]:
    """Return what that command printed each time, with the seconds since the first one; of a stopped flow whole ones.

    Raises MeasurementError with the command's words where it failed.
    """
    found = job.parse_json(_Samples).samples
    return [(one.at_s - found[0].at_s, one.output) for one in found]


def last_line(text: str) -> str:
    """Return the last line with something in it; "" without any."""
    return next((line.strip() for line in reversed(text.splitlines()) if line.strip()), "")


def link_rates_mbps(network: NetworkState, node: str) -> list[float]:
    """Return the rates of a node's shaped interfaces, in Mbit/s."""
    found = network.node(node)
    return [it.shape.rate_mbps for it in found.interfaces if it.shape.rate_mbps is not None] if found else []
